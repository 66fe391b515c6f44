import { HoldfastError } from "../../base/errors.ts";
import { byPath } from "../by-path.ts";
import { namesIn } from "../path.ts";
import { differences, withKey, withoutKey } from "../sorted-map.ts";
import type { Disk } from "./disk.ts";
import { ABSENT, type HostEntry, sameEntry } from "./entry.ts";
import { inOurWords } from "./failures.ts";
import { sameTouched, type Touched, type WorkspaceValue, withFound } from "./part.ts";

/** What going back does with one path. */
export interface ReturnedFile {
  readonly path: string;
  readonly does: "restore" | "remove" | "make-folder" | "nothing";
}

/** A path that going back leaves as it is, because somebody else has changed it since. */
export interface KeptFile {
  readonly path: string;
  readonly why: "changed" | "removed" | "made" | "not-empty" | "no-folder" | "special" | "edited-before";
}

/** A way back that touches only what this session changed, and only where nobody else has been since. */
export interface ReturnPlan {
  readonly value: WorkspaceValue;
  readonly files: readonly ReturnedFile[];
  readonly kept: readonly KeptFile[];
  /** What each path is to hold afterwards. */
  readonly targets: ReadonlyMap<string, HostEntry>;
}

interface Way {
  readonly path: string;
  readonly now: Touched | undefined;
  readonly earlier: Touched | undefined;
  readonly target: HostEntry;
  /** What the session remembers of the path afterwards. */
  readonly left: Touched | undefined;
  /** Somebody else edited the file between our changes: their edit is as far back as it goes. */
  readonly stopped: boolean;
}

/**
 * Three ways for every path: what it is to be, what we last left there, and what is there. Only when what is there is what
 * we left does it change. A file is removed only when we made it and it still holds what we wrote.
 */
export async function planReturn(disk: Disk, now: WorkspaceValue, then: WorkspaceValue): Promise<ReturnPlan> {
  // What is the same is left alone: what a command wrote was never copied, and nothing could be written down about it.
  const ways = [...differences(now.paths, then.paths)].flatMap(({ key, before, after }) =>
    sameTouched(before, after) ? [] : [wayOf(key, before, after)],
  );
  const files: ReturnedFile[] = [];
  const kept: KeptFile[] = [];
  const targets = new Map<string, HostEntry>();
  const found = new Map<string, HostEntry>();
  const goes = new Set<string>();
  const comes = new Set<string>();
  let paths = now.paths;
  // Deepest first, so that a folder knows whether everything in it goes; then again from the top for what comes.
  const removals = ways.filter(({ target }) => target.kind === "absent").toReversed();
  const arrivals = ways.filter(({ target }) => target.kind !== "absent");
  for (const way of [...removals, ...arrivals]) {
    const { path, target } = way;
    const there = await entryAt(disk, path, way.now?.now ?? target);
    const why = await inOurWords(path, async () => refusal(disk, way, there, goes, comes));
    if (why !== undefined) {
      kept.push({ path, why });
      continue;
    }
    if (way.stopped) kept.push({ path, why: "edited-before" });
    if (there === undefined) continue;
    paths = way.left === undefined ? withoutKey(paths, path) : withKey(paths, path, way.left);
    found.set(path, there);
    targets.set(path, target);
    if (target.kind === "absent") goes.add(path);
    if (target.kind === "folder") comes.add(path);
    files.push({ path, does: sameEntry(there, target) ? "nothing" : DOES[target.kind] });
  }
  const value = withFound({ ...now, paths }, found);
  return { value, files: files.toSorted(byPath), kept: kept.toSorted(byPath), targets };
}

const DOES = { absent: "remove", file: "restore", link: "restore", folder: "make-folder" } as const;

function wayOf(path: string, now: Touched | undefined, earlier: Touched | undefined): Way {
  if (now === undefined) return { path, now, earlier, target: earlier?.now ?? ABSENT, left: earlier, stopped: false };
  if (earlier !== undefined && earlier.since === now.since)
    return { path, now, earlier, target: earlier.now, left: earlier, stopped: false };
  const left = earlier === undefined ? undefined : { ...now, now: now.was };
  return { path, now, earlier, target: now.was, left, stopped: now.interrupted === true };
}

function refusal(
  disk: Disk,
  { path, now, earlier, target }: Way,
  there: HostEntry | undefined,
  goes: ReadonlySet<string>,
  comes: ReadonlySet<string>,
): KeptFile["why"] | undefined {
  if (there === undefined) return "special";
  const ours = now?.now ?? earlier?.was;
  if (!sameEntry(there, target) && (ours === undefined || !sameEntry(there, ours)))
    return there.kind === "absent" ? "removed" : ours?.kind === "absent" ? "made" : "changed";
  const names = namesIn(path);
  if (target.kind !== "folder" && there.kind === "folder") {
    const stays = disk.list(names).some(({ name }) => !goes.has(`${path}/${name}`));
    if (stays || disk.hidden(names) > 0) return "not-empty";
  }
  if (target.kind === "absent" || there.kind !== "absent") return undefined; // it lies in its folder
  const folder = names.slice(0, -1);
  return disk.stat(folder)?.kind === "folder" || comes.has(folder.join("/")) ? undefined : "no-folder";
}

/** Undefined for what is no file, folder or link, or could not be brought back: it is nobody's to replace. */
function entryAt(disk: Disk, path: string, expected: HostEntry): Promise<HostEntry | undefined> {
  return inOurWords(path, () => disk.entry(namesIn(path), expected)).catch((error: unknown) => {
    if (HoldfastError.is(error, "FILE_SPECIAL") || HoldfastError.is(error, "FILE_NOT_COVERED")) return undefined;
    throw error;
  });
}

/** Paths that do not hold what a return meant them to, after it. */
export async function unlike(disk: Disk, targets: ReadonlyMap<string, HostEntry>): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const [path, target] of targets) {
    const there = await entryAt(disk, path, target);
    if (there === undefined || !sameEntry(there, target)) wrong.push(path);
  }
  return wrong;
}
