import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git, shadow } from "../../harness/git.ts";

/** A way to undo a command that nobody has told what it will change. */
export interface Way {
  /** Once, before the clock: what the first use of a project costs is another question. */
  prepare?(root: string, beside: string): unknown;
  round(root: string, beside: string, run: () => void, ready: unknown): void;
}

/** A line at the end of some files. */
export function lineFor(paths: readonly string[]): string {
  return paths.map((path) => `echo 'edited by a command' >> '${path}'`).join("\n");
}

export function runPlainly(root: string, line: string): void {
  const { status } = spawnSync("/bin/sh", ["-c", line], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  if (status !== 0) throw new Error(`the command ended with ${status}`);
}

type Seen = Map<string, string>;

function walk(folder: string, seen: Seen = new Map()): Seen {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) walk(path, seen);
    else {
      const { size, mtimeNs, ctimeNs, ino, mode } = lstatSync(path, { bigint: true });
      seen.set(path, `${size} ${mtimeNs} ${ctimeNs} ${ino} ${mode}`);
    }
  }
  return seen;
}

function keep(beside: string, path: string): string {
  const bytes = readFileSync(path);
  const name = createHash("sha256").update(bytes).digest("hex");
  writeFileSync(join(beside, name), bytes);
  return name;
}

/** Looks at every file before and after, keeps by its hash what has changed since the last time, and copies back. */
export const statWalk: Way = {
  prepare(root, beside) {
    mkdirSync(beside, { recursive: true });
    const seen = walk(root);
    return { seen, names: new Map([...seen.keys()].map((path) => [path, keep(beside, path)])) };
  },
  round(root, beside, run, ready) {
    const known = ready as { seen: Seen; readonly names: Map<string, string> };
    const before = walk(root);
    for (const [path, stat] of before) if (known.seen.get(path) !== stat) known.names.set(path, keep(beside, path));
    known.seen = before;
    run();
    for (const [path, stat] of walk(root))
      if (before.get(path) !== stat) writeFileSync(path, readFileSync(join(beside, known.names.get(path) ?? "")));
  },
};

function begin(root: string, beside: string): void {
  git(root, ["init", "-q", "--bare", beside]);
  git(root, [...shadow(root, beside), "add", "-A"]);
  git(root, [...shadow(root, beside), "commit", "-qm", "first"]);
}

/** As opencode: `add -A` and `write-tree` before, `read-tree` and `checkout-index` after. */
export const tree: Way = {
  prepare: begin,
  round(root, beside, run) {
    git(root, [...shadow(root, beside), "add", "-A"]);
    const name = git(root, [...shadow(root, beside), "write-tree"]);
    run();
    git(root, [...shadow(root, beside), "read-tree", name]);
    git(root, [...shadow(root, beside), "checkout-index", "-a", "-f"]);
  },
};

/** As Cline: a commit before, `reset --hard` and `clean` after. */
export const commit: Way = {
  prepare: begin,
  round(root, beside, run) {
    git(root, [...shadow(root, beside), "add", "-A"]);
    git(root, [...shadow(root, beside), "commit", "-q", "--allow-empty", "-m", "before"]);
    run();
    git(root, [...shadow(root, beside), "clean", "-fdq"]);
    git(root, [...shadow(root, beside), "reset", "-q", "--hard"]);
  },
};
