import {
  closeSync,
  cpSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { git, shadow } from "../../harness/git.ts";
import { edit } from "./tree.ts";

/** A way to take a snapshot, to let three files be edited, and to go back. */
export interface Way {
  /** Once, before the clock: what the first use of a project costs is another question. */
  prepare?(root: string, beside: string): void;
  /** Snapshot, edits, rollback. */
  round(root: string, beside: string, paths: readonly string[], edited: () => void): void;
}

function editAll(root: string, paths: readonly string[]): void {
  for (const path of paths) writeFileSync(join(root, path), edit(readFileSync(join(root, path))));
}

function writeSynced(path: string, bytes: Uint8Array): void {
  const handle = openSync(path, "w");
  try {
    writeSync(handle, bytes);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** What a careful engineer would write who knows which files will change: copy them, sync, edit, sync, copy back, sync. */
export const copyTouched: Way = {
  round(root, beside, paths, edited) {
    mkdirSync(beside, { recursive: true });
    for (const [n, path] of paths.entries()) writeSynced(join(beside, String(n)), readFileSync(join(root, path)));
    for (const path of paths) writeSynced(join(root, path), edit(readFileSync(join(root, path))));
    edited();
    for (const [n, path] of paths.entries()) writeSynced(join(root, path), readFileSync(join(beside, String(n))));
  },
};

export const fullCopy: Way = {
  round(root, beside, paths, edited) {
    cpSync(root, beside, { recursive: true, preserveTimestamps: true });
    editAll(root, paths);
    edited();
    rmSync(root, { recursive: true });
    renameSync(beside, root);
  },
};

/** Looks at every file before and after, and copies back what differs: the floor of every way that has to find out. */
export const statWalk: Way = {
  round(root, beside, paths, edited) {
    const walk = (folder: string, seen: Map<string, string>): Map<string, string> => {
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) walk(path, seen);
        else {
          const { size, mtimeNs, ino } = lstatSync(path, { bigint: true });
          seen.set(path, `${size} ${mtimeNs} ${ino}`);
        }
      }
      return seen;
    };
    mkdirSync(beside, { recursive: true });
    const before = walk(root, new Map());
    for (const [n, path] of paths.entries()) writeFileSync(join(beside, String(n)), readFileSync(join(root, path)));
    editAll(root, paths);
    edited();
    const changed = [...walk(root, new Map())].filter(([path, stat]) => before.get(path) !== stat);
    if (changed.length !== paths.length) throw new Error(`${changed.length} files seem changed`);
    for (const [n, path] of paths.entries()) writeFileSync(join(root, path), readFileSync(join(beside, String(n))));
  },
};

/** opencode: a git directory elsewhere, `add -A` and `write-tree`; back by `read-tree` and `checkout-index -a -f`. */
export const opencode: Way = {
  prepare(root, beside) {
    git(root, ["init", "-q", "--bare", beside]);
    git(root, [...shadow(root, beside), "add", "-A"]);
  },
  round(root, beside, paths, edited) {
    git(root, [...shadow(root, beside), "add", "-A"]);
    const tree = git(root, [...shadow(root, beside), "write-tree"]);
    editAll(root, paths);
    edited();
    git(root, [...shadow(root, beside), "read-tree", tree]);
    git(root, [...shadow(root, beside), "checkout-index", "-a", "-f"]);
  },
};

/** Cline: a shadow repository with a commit for every checkpoint; back by `reset --hard`. */
export const cline: Way = {
  prepare(root, beside) {
    git(root, ["init", "-q", "--bare", beside]);
    git(root, [...shadow(root, beside), "add", "-A", "--ignore-errors"]);
    git(root, [...shadow(root, beside), "commit", "-q", "--no-verify", "--allow-empty", "-m", "start"]);
  },
  round(root, beside, paths, edited) {
    git(root, [...shadow(root, beside), "add", "-A", "--ignore-errors"]);
    git(root, [...shadow(root, beside), "commit", "-q", "--no-verify", "--allow-empty", "-m", "checkpoint"]);
    const commit = git(root, [...shadow(root, beside), "rev-parse", "HEAD"]);
    editAll(root, paths);
    edited();
    git(root, [...shadow(root, beside), "reset", "-q", "--hard", commit]);
  },
};

/** WINK: a commit of everything, ignored files too; back by `reset --hard` and `clean -xfd`. */
export const wink: Way = {
  prepare: (root, beside) => cline.prepare?.(root, beside),
  round(root, beside, paths, edited) {
    git(root, [...shadow(root, beside), "add", "-A", "-f"]);
    git(root, [...shadow(root, beside), "commit", "-q", "--no-verify", "--allow-empty", "-m", "snapshot"]);
    const commit = git(root, [...shadow(root, beside), "rev-parse", "HEAD"]);
    editAll(root, paths);
    edited();
    git(root, [...shadow(root, beside), "reset", "-q", "--hard", commit]);
    git(root, [...shadow(root, beside), "clean", "-q", "-xfd"]);
  },
};

/** `git stash create` in the user's own repository; back by checking out what it names. */
export const stashCreate: Way = {
  prepare(root) {
    git(root, ["init", "-q", root]);
    git(root, ["add", "-A"]);
    git(root, ["commit", "-q", "-m", "start"]);
  },
  round(root, _beside, paths, edited) {
    const snapshot = git(root, ["stash", "create"]) || "HEAD";
    editAll(root, paths);
    edited();
    git(root, ["checkout", "-q", snapshot, "--", "."]);
  },
};
