import { isTest, type Tree } from "./tree.ts";

/** Node 22 runs our source as it stands, types stripped. What it cannot parse, no process there can load. */
const TOO_NEW: readonly { readonly what: string; readonly pattern: RegExp }[] = [
  { what: "`using`, which Node 22 cannot parse", pattern: /^\s*(?:await\s+)?using\s+[\w$]+\s*=/ },
  { what: "`import defer`, which Node 22 cannot parse", pattern: /^\s*import\s+(?:defer|source)\s/ },
];

export function findTooNew(tree: Tree): readonly string[] {
  const faults: string[] = [];
  for (const [path, text] of tree) {
    if (isTest(path)) continue; // a test runner translates those
    for (const [index, line] of text.split("\n").entries())
      for (const { what, pattern } of TOO_NEW) if (pattern.test(line)) faults.push(`${path}:${index + 1}: ${what}`);
  }
  return faults;
}
