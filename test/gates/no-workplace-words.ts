import type { Tree } from "./tree.ts";

/** The project stands alone: nothing in it names the machine, the registry or the folder it was written in. */
const WORDS: readonly { readonly what: string; readonly pattern: RegExp }[] = [
  {
    what: "a registry host",
    pattern: /\b(?:registry|npm|mirror|artifactory|nexus|verdaccio)\.[a-z0-9-]+\.[a-z]{2,}\b/i,
  },
  { what: "an absolute machine path", pattern: /(?<![\w.~-])\/(?:work|root|home|Users|tmp\/wt-\w+)\/[\w.]/ },
  { what: "a folder outside the project", pattern: /\.\.\/shared\b/ },
];

/** Where the words above have to stand. */
const EXEMPT = new Set(["test/gates/no-workplace-words.ts", "test/gates/no-workplace-words.test.ts"]);

export function findWorkplaceWords(tree: Tree): readonly string[] {
  const faults: string[] = [];
  for (const [path, text] of tree) {
    if (EXEMPT.has(path)) continue;
    for (const [index, line] of text.split("\n").entries()) {
      for (const { what, pattern } of WORDS) {
        const found = pattern.exec(line);
        if (found !== null) faults.push(`${path}:${index + 1}: ${what}: ${found[0]}`);
      }
    }
  }
  return faults;
}
