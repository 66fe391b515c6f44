import { HoldfastError } from "../../base/errors.ts";
import type { Bytes } from "../../contracts/blob-store.ts";
import type { NewBlob } from "../../contracts/store.ts";
import type { BlobName } from "../../records/ids.ts";
import type { BlobRef } from "../../records/kinds.ts";
import { folderAbove, nameOf, namesIn } from "../path.ts";
import type { LeftByCommand, StageBlob } from "./commit.ts";
import { type HostEntry, sameEntry } from "./entry.ts";
import { hostError, inOurWords } from "./failures.ts";
import type { Folder, HostRoot } from "./folders.ts";
import { type FormerGround, linkFormer } from "./former.ts";
import { ChunkHasher } from "./hasher.ts";
import type { Intent, PlannedStep } from "./intent.ts";
import { writeAll } from "./meta.ts";
import { nameFault } from "./names.ts";
import { OWN_PREFIX } from "./own.ts";
import type { Step } from "./part.ts";
import { HELD } from "./read-file.ts";
import { unlinkIfThere } from "./rescue.ts";
import type { Slot, Slots } from "./slots.ts";
import type { ToSync } from "./syncing.ts";

/** Files that wait for their sync with a handle each; a call that changes thousands must not use up all handles. */
const OPEN_AT_ONCE = 64;

export interface PrepareGround extends FormerGround {
  readonly slots: Slots;
  readonly slot: Slot;
  readonly sync: boolean;
  readonly syncing: (names: ToSync) => Promise<void>;
  /** Folders that were seen to be on the same file system as our own, by device and number. */
  readonly proven: Set<string>;
  /** Folders whose newest names are not synced yet. */
  readonly unsynced: Set<string>;
  readonly stageBlob: StageBlob;
  readonly content: (name: BlobName, step: Step) => AsyncIterable<Bytes>;
  /** What commands have left of a path. */
  readonly left: (path: string) => LeftByCommand | undefined;
  /** What a path held before a command changed it in place. */
  readonly before: (name: BlobName) => AsyncIterable<Bytes>;
}

export interface Prepared {
  readonly intent: Intent;
  /** Old content, to be kept in the same commit. */
  readonly images: readonly NewBlob[];
  /** Content that the commit needs and that is kept already. */
  readonly named: readonly BlobRef[];
}

/**
 * Everything that can fail, before anything is decided: nobody else has touched what is to change, the old content is
 * kept, the new content lies synced beside its target, and the plan is written down. `planned` hears of it before the
 * first touch: from then on there is something to take back.
 */
export async function prepare(
  ground: PrepareGround,
  about: Omit<Intent, "steps">,
  steps: readonly Step[],
  planned: (intent: Intent) => void,
): Promise<Prepared> {
  const images: NewBlob[] = [];
  const fresh = await inOurWords("", async () => checkedNew(ground, steps));
  for (const step of steps)
    if (!fresh.has(step)) images.push(...(await inOurWords(step.path, () => checked(ground, step, steps))));
  const existing = new Map<string, string>();
  const intent = await inOurWords("", async () => ({
    ...about,
    steps: steps.map((step, at) => plan(ground, step, `${about.tx}-${at}`, existing)),
  }));
  planned(intent);
  const open: number[] = [];
  try {
    open.push(ground.slots.plan(ground.slot, intent));
    const folders = new Set(ground.unsynced);
    const writable = new Set<string>();
    for (const step of intent.steps) {
      if (step.placed === true) continue;
      if (lies(step)) {
        if (step.probe !== undefined && !writable.has(step.probe.folder)) prove(ground, step.probe);
        writable.add(step.probe?.folder ?? "");
        continue;
      }
      if (open.length >= OPEN_AT_ONCE) await syncFiles(ground, open.splice(0));
      if (step.temp !== undefined) {
        open.push(...(await writeTemp(ground, step, step.temp)));
        folders.add(step.temp.folder);
      } else if (step.probe !== undefined) prove(ground, step.probe);
    }
    await Promise.all([syncFiles(ground, open.splice(0)), syncFolders(ground, folders)]);
  } catch (error) {
    throw hostError(error, steps[0]?.path ?? "");
  } finally {
    for (const handle of open) ground.root.port.close(handle);
  }
  return {
    intent,
    images,
    // What a command left is in place, or about to be moved there, and was never copied.
    named: steps.flatMap(({ path, to }) =>
      to.kind === "file" && ground.left(path) === undefined ? [{ name: to.digest, size: to.size }] : [],
    ),
  };
}

/** True when its new content lies where a command wrote it. */
function lies({ temp, probe }: PlannedStep): boolean {
  return temp !== undefined && probe !== undefined;
}

/** Takes back what a plan had laid beside its targets, when it was not decided. Nothing else was touched. */
export function abandon(root: HostRoot, { steps }: Intent): void {
  for (const { temp, probe } of steps) {
    const ours = probe ?? temp; // what lies where a command wrote it goes with that folder
    if (ours !== undefined)
      root.within(namesIn(ours.folder), (folder) => unlinkIfThere(root.port, folder.at(ours.name)));
  }
}

/**
 * New files that a command left: nobody else may have made one of the same name. Folder by folder, because there may be
 * thousands. Answers those that were looked at.
 */
function checkedNew({ root, left, disk }: PrepareGround, steps: readonly Step[]): ReadonlySet<Step> {
  const folders = new Map<string, Step[]>();
  for (const step of steps) {
    const lying = left(step.path);
    const isNew = step.from.kind === "absent" && step.to.kind === "file" && lying !== undefined && "lies" in lying;
    if (!isNew || !disk.exact || disk.isOwn(step.path.split("/"))) continue; // looked at more closely
    const folder = folderAbove(step.path);
    const known = folders.get(folder);
    if (known === undefined) folders.set(folder, [step]);
    else known.push(step);
  }
  for (const [path, inside] of folders)
    root.within(namesIn(path), (folder) => {
      for (const step of inside)
        if (root.port.stat(folder.at(nameOf(step.path))) !== undefined)
          throw new HoldfastError("FILE_CONFLICT", { path: step.path, found: "made by somebody else" });
    });
  return new Set([...folders.values()].flat());
}

/** Refuses what somebody else changed; answers the old content. */
async function checked(ground: PrepareGround, step: Step, all: readonly Step[]): Promise<readonly NewBlob[]> {
  const { path, from, to } = step;
  const { disk } = ground;
  const names = namesIn(path);
  const fault = nameFault(names, ground.root.port.platform);
  if (disk.isOwn(names))
    throw new HoldfastError("FILE_BAD_PATH", { path, fault: "is where Holdfast keeps what is its own" });
  if (fault !== undefined && to.kind !== "absent") throw new HoldfastError("FILE_BAD_PATH", { path, fault });
  const rival = disk.rivalOf(names);
  if (rival !== undefined && to.kind !== "absent" && !goes(all, [...names.slice(0, -1), rival].join("/")))
    throw new HoldfastError("FILE_CONFLICT", { path, found: `${rival}, which is the same name here` });
  const left = ground.left(path);
  if (left !== undefined && "placed" in left) return checkedPlaced(ground, step);
  const found = from.kind === "file" ? await disk.file(names, HELD) : undefined;
  const now = found?.entry ?? (await disk.entry(names));
  if (!sameEntry(now, from)) throw new HoldfastError("FILE_CONFLICT", { path, found: foundWords(now, from) });
  if (from.kind !== "file" || sameEntry(from, to)) return [];
  const blob = await (found?.bytes === undefined
    ? ground.stageBlob(disk.stream(names))
    : ground.stageBlob(found.bytes, found.entry.digest));
  if (blob.ref.name !== from.digest)
    throw new HoldfastError("FILE_CONFLICT", { path, found: "changed while it was read" });
  return [blob];
}

/** A command has done it: the path must still hold what it left, and what was there before was kept before it began. */
async function checkedPlaced(ground: PrepareGround, { path, from, to }: Step): Promise<readonly NewBlob[]> {
  const now = await ground.disk.entry(namesIn(path), to);
  if (!sameEntry(now, to))
    throw new HoldfastError("FILE_CONFLICT", { path, found: "changed after the command had ended" });
  return from.kind === "file" ? [await ground.stageBlob(ground.before(from.digest))] : [];
}

function goes(all: readonly Step[], path: string): boolean {
  return all.some((step) => step.path === path && step.to.kind === "absent");
}

function foundWords(now: HostEntry, from: HostEntry): string {
  if (now.kind === "absent") return "removed by somebody else";
  return from.kind === "absent" ? "made by somebody else" : "changed by somebody else";
}

function plan(ground: PrepareGround, step: Step, aside: string, existing: Map<string, string>): PlannedStep {
  const { path, from, to } = step;
  if (sameEntry(from, to)) return { ...step, aside };
  const left = ground.left(path);
  if (left !== undefined && "placed" in left) return { ...step, aside, placed: true };
  const parent = folderAbove(path);
  // What is there, and was just looked at, lies in its folder.
  const folder = from.kind === "absent" ? (existing.get(parent) ?? existingFolder(ground, path)) : parent;
  existing.set(parent, folder);
  const beside = { folder, name: `${OWN_PREFIX}${aside}` };
  if (left !== undefined && to.kind === "file") return { ...step, aside, temp: placeOf(left.lies), probe: beside };
  const former = ground.rescue.formerOf(path, to);
  if (former !== undefined) return { ...step, aside, temp: beside, former };
  return to.kind === "file" || to.kind === "link"
    ? { ...step, aside, temp: beside }
    : { ...step, aside, probe: beside };
}

function placeOf(path: string): NonNullable<PlannedStep["temp"]> {
  return { folder: folderAbove(path), name: nameOf(path) };
}

/** The folder a path lies in, or the nearest one above it that is there. */
function existingFolder({ root }: PrepareGround, path: string): string {
  const names = namesIn(path);
  for (let depth = names.length - 1; depth > 0; depth -= 1)
    if (root.within(names.slice(0, depth), () => true) === true) return names.slice(0, depth).join("/");
  return "";
}

/** New content beside its target, in a folder that it can be moved out of. Answers what is open and waits to be synced. */
function writeTemp(
  ground: PrepareGround,
  step: PlannedStep,
  { folder: path, name }: NonNullable<PlannedStep["temp"]>,
): Promise<readonly number[]> {
  return ground.root.inside(namesIn(path), async (folder) => {
    const open = await writeIn(ground, step, folder, name);
    try {
      proveFolder(ground, folder, name, true);
      return open;
    } catch (error) {
      for (const handle of open) ground.root.port.close(handle);
      throw error;
    }
  });
}

/** Answers what is open and waits to be synced. */
async function writeIn(
  ground: PrepareGround,
  step: PlannedStep,
  folder: Folder,
  name: string,
): Promise<readonly number[]> {
  const { port } = ground.root;
  const { to } = step;
  if (to.kind === "link") {
    port.makeLink(to.target, folder.at(name));
    return [];
  }
  if (to.kind !== "file") return [];
  const former = await linkFormer(ground, step, folder, name);
  if (former !== undefined) return [former];
  const handle = port.openFile(folder.at(name), "create");
  try {
    const hasher = new ChunkHasher();
    for await (const piece of ground.content(to.digest, step)) {
      writeAll(port, handle, piece, hasher.size);
      hasher.add(piece);
    }
    if (hasher.name() !== to.digest)
      throw new HoldfastError("FILE_CONFLICT", { path: step.path, found: "changed while it was copied" });
    // First the owner, then the mode: changing the owner takes the special bits away.
    if (to.owner !== undefined) port.owner(handle, ...to.owner);
    port.mode(handle, to.mode);
    return [handle];
  } catch (error) {
    port.close(handle);
    throw error;
  }
}

/** That a file of this folder can be moved to ours and back. Found out now: after the decision it would be too late. */
function prove(ground: PrepareGround, { folder: path, name }: NonNullable<PlannedStep["probe"]>): void {
  ground.root.inside(namesIn(path), (folder) => proveFolder(ground, folder, name, false));
}

function proveFolder(
  { root, proven, places: { temporary: ours } }: PrepareGround,
  folder: Folder,
  name: string,
  waits: boolean,
): void {
  const { port } = root;
  const { dev, ino } = port.statOpen(folder.handle);
  const key = `${dev}:${ino}`;
  if (dev !== root.dev) throw new HoldfastError("FILE_OTHER_DEVICE", { path: folder.names.join("/") });
  if (proven.has(key) && waits) return; // the new content lies there: it can be written
  if (!waits) port.close(port.openFile(folder.at(name), "create"));
  port.rename(folder.at(name), ours.at(name));
  try {
    if (waits) port.rename(ours.at(name), folder.at(name));
  } finally {
    unlinkIfThere(port, ours.at(name)); // also when it cannot go back, because its folder has just been removed
  }
  proven.add(key);
}

/** Syncs and closes. */
async function syncFiles({ root, sync }: PrepareGround, handles: readonly number[]): Promise<void> {
  try {
    if (sync) await Promise.all(handles.map((handle) => root.port.sync(handle)));
  } finally {
    for (const handle of handles) root.port.close(handle);
  }
}

async function syncFolders(ground: PrepareGround, folders: ReadonlySet<string>): Promise<void> {
  if (ground.sync) await ground.syncing({ files: [], folders: [...folders].map((path) => namesIn(path)) });
  for (const path of folders) ground.unsynced.delete(path);
}
