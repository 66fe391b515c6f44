import { targetOf } from "./imports.ts";
import type { Tree } from "./tree.ts";

const LINK = /\[[^\]]*\]\(([^)\s]+)\)/g;
const LONGEST_README = 150;
const FIRST_SCREEN = 24;
const TWO_COMMANDS = ["npm ci && npm start", "npm ci && npm test"];
/** Where a reader looks for a guide, and where a model does. */
const INDEXES = ["docs/README.md", "llms.txt"];

/** Links to files that are not there, commands that no script answers, guides nobody finds, and a README too long to be read. */
export function findDocumentFaults(tree: Tree, scripts: readonly string[]): readonly string[] {
  const faults: string[] = [];
  for (const [path, text] of tree) {
    if (!path.endsWith(".md") && path !== "llms.txt") continue;
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
  for (const guide of [...tree.keys()].filter((path) => /^docs\/guides\/.*\.md$/.test(path)))
    for (const index of INDEXES)
      if (!(tree.get(index) ?? "").includes(guide.replace("docs/", "")))
        faults.push(`${index}: does not name ${guide}`);
  return [...faults, ...findReadmeFaults(tree.get("README.md") ?? "")];
}

function findReadmeFaults(readme: string): readonly string[] {
  const lines = readme.trimEnd().split("\n");
  const screen = lines.slice(0, FIRST_SCREEN).join("\n");
  const missing = TWO_COMMANDS.filter((command) => !screen.includes(command));
  return [
    ...missing.map((command) => `README.md: \`${command}\` is not on its first screen`),
    ...(lines.length > LONGEST_README ? [`README.md: ${lines.length} lines, at most ${LONGEST_README}`] : []),
  ];
}
