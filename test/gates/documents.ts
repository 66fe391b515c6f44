import { targetOf } from "./imports.ts";
import type { Tree } from "./tree.ts";

const LINK = /\[[^\]]*\]\(([^)\s]+)\)/g;
const LONGEST_README = 150;

/** Links to files that are not there, commands that no script answers, and a README that grew too long to be read. */
export function findDocumentFaults(tree: Tree, scripts: readonly string[]): readonly string[] {
  const faults: string[] = [];
  for (const [path, text] of tree) {
    if (!path.endsWith(".md")) continue;
    for (const [, link = ""] of text.matchAll(LINK)) {
      if (/^(https:|#)/.test(link)) continue;
      const target = targetOf(path, link.replace(/#.*$/, ""));
      const found = tree.has(target) || [...tree.keys()].some((other) => other.startsWith(`${target}/`));
      if (!found) faults.push(`${path}: links to ${target}, which does not exist`);
    }
    for (const [, script = ""] of text.matchAll(/npm run ([\w:-]+)/g)) {
      if (!scripts.includes(script)) faults.push(`${path}: there is no script "${script}"`);
    }
  }
  const lines = (tree.get("README.md") ?? "").trimEnd().split("\n").length;
  if (lines > LONGEST_README) faults.push(`README.md: ${lines} lines, at most ${LONGEST_README}`);
  return faults;
}
