import { byPath } from "../by-path.ts";
import { type HostEntry, sameEntry } from "./entry.ts";
import { entryIn, isSure, type Known, linkAt, type Manifest } from "./manifest.ts";
import { type HostStat, isSystem } from "./port.ts";
import { hashFile, type Hashed } from "./read-file.ts";
import { type Uncovered, type Walked, type WalkGround, walkTree } from "./walk.ts";

/** One path that a command left otherwise than it was. */
export interface TreeChange {
  readonly path: string;
  readonly from: HostEntry;
  readonly to: HostEntry;
}

/** What commands did to a tree. */
export interface TreeDifference {
  readonly changes: readonly TreeChange[];
  /** Files that hold the same and have another time: told apart by programs that build. */
  readonly touched: readonly Touch[];
  /** New things that cannot be kept. */
  readonly uncovered: readonly Uncovered[];
}

/** A file that was given another time. */
export interface Touch {
  readonly path: string;
  readonly mtimeNs: bigint;
  readonly before: bigint;
}

/** One path that is not what a manifest says, looked at closely. */
export interface Unlike {
  readonly path: string;
  readonly was: Known | undefined;
  readonly is: Known | undefined;
}

export interface Comparison {
  readonly unlike: readonly Unlike[];
  /** What could not be looked at, and was not named in the manifest. */
  readonly uncovered: readonly Uncovered[];
  readonly unnamed: Walked["unnamed"];
}

/** The tree as it is, against a manifest. Only what may have changed is read. */
export function compareTree(ground: WalkGround, manifest: Manifest): Comparison {
  const { port, base } = ground;
  const { root, entries, uncovered, unnamed } = walkTree(ground);
  const unlike: Unlike[] = [];
  const wasUncovered = atOrBelow(manifest.uncovered);
  const isUnseen = atOrBelow(uncovered);
  let met = 0;
  for (const [path, stat] of entries) {
    const was = manifest.entries.get(path);
    if (was !== undefined) met += 1;
    if (wasUncovered(path)) continue; // nobody has promised anything about it
    if (stat.kind === "file" && isSure(manifest, was, stat)) continue;
    const is = knownAt(port, `${base}/${path}`, stat);
    if (was === undefined || differs(was, is)) unlike.push({ path, was, is });
  }
  if (met < manifest.entries.size)
    for (const [path, was] of manifest.entries)
      if (!entries.has(path) && !wasUncovered(path) && !isUnseen(path)) unlike.push({ path, was, is: undefined });
  const fresh = uncovered.filter(({ path }) => !wasUncovered(path));
  if (!sameOwner(root, manifest.root?.stat)) fresh.push({ path: ".", why: "root-changed" });
  return { unlike, uncovered: fresh, unnamed: unnamed.filter(({ path }) => !wasUncovered(path)) };
}

/**
 * Below a folder that could not be looked into nobody knows what there was, or is: it is neither new nor gone. Taken for
 * new, the user's own files would be out of the way with the command that is undone.
 */
function atOrBelow(uncovered: readonly Uncovered[]): (path: string) => boolean {
  if (uncovered.length === 0) return () => false;
  const found = new Set(uncovered.map(({ path }) => path));
  if (found.has("")) return () => true;
  return (path) => {
    if (found.has(path)) return true;
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1))
      if (found.has(path.slice(0, at))) return true;
    return false;
  };
}

/** Some paths as they are, against a manifest: all of the tree was looked at a moment ago. */
export function compareAt({ port, base }: WalkGround, manifest: Manifest, paths: Iterable<string>): readonly Unlike[] {
  const wasUncovered = atOrBelow(manifest.uncovered);
  return [...paths].flatMap((path): Unlike[] => {
    const was = manifest.entries.get(path);
    const stat = port.stat(`${base}/${path}`);
    if (wasUncovered(path) || (was === undefined && stat === undefined)) return [];
    const is = stat === undefined ? undefined : knownAt(port, `${base}/${path}`, stat);
    return was !== undefined && is !== undefined && !differs(was, is) ? [] : [{ path, was, is }];
  });
}

export function differenceOf(compared: Comparison, { user }: WalkGround["port"]): TreeDifference {
  const changes: TreeChange[] = [];
  const touched: Touch[] = [];
  const uncovered = [...compared.uncovered];
  for (const { path, was, is } of compared.unlike) {
    // Without its content it would be taken for a file that went.
    if (is?.stat.kind === "file" && is.digest === undefined) uncovered.push({ path, why: "unreadable" });
    if (is?.stat.kind === "link" && is.target === undefined) uncovered.push({ path, why: "not-text" });
    const [from, to] = [entryIn(was, user), entryIn(is, user)];
    if (!sameEntry(from, to)) changes.push({ path, from, to });
    else if (is?.stat.kind === "file" && was !== undefined)
      touched.push({ path, mtimeNs: is.stat.mtimeNs, before: was.stat.mtimeNs });
  }
  return { changes: changes.toSorted(byPath), touched, uncovered };
}

/** Mode and owner of the folder itself. */
export function sameOwner(a: HostStat | undefined, b: HostStat | undefined): boolean {
  return a?.mode === b?.mode && a?.uid === b?.uid && a?.gid === b?.gid;
}

function knownAt(port: WalkGround["port"], path: string, stat: HostStat): Known {
  if (stat.kind === "link") {
    const target = linkAt(port, path);
    return target === undefined ? { stat } : { stat, target };
  }
  const found = stat.kind === "file" ? hashIfReadable(port, path) : undefined;
  return found === undefined ? { stat } : { stat, digest: found.digest };
}

function hashIfReadable(port: WalkGround["port"], path: string): Hashed | undefined {
  try {
    return hashFile(port, path);
  } catch (error) {
    if (isSystem(error, "EACCES", "EPERM")) return undefined;
    throw error;
  }
}

/** Everything that bringing back has to look after. The time of a folder changes with what is put into it. */
function differs(was: Known, is: Known): boolean {
  const [a, b] = [was.stat, is.stat];
  if (a.kind !== b.kind || was.digest !== is.digest || was.target !== is.target) return true;
  if (a.kind === "link") return false;
  if (a.mode !== b.mode || a.uid !== b.uid || a.gid !== b.gid || !sameTime(a.mtimeNs, b.mtimeNs)) return true;
  return a.kind === "file" && a.links > 1 && a.ino !== b.ino;
}

/** Node sets times through a floating number: what was brought back may be a microsecond off. */
const CLOSE = 2_000n;

function sameTime(a: bigint, b: bigint): boolean {
  return a - b < CLOSE && b - a < CLOSE;
}
