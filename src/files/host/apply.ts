import { HoldfastError } from "../../base/errors.ts";
import { byPath } from "../by-path.ts";
import { folderAbove, nameOf, namesIn } from "../path.ts";
import type { Disk } from "./disk.ts";
import { type HostEntry, sameEntry } from "./entry.ts";
import type { Folder, HostRoot } from "./folders.ts";
import type { Intent, PlannedStep } from "./intent.ts";
import { PLACES, type Places } from "./meta.ts";
import { isClosed, OWNER_ALL } from "./modes.ts";
import { type MovedTrees, moveTreesIn } from "./new-trees.ts";
import { type HostPort, type HostStat, isSystem } from "./port.ts";
import { putBack } from "./put-back.ts";
import { HELD } from "./read-file.ts";
import { type Moved, type Rescue, unlinkIfThere } from "./rescue.ts";

/**
 * A path that somebody else changed after the commit was decided. Their version is in place; ours, if it had content,
 * is in rescue.
 */
export interface Diverged {
  readonly path: string;
  readonly why: "changed" | "made" | "removed" | "not-empty" | "no-folder" | "written-late";
  /** The name, in rescue, of the version that is not in place. */
  readonly kept?: string;
}

export interface Applied {
  readonly diverged: readonly Diverged[];
  /** Folders whose names changed: to be synced before the plan may be forgotten. */
  readonly folders: ReadonlySet<string>;
  /** What was taken out of the way. */
  readonly moved: readonly Moved[];
}

export interface ApplyGround {
  readonly root: HostRoot;
  readonly places: Places;
  readonly disk: Disk;
  readonly rescue: Rescue;
  /** An earlier attempt may have done a part of it. */
  readonly again: boolean;
  /** An earlier attempt has done all of it: what is otherwise now, somebody else did since. */
  readonly over: boolean;
  /** Hears of every path that is done. */
  readonly done: (path: string) => void;
}

/** Ends the name, in rescue, of content that was not put in place. */
export const OURS = "-ours";
/** Between two looks at whether a folder is still where it was. */
const LINKED_AT_ONCE = 64;

/**
 * Puts a decided plan in place with renames and nothing else. The old file is moved to rescue and looked at there, where
 * nobody can swap it; the new one is linked in, which fails on a name that is taken. Each step can be repeated: what is
 * done is recognised by what is no longer waiting.
 */
export async function apply(ground: ApplyGround, intent: Intent): Promise<Applied> {
  const work = new Application(ground, intent.session);
  const { paths } = work.moveTrees(intent);
  for (const path of paths) ground.done(path);
  const ordered = inOrder(intent.steps);
  const left = ordered.filter(({ path }) => !paths.has(path));
  if (ground.again) work.findFilled(left);
  for (let at = 0; at < left.length; ) {
    const run = runOfNew(left, at);
    if (run.length > 1) work.linkAll(run);
    else if (left[at]?.placed !== true) await work.step(left[at] as PlannedStep);
    for (const { path } of left.slice(at, at + Math.max(run.length, 1))) ground.done(path);
    at += Math.max(run.length, 1);
  }
  for (const step of left) work.release(step);
  // A folder that may not be written is closed when everything is in it.
  for (const step of ordered.toReversed()) if (step.placed !== true) work.close(step);
  return work;
}

/** First what goes, files before their folders; then folders that come; then content, one file after the other. */
function inOrder(steps: readonly PlannedStep[]): readonly PlannedStep[] {
  const up = steps.toSorted(byPath);
  const down = up.toReversed();
  return [
    ...down.filter(({ to }) => to.kind === "absent"),
    ...up.filter(({ to }) => to.kind === "folder"),
    ...up.filter(({ to }) => to.kind === "file" || to.kind === "link"),
  ];
}

/**
 * New files of one folder that wait in one other folder, one after the other: a command may leave thousands of them. They
 * are put in place without looking for the two folders again each time.
 */
function runOfNew(steps: readonly PlannedStep[], from: number): readonly PlannedStep[] {
  const first = steps[from];
  const isNew = ({ from: was, to, temp, placed }: PlannedStep) =>
    was.kind === "absent" && to.kind === "file" && temp !== undefined && placed !== true;
  if (first === undefined || !isNew(first)) return [];
  const folder = folderAbove(first.path);
  let to = from + 1;
  for (let next = steps[to]; next !== undefined && to - from < LINKED_AT_ONCE; next = steps[to]) {
    if (!isNew(next) || next.temp?.folder !== first.temp?.folder || folderAbove(next.path) !== folder) break;
    to += 1;
  }
  return steps.slice(from, to);
}

function isHere(folder: Folder): boolean {
  try {
    folder.mustBeHere();
    return true;
  } catch (error) {
    if (HoldfastError.is(error, "FILE_BAD_PATH")) return false;
    throw error;
  }
}

/** As far as can be told of what may not be read. */
function isAnother({ kind, mode, size, uid, gid }: HostStat, from: HostEntry, { user }: HostPort): boolean {
  if (from.kind !== "file") return kind !== from.kind;
  const [owner, group] = from.owner ?? [user.uid, user.gid];
  return kind !== "file" || mode !== from.mode || size !== from.size || uid !== owner || gid !== group;
}

class Application implements Applied {
  readonly diverged: Diverged[] = [];
  readonly folders = new Set<string>();
  readonly moved: Moved[] = [];
  /** Folders that were made, or given their mode, here. */
  readonly #opened = new Set<string>();
  /** Folders that an earlier attempt has put something into. */
  readonly #filled = new Set<string>();
  readonly #ground: ApplyGround;
  readonly #session: string;

  constructor(ground: ApplyGround, session: string) {
    this.#ground = ground;
    this.#session = session;
  }

  /** Folders that are new from the top on. Their modes are theirs to set, like those of any folder that was made here. */
  moveTrees(intent: Intent): MovedTrees {
    const moved = moveTreesIn(this.#ground, intent);
    for (const folder of moved.folders) this.folders.add(folder);
    for (const path of moved.paths) this.#opened.add(path);
    return moved;
  }

  /** What no longer waits was put into its folder. If the folder is not there, somebody has removed it since. */
  findFilled(steps: readonly PlannedStep[]): void {
    const { root } = this.#ground;
    for (const step of steps) {
      const { path, temp } = step;
      if (temp === undefined || this.#waits(step)) continue;
      // With its folder, content may have gone before it was put anywhere.
      const isOurs = temp.folder.startsWith(`${PLACES.exec.join("/")}/`);
      if (!isOurs && root.within(namesIn(temp.folder), () => true) !== true) continue;
      for (let folder = folderAbove(path); folder !== ""; folder = folderAbove(folder)) this.#filled.add(folder);
    }
  }

  async step(step: PlannedStep): Promise<void> {
    const { root, disk } = this.#ground;
    const names = namesIn(step.path);
    const { from, to } = step;
    if (disk.isOwn(names) || sameEntry(from, to)) return;
    // What no longer waits is done. Nothing waits to become a folder, or to go.
    const waits = to.kind === "file" || to.kind === "link";
    this.folders.add(folderAbove(step.path)); // also when an earlier attempt has done it, and did not come to sync it
    if (this.#ground.over && !waits) return;
    if (this.#ground.again && waits && !this.#waits(step)) return this.#recall(step);
    const done = root.withinParent(names, (folder, name) => this.#in(folder, name, step));
    if (done === undefined && to.kind !== "absent") this.#giveUp(step, "no-folder");
    await done;
  }

  /** A file that came back out of rescue lies there no more. */
  release({ path, former }: PlannedStep): void {
    if (former === undefined) return;
    const { root, rescue } = this.#ground;
    const names = namesIn(path);
    // Wherever the folder is by now: the file is in it.
    root.looking(names.slice(0, -1), (folder) => rescue.release(former, folder.at(names.at(-1))));
  }

  /** Whatever does not go smoothly goes the way of any other step. */
  linkAll(steps: readonly PlannedStep[]): void {
    const { root, disk } = this.#ground;
    const [first] = steps;
    const temp = first?.temp;
    if (first === undefined || temp === undefined || disk.isOwn(namesIn(first.path))) return;
    const target = namesIn(first.path).slice(0, -1);
    this.folders.add(target.join("/"));
    const found = root.within(target, (folder) =>
      root.within(namesIn(temp.folder), (waiting) => {
        this.folders.add(temp.folder);
        folder.mustBeHere();
        for (const step of steps) this.#linkNew(folder, waiting, step);
        return true;
      }),
    );
    if (found === undefined) for (const step of steps) if (this.#waits(step)) this.#giveUp(step, "no-folder");
  }

  #linkNew(folder: Folder, waiting: Folder, step: PlannedStep): void {
    const { port } = this.#ground.root;
    const [from, name] = [waiting.at(step.temp?.name), nameOf(step.path)];
    try {
      port.linkAs(from, folder.at(name));
    } catch (error) {
      if (isSystem(error, "ENOENT") && !this.#waits(step)) return this.#recall(step);
      if (!isSystem(error, "EEXIST")) throw error;
      if (!this.#isIn(folder, name, step)) return this.#giveUp(step, "made");
    }
    port.unlink(from);
  }

  async #in(folder: Folder, name: string, step: PlannedStep): Promise<void> {
    const { from, to } = step;
    const mayBeIn = this.#ground.again && to.kind !== "absent" && to.kind !== "folder";
    if (mayBeIn && this.#isIn(folder, name, step)) return this.#unlinkTemp(step);
    if (from.kind === "folder" && to.kind !== "folder") {
      if (!this.#emptied(folder, name)) return this.#giveUp(step, "not-empty");
    } else if (from.kind !== "absent" && from.kind !== "folder") {
      const why = await this.#asideOf(folder, name, step);
      if (why !== undefined) return this.#giveUp(step, why);
    }
    if (to.kind === "folder") this.#makeFolder(folder, name, step);
    if (to.kind !== "file" && to.kind !== "link") return;
    if (isHere(folder)) return this.#linkIn(folder, name, step);
    if (from.kind === "file" || from.kind === "link")
      this.#putBack(folder, name, this.#ground.places.rescue.at(step.aside), step);
    this.#leaveMoved(folder, step);
  }

  /** Somebody moved the folder with the new content in it: ours goes to rescue, out of what is theirs. */
  #leaveMoved(folder: Folder, step: PlannedStep): void {
    const { temp } = step;
    const { port } = this.#ground.root;
    const lies = temp?.folder === folder.names.join("/") && port.stat(folder.at(temp.name)) !== undefined;
    if (lies) this.#keepOurs(folder.at(temp.name), step, "no-folder");
    else this.#giveUp(step, "no-folder");
  }

  /** Moves the old file to rescue and looks at what came: theirs goes back where it was. */
  async #asideOf(folder: Folder, name: string, step: PlannedStep): Promise<Diverged["why"] | undefined> {
    const { root, disk, places } = this.#ground;
    const place = places.rescue.at(step.aside);
    if (!this.#ground.again || root.port.stat(place) === undefined) {
      folder.mustBeHere();
      try {
        root.port.rename(folder.at(name), place);
      } catch (error) {
        if (isSystem(error, "ENOENT")) return step.to.kind === "absent" ? undefined : "removed";
        throw error;
      }
    }
    // Theirs may be no file any more, or one that only they may read.
    const notOurs = (error: unknown): undefined => {
      const stat = isSystem(error, "EACCES", "EPERM") ? root.port.stat(place) : undefined;
      const isTheirs = stat !== undefined && isAnother(stat, step.from, root.port);
      const isOdd = HoldfastError.is(error, "FILE_SPECIAL") || HoldfastError.is(error, "FILE_NOT_COVERED");
      if (!isTheirs && !isOdd) throw error;
    };
    const file =
      step.from.kind === "file" ? await disk.fileIn(places.rescue, step.aside, HELD).catch(notOurs) : undefined;
    const moved = file?.entry ?? (await disk.entry([...PLACES.rescue, step.aside]).catch(notOurs));
    if (moved !== undefined && sameEntry(moved, step.from)) {
      const stat = file?.stat ?? root.port.stat(place);
      if (stat !== undefined) this.moved.push({ name: step.aside, path: step.path, was: step.from, stat });
      return undefined;
    }
    this.#putBack(folder, name, place, step);
    return "changed";
  }

  #putBack(folder: Folder, name: string, place: string, { aside, path }: PlannedStep): void {
    const { root, rescue } = this.#ground;
    if (!putBack(root.port, place, folder.at(name))) rescue.note(aside, { path, whose: "theirs" });
  }

  #linkIn(folder: Folder, name: string, step: PlannedStep): void {
    const { root } = this.#ground;
    const { temp } = step;
    if (temp === undefined) return;
    const link = (waiting: Folder): boolean => {
      try {
        root.port.linkAs(waiting.at(temp.name), folder.at(name));
      } catch (error) {
        if (isSystem(error, "EEXIST")) return false;
        throw error;
      }
      root.port.unlink(waiting.at(temp.name));
      return true;
    };
    const isBeside = temp.folder === folder.names.join("/");
    const linked = isBeside ? link(folder) : root.inside(namesIn(temp.folder), link);
    if (!linked) return this.#giveUp(step, "made");
    this.folders.add(temp.folder);
  }

  #makeFolder(folder: Folder, name: string, step: PlannedStep): void {
    const { port } = this.#ground.root;
    const { to } = step;
    if (to.kind !== "folder") return;
    if (this.#filled.has(step.path) && port.stat(folder.at(name)) === undefined) return;
    folder.mustBeHere();
    try {
      port.makeFolder(folder.at(name), to.mode | OWNER_ALL);
    } catch (error) {
      if (!isSystem(error, "EEXIST")) throw error;
      const found = port.stat(folder.at(name));
      if (found?.kind !== "folder") return this.#giveUp(step, "made");
      // Somebody else's has its own mode. Ours has the one it was made with, when an attempt ended before it was closed.
      const ours = this.#ground.again && found.mode === (to.mode | OWNER_ALL);
      if (step.from.kind !== "folder" && !ours) return;
    }
    this.#setMode(folder, name, to.mode | OWNER_ALL);
    this.#opened.add(step.path);
  }

  /** Gives a folder the mode it was meant to have, when that would have kept us out. */
  close({ path, to }: PlannedStep): void {
    if (to.kind !== "folder" || !isClosed(to) || !this.#opened.has(path)) return;
    const { root } = this.#ground;
    root.withinParent(namesIn(path), (folder, name) => {
      if (root.port.stat(folder.at(name))?.kind === "folder") this.#setMode(folder, name, to.mode);
    });
  }

  /** The system's mask does not decide what was there before. */
  #setMode(folder: Folder, name: string, mode: number): void {
    const { port } = this.#ground.root;
    const handle = port.openFolder(folder.at(name));
    try {
      port.mode(handle, mode);
    } finally {
      port.close(handle);
    }
  }

  #emptied(folder: Folder, name: string): boolean {
    try {
      this.#ground.root.port.removeFolder(folder.at(name));
      return true;
    } catch (error) {
      if (isSystem(error, "ENOENT")) return true;
      if (isSystem(error, "ENOTEMPTY", "EEXIST", "ENOTDIR")) return false;
      throw error;
    }
  }

  /** Theirs stays; ours goes to rescue, and it is told. */
  #giveUp(step: PlannedStep, why: Diverged["why"]): void {
    const { root } = this.#ground;
    const { path, temp } = step;
    // Also when what waited beside its place went with the folder that somebody removed: there is nothing left to keep.
    if (temp === undefined || !this.#waits(step)) {
      this.diverged.push({ path, why });
      return;
    }
    root.inside(namesIn(temp.folder), (waiting) => this.#keepOurs(waiting.at(temp.name), step, why));
    this.folders.add(temp.folder);
  }

  #keepOurs(lies: string, { path, aside }: PlannedStep, why: Diverged["why"]): void {
    const { root, rescue, places } = this.#ground;
    const kept = `${aside}${OURS}`;
    rescue.note(kept, { path, whose: "ours" }, this.#session);
    root.port.rename(lies, places.rescue.at(kept));
    this.diverged.push({ path, why, kept });
  }

  /** Nothing waits any more: it is in place, or was kept out by an attempt that could not tell of it. */
  #recall({ path, aside }: PlannedStep): void {
    const { root, places, rescue } = this.#ground;
    const lies = (name: string) => root.port.stat(places.rescue.at(name)) !== undefined;
    const kept = `${aside}${OURS}`;
    if (lies(kept)) this.diverged.push({ path, why: "changed", kept });
    else if (lies(aside) && root.within(namesIn(path).slice(0, -1), () => true) === undefined) {
      // Its folder went, perhaps before the new content was in it: what lay there is theirs.
      rescue.note(aside, { path, whose: "theirs" }, this.#session);
      this.diverged.push({ path, why: "no-folder", kept: aside });
    }
  }

  #waits({ temp }: PlannedStep): boolean {
    if (temp === undefined) return false;
    const { root } = this.#ground;
    return root.within(namesIn(temp.folder), (folder) => root.port.stat(folder.at(temp.name))) !== undefined;
  }

  /** True when the waiting file and the one in place are the same file: only its second name is left to remove. */
  #isIn(folder: Folder, name: string, { temp }: PlannedStep): boolean {
    const { root } = this.#ground;
    if (temp === undefined) return false;
    const a = root.within(namesIn(temp.folder), (waiting) => root.port.stat(waiting.at(temp.name)));
    const b = root.port.stat(folder.at(name));
    return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
  }

  #unlinkTemp({ temp }: PlannedStep): void {
    if (temp === undefined) return;
    const { root } = this.#ground;
    root.within(namesIn(temp.folder), (waiting) => unlinkIfThere(root.port, waiting.at(temp.name)));
  }
}
