import { type Dirent, globSync, readdirSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { HoldfastError } from "../../index.ts";

/** One file to look at. */
export interface Target {
  /** `-` for standard input. */
  readonly path: string;
  /** As the user would name it. */
  readonly name: string;
  /** Found in a folder, not named: when it turns out to be no session it is passed over. */
  readonly found: boolean;
}

/** Names of files that hold sessions. A backup of ours, `*.bak`, does not end like one. */
const SESSION = /\.(jsonl|json|ndjson|traj)(\.gz)?$/i;
const GLOB = /[*?[\]{}]/;

/** Files, folders and patterns as files, in order, each once. A name that leads nowhere stays, to be reported. */
export function targetsOf(names: readonly string[], cwd: string): readonly Target[] {
  const seen = new Set<string>();
  return names.flatMap((name) => expand(name, cwd)).filter(({ path }) => !seen.has(path) && seen.add(path));
}

function expand(name: string, cwd: string): readonly Target[] {
  if (name === "-") return [{ path: "-", name, found: false }];
  const path = resolve(cwd, name);
  const kind = kindOf(path);
  if (kind === "folder") return filesIn(path).map((file) => ({ path: file, name: nameOf(file, cwd), found: true }));
  if (kind !== "nothing" || !GLOB.test(name)) return [{ path, name, found: false }];
  const matched = globSync(name, { cwd }).toSorted();
  if (matched.length === 0) return [{ path, name, found: false }];
  return matched.flatMap((match): readonly Target[] => {
    const file = resolve(cwd, match);
    return kindOf(file) === "folder"
      ? filesIn(file).map((inner) => ({ path: inner, name: nameOf(inner, cwd), found: true }))
      : [{ path: file, name: match, found: true }];
  });
}

function kindOf(path: string): "folder" | "file" | "nothing" {
  try {
    return statSync(path).isDirectory() ? "folder" : "file";
  } catch {
    return "nothing"; // whoever reads it tells why
  }
}

/** Every session below a folder. Links to folders are not followed: they may lead back. */
function filesIn(folder: string): readonly string[] {
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesIn(path);
    return SESSION.test(entry.name) ? [path] : [];
  });
}

/** What lies in a folder, in the order of names. One that may not be read is told by name, not passed over. */
function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    const system = String((error as NodeJS.ErrnoException).code);
    throw new HoldfastError("TRANSCRIPT_UNREADABLE", { folder, system }, { cause: error });
  }
}

function nameOf(path: string, cwd: string): string {
  const short = relative(cwd, path);
  return short.startsWith("..") ? path : short;
}
