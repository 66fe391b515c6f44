import { byPath } from "../by-path.ts";
import { folderAbove, nameOf, namesIn } from "../path.ts";
import type { Disk } from "./disk.ts";
import type { Folder, HostRoot } from "./folders.ts";
import type { Intent, PlannedStep } from "./intent.ts";
import { makePlace, PLACES } from "./meta.ts";
import { OWNER_ALL } from "./modes.ts";
import { isSystem } from "./port.ts";

/** A folder that commands made, with every folder and file in it. */
interface NewTree {
  readonly top: string;
  /** Where it is put together: a folder of ours that nobody else looks into. */
  readonly place: readonly string[];
  /** Parents before their children; the first is the top itself. */
  readonly folders: readonly PlannedStep[];
  readonly files: readonly PlannedStep[];
}

/** What is in place. */
export interface MovedTrees {
  readonly paths: ReadonlySet<string>;
  /** Folders whose names changed. */
  readonly folders: ReadonlySet<string>;
}

export interface TreeGround {
  readonly root: HostRoot;
  readonly disk: Disk;
  /** An earlier attempt may have done a part of it. */
  readonly again: boolean;
}

const PUT_TOGETHER = "in";

/**
 * Puts folders that commands made in place, each with one rename of the whole: an install leaves tens of thousands of
 * files, and two requests for every one of them would cost more than the command. It is put together where nobody can have
 * made anything of the same name, so a file moves with one request and nothing can be in its way. Whatever does not go
 * smoothly is laid back where it was and goes step by step, like everything else; so does what an attempt that was cut off
 * had left.
 */
export function moveTreesIn(ground: TreeGround, { exec, steps }: Intent): MovedTrees {
  const moved = { paths: new Set<string>(), folders: new Set<string>() };
  if (exec === undefined || !ground.disk.exact) return moved;
  for (const tree of treesIn(steps, [...PLACES.exec, exec])) {
    if (!isFree(ground, tree.top) || !isWhole(ground, tree) || !moveIn(ground, tree)) {
      layBack(ground, tree);
      continue;
    }
    moved.folders.add(folderAbove(tree.top));
    for (const { path } of tree.folders) moved.folders.add(path);
    for (const { path } of [...tree.folders, ...tree.files]) moved.paths.add(path);
  }
  return moved;
}

function treesIn(steps: readonly PlannedStep[], exec: readonly string[]): readonly NewTree[] {
  const trees: (NewTree & { readonly folders: PlannedStep[]; readonly files: PlannedStep[] })[] = [];
  const treeAt = new Map<string, (typeof trees)[number]>();
  const lies = `${exec.join("/")}/`;
  for (const step of steps.toSorted(byPath)) {
    const { path, from, to, temp, placed, aside } = step;
    if (from.kind !== "absent" || placed === true) continue;
    const above = treeAt.get(folderAbove(path));
    if (to.kind === "file" && temp?.folder.startsWith(lies) === true) above?.files.push(step);
    if (to.kind !== "folder") continue;
    const tree = above ?? { top: path, place: [...exec, PUT_TOGETHER, aside], folders: [], files: [] };
    if (above === undefined) trees.push(tree);
    tree.folders.push(step);
    treeAt.set(path, tree);
  }
  return trees.filter(({ files }) => files.length > 0);
}

/** Where the content of a step may lie while it is being put in place, as paths of the workspace. */
export function placesOfContent(intent: Intent, path: string): readonly (readonly string[])[] {
  const step = intent.steps.find((one) => one.path === path);
  return step === undefined ? [] : [...waitingPlaces(intent)(step), namesIn(path)];
}

/** Where the content of each step may lie as long as it is not in place. */
export function waitingPlaces({ exec, steps }: Intent): (step: PlannedStep) => readonly (readonly string[])[] {
  const trees = exec === undefined ? [] : treesIn(steps, [...PLACES.exec, exec]);
  const treeOf = new Map(trees.flatMap((tree) => tree.files.map((file) => [file, tree] as const)));
  return (step) => {
    const waits = step.temp === undefined ? [] : [[...namesIn(step.temp.folder), step.temp.name]];
    const tree = treeOf.get(step);
    return tree === undefined ? waits : [...waits, placeOf(tree, step.path)];
  };
}

function isFree({ root, disk }: TreeGround, top: string): boolean {
  const names = namesIn(top);
  if (disk.isOwn(names)) return false;
  return root.withinParent(names, (folder, name) => root.port.stat(folder.at(name)) === undefined) === true;
}

/**
 * All of it is still there to be put together. A plan that was carried out is looked at again after a crash, also when
 * somebody has removed what it made: then nothing of it waits, and nothing may come back.
 */
function isWhole(ground: TreeGround, tree: NewTree): boolean {
  const { root, again } = ground;
  if (!again) return true;
  const isThere = (names: readonly string[]) => root.stat(names) !== undefined;
  return tree.files.every(
    ({ path, temp }) => isThere([...namesIn(temp?.folder ?? ""), temp?.name ?? ""]) || isThere(placeOf(tree, path)),
  );
}

function moveIn(ground: TreeGround, tree: NewTree): boolean {
  const { root } = ground;
  const { port } = root;
  makePlace(root, tree.place.slice(0, -1));
  for (const { path, to } of tree.folders) makeFolder(ground, placeOf(tree, path), to);
  eachFile(ground, tree, (waiting, here) => port.rename(waiting, here));
  const moved = root.withinParent(namesIn(tree.top), (folder, name) =>
    root.insideParent(tree.place, (there, made) => {
      folder.mustBeHere();
      try {
        port.rename(there.at(made), folder.at(name));
        return true;
      } catch (error) {
        if (isSystem(error, "EEXIST", "ENOTEMPTY", "ENOTDIR", "EISDIR")) return false; // somebody was quicker
        throw error;
      }
    }),
  );
  return moved === true;
}

/** Open to us until everything is in it. The system's mask does not decide what a command meant. */
function makeFolder({ root }: TreeGround, place: readonly string[], to: PlannedStep["to"]): void {
  makePlace(root, place);
  if (to.kind === "folder")
    root.insideParent(place, (parent, name) => root.port.modeAt(parent.at(name), to.mode | OWNER_ALL));
}

/** What was put together and could not be moved in waits again where its commands had left it. */
function layBack(ground: TreeGround, tree: NewTree): void {
  const { root } = ground;
  if (root.within(tree.place, () => true) !== true) return;
  eachFile(ground, tree, (waiting, here) => root.port.rename(here, waiting));
}

/** Every file with where it waits and where it is put together. What has been moved already is passed over. */
function eachFile({ root }: TreeGround, tree: NewTree, move: (waiting: string, here: string) => void): void {
  for (const files of byFolders(tree.files)) {
    const [{ path, temp }] = files;
    root.within(namesIn(temp?.folder ?? ""), (waiting) =>
      root.within(placeOf(tree, folderAbove(path)), (here) => {
        for (const file of files) moveOne(waiting, here, file, move);
      }),
    );
  }
}

function moveOne(
  waiting: Folder,
  here: Folder,
  { path, temp }: PlannedStep,
  move: (waiting: string, here: string) => void,
): void {
  try {
    move(waiting.at(temp?.name), here.at(nameOf(path)));
  } catch (error) {
    if (!isSystem(error, "ENOENT")) throw error; // moved by an attempt that was cut off
  }
}

type Some<T> = readonly [T, ...T[]];

function byFolders(files: readonly PlannedStep[]): Iterable<Some<PlannedStep>> {
  const folders = new Map<string, [PlannedStep, ...PlannedStep[]]>();
  for (const file of files) {
    const key = `${folderAbove(file.path)}\0${file.temp?.folder ?? ""}`;
    const known = folders.get(key);
    if (known === undefined) folders.set(key, [file]);
    else known.push(file);
  }
  return folders.values();
}

function placeOf({ top, place }: NewTree, path: string): readonly string[] {
  return path === top ? place : [...place, ...namesIn(path.slice(top.length + 1))];
}
