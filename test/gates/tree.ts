import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";

/** Files as a gate sees them: path from the root of the project → text. A planted tree is a map written by hand. */
export type Tree = ReadonlyMap<string, string>;

export const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));

const NOT_OURS = /(^|\/)(node_modules|dist|coverage|\.git|\.holdfast)$/;

/** Every text file below the given folders or files. */
export function readTree(...starts: readonly string[]): Tree {
  const tree = new Map<string, string>();
  for (const start of starts) read(tree, start);
  return tree;
}

export function plant(files: Readonly<Record<string, string>>): Tree {
  return new Map(Object.entries(files));
}

export function isTest(path: string): boolean {
  return path.endsWith(".test.ts");
}

function read(tree: Map<string, string>, path: string): void {
  if (NOT_OURS.test(path)) return;
  const entries = childrenOf(path);
  if (entries !== undefined) {
    for (const entry of entries) read(tree, posix.join(path, entry));
    return;
  }
  const bytes = readFileSync(join(ROOT, path));
  if (!bytes.includes(0)) tree.set(path, bytes.toString("utf8"));
}

function childrenOf(path: string): readonly string[] | undefined {
  try {
    return readdirSync(join(ROOT, path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
    throw error;
  }
}
