import { HoldfastError } from "../../base/errors.ts";
import type { BlobName } from "../../records/ids.ts";
import { byPath } from "../by-path.ts";
import { folderAbove, namesIn } from "../path.ts";
import type { Comparison, Unlike } from "./compare.ts";
import type { Folder, HostRoot } from "./folders.ts";
import type { Images } from "./images.ts";
import type { Known, Manifest } from "./manifest.ts";
import { writeAll } from "./meta.ts";
import { isClosed, OWNER_ALL } from "./modes.ts";
import { isSystem } from "./port.ts";
import type { Rescue } from "./rescue.ts";

export interface BringBackGround {
  readonly root: HostRoot;
  readonly images: Images;
  readonly rescue: Rescue;
  readonly rescueFolder: Folder;
  readonly temporary: Folder;
  /** Begins the names under which what is taken out of the way goes to rescue. */
  readonly id: string;
}

/** So often somebody may be quicker than a file that comes back. */
const ATTEMPTS = 8;

const NONE: ReadonlySet<string> = new Set();

/**
 * Brings a tree back to its manifest, but for what `stays` as a command left it. Nothing is removed: whatever is in the way is moved to rescue, because somebody else
 * may have written it meanwhile. Doing it again does what is left, so it can be cut off at any point.
 */
export function bringBack(
  ground: BringBackGround,
  { unlike, unnamed }: Pick<Comparison, "unlike" | "unnamed">,
  { entries: manifest, root }: Manifest,
  stays: ReadonlySet<string> = NONE,
): void {
  const work = new BringingBack(ground, manifest);
  const up = unlike.toSorted(byPath);
  const folders = foldersOf(up, (path) => manifest.has(path) || stays.has(path));
  for (const path of folders.toReversed()) work.open(path);
  for (const { path, is } of up) if (is?.stat.kind === "folder") work.open(path);
  for (const { path, at } of unnamed) work.moveAway(path, at);
  for (const { path, was, is } of up.toReversed()) if (is !== undefined && !staysAs(was, is)) work.takeAway(path, is);
  for (const { path, was } of up) if (was?.stat.kind === "folder") work.makeFolder(path);
  for (const { path, was, is } of up) if (was !== undefined && was.stat.kind !== "folder") work.put(path, was, is);
  // Deepest first, when everything is in place: a folder's time changes with what is put into it, and one that may not be
  // written must be filled before.
  for (const path of folders) if (!stays.has(path)) work.finishFolder(path);
  work.closeAgain(stays);
  if (root !== undefined) ground.root.inside([], ({ handle }) => work.dress(handle, root));
}

/** A file that is still the same one, or a folder that is still one, is mended where it stands. */
function staysAs(was: Known | undefined, is: Known): boolean {
  if (was === undefined || was.stat.kind !== is.stat.kind) return false;
  if (is.stat.kind === "folder") return true;
  if (is.stat.kind === "link") return was.target === is.target;
  if (is.stat.kind === "other") return true; // whatever it is, it was not covered before either
  return was.digest === is.digest ? was.stat.links === 1 || was.stat.ino === is.stat.ino : sharesFile(was, is);
}

/** Another name of the file, perhaps outside the workspace, holds whatever is written here: only in place is it undone there. */
function sharesFile(was: Known, is: Known): boolean {
  return was.stat.links > 1 && was.stat.ino === is.stat.ino && was.stat.dev === is.stat.dev;
}

/** Every folder that was changed, or in which something was. */
function foldersOf(unlike: readonly Unlike[], isThere: (path: string) => boolean): readonly string[] {
  const folders = new Set<string>();
  for (const { path, was } of unlike) {
    if (was?.stat.kind === "folder") folders.add(path);
    const parent = folderAbove(path);
    if (isThere(parent)) folders.add(parent);
  }
  return [...folders].toSorted((a, b) => (a < b ? 1 : -1));
}

class BringingBack {
  readonly #ground: BringBackGround;
  readonly #manifest: ReadonlyMap<string, Known>;
  /** Where a file with several names is in place again, by what the system called it before. */
  readonly #shared = new Map<string, string>();
  /** Names of every file that has several, as the manifest has them. */
  #names: ReadonlyMap<string, readonly string[]> | undefined;
  /** Modes of folders that were closed to us. */
  readonly #closed = new Map<string, number>();
  #moved = 0;

  constructor(ground: BringBackGround, manifest: ReadonlyMap<string, Known>) {
    this.#ground = ground;
    this.#manifest = manifest;
  }

  /** A folder that its owner may not write is no obstacle: its mode is put back at the end. */
  open(path: string): void {
    const { root } = this.#ground;
    const { port } = root;
    root.within(namesIn(path), ({ handle }) => {
      const { mode, uid } = port.statOpen(handle);
      if (!isClosed({ mode }) || uid !== port.user.uid) return;
      port.mode(handle, mode | OWNER_ALL);
      this.#closed.set(path, mode);
    });
  }

  closeAgain(paths: ReadonlySet<string>): void {
    const { root } = this.#ground;
    for (const [path, mode] of this.#closed)
      if (paths.has(path)) root.within(namesIn(path), ({ handle }) => root.port.mode(handle, mode));
  }

  takeAway(path: string, is: Known): void {
    const { root, rescue, rescueFolder } = this.#ground;
    this.#in(path, (folder, name) => {
      if (is.stat.kind === "folder") return root.port.removeFolder(folder.at(name)); // whatever was in it has been moved
      const aside = this.#freshAside();
      root.port.rename(folder.at(name), rescueFolder.at(aside));
      if (is.stat.kind === "file") rescue.note(aside, { path, whose: "theirs" });
      return undefined;
    });
  }

  /** A name that is no text: it cannot be kept as a path, but it can be moved. */
  moveAway(path: string, at: Uint8Array): void {
    const { root, rescue, rescueFolder } = this.#ground;
    const aside = this.#freshAside();
    root.port.renameBytes(at, rescueFolder.at(aside));
    rescue.note(aside, { path, whose: "theirs" });
  }

  makeFolder(path: string): void {
    const { port } = this.#ground.root;
    this.#in(path, (folder, name) => {
      if (port.stat(folder.at(name)) === undefined) port.makeFolder(folder.at(name), OWNER_ALL);
    });
  }

  put(path: string, was: Known, is: Known | undefined): void {
    const { port } = this.#ground.root;
    this.#in(path, (folder, name) => {
      if (was.stat.kind === "other") {
        if (is === undefined) throw new HoldfastError("FILE_NOT_COVERED", { path, holds: "a pipe, socket or device" });
        return;
      }
      if (was.stat.kind === "link") {
        if (port.stat(folder.at(name)) === undefined) port.makeLink(was.target ?? "", folder.at(name));
        return;
      }
      if (port.stat(folder.at(name)) === undefined) this.#place(folder, name, path, was);
      else this.#mend(folder, name, was, is);
    });
  }

  finishFolder(path: string): void {
    const { root } = this.#ground;
    const was = this.#manifest.get(path);
    if (was === undefined) return;
    root.within(namesIn(path), ({ handle }) => this.dress(handle, was));
  }

  /** A new file with the old content, or another name of one that is already back. */
  #place(folder: Folder, name: string, path: string, was: Known): void {
    const { root, temporary, id } = this.#ground;
    const { port } = root;
    const other = was.stat.links > 1 ? this.#otherName(was, path) : undefined;
    if (other !== undefined) {
      const linked = root.withinParent(other.split("/"), (there, known) => {
        port.linkAs(there.at(known), folder.at(name));
        return true;
      });
      if (linked === true) return;
    }
    const waiting = temporary.at(`${id}-back`);
    if (port.stat(waiting) !== undefined) port.unlink(waiting);
    const handle = port.openFile(waiting, "create");
    try {
      this.#fill(handle, was);
      this.dress(handle, was);
    } finally {
      port.close(handle);
    }
    this.#linkIn(waiting, folder, name, path);
    if (was.stat.links > 1) this.#shared.set(fileOf(was), path);
  }

  /** Fails on a name that is taken: somebody may have come while the content was written, and a rename would replace theirs. */
  #linkIn(waiting: string, folder: Folder, name: string, path: string): void {
    const { port } = this.#ground.root;
    for (let left = ATTEMPTS; ; left -= 1)
      try {
        port.linkAs(waiting, folder.at(name));
        break;
      } catch (error) {
        if (!isSystem(error, "EEXIST") || left === 0) throw error;
        this.#moveAside(folder, name, path);
      }
    port.unlink(waiting);
  }

  #moveAside(folder: Folder, name: string, path: string): void {
    const { root, rescue, rescueFolder } = this.#ground;
    const aside = this.#freshAside();
    root.port.rename(folder.at(name), rescueFolder.at(aside));
    rescue.note(aside, { path, whose: "theirs" });
  }

  /** The same file, with its content, mode, owner and time as they were. */
  #mend(folder: Folder, name: string, was: Known, is: Known | undefined): void {
    const { port } = this.#ground.root;
    const how = was.digest === is?.digest ? "read" : "update";
    if (how === "update") this.#copyAside(folder, name);
    const handle = port.openFile(folder.at(name), how);
    try {
      if (how === "update") {
        port.truncate(handle, 0);
        this.#fill(handle, was);
      }
      this.dress(handle, was);
    } finally {
      port.close(handle);
    }
  }

  #copyAside(folder: Folder, name: string): void {
    const { root, images, rescue, rescueFolder } = this.#ground;
    const kept = images.keep(folder.at(name));
    if (kept === undefined) return;
    const aside = this.#freshAside();
    const handle = root.port.openFile(rescueFolder.at(aside), "create");
    try {
      this.#copy(handle, kept.digest);
    } finally {
      root.port.close(handle);
    }
    rescue.note(aside, { path: [...folder.names, name].join("/"), whose: "theirs" });
  }

  #fill(handle: number, { digest }: Known): void {
    if (digest !== undefined) this.#copy(handle, digest);
  }

  #copy(handle: number, digest: BlobName): void {
    let at = 0;
    for (const piece of this.#ground.images.read(digest)) {
      writeAll(this.#ground.root.port, handle, piece, at);
      at += piece.length;
    }
  }

  /** First the owner, then the mode, then the time: each changes what comes after it. */
  dress(handle: number, { stat }: Known): void {
    const { port } = this.#ground.root;
    const now = port.statOpen(handle);
    if (now.uid !== stat.uid || now.gid !== stat.gid) port.owner(handle, stat.uid, stat.gid);
    if (port.statOpen(handle).mode !== stat.mode) port.mode(handle, stat.mode);
    if (port.statOpen(handle).mtimeNs !== stat.mtimeNs) port.written(handle, stat.mtimeNs);
  }

  /** A name of the same file that was never taken away, or that is back already. */
  #otherName(was: Known, path: string): string | undefined {
    const file = fileOf(was);
    const back = this.#shared.get(file);
    if (back !== undefined) return back;
    const { root } = this.#ground;
    for (const other of this.#namesOf().get(file) ?? []) {
      if (other === path) continue;
      const now = root.port.stat(`${root.path}/${other}`);
      if (now !== undefined && now.ino === was.stat.ino && now.dev === was.stat.dev) return other;
    }
    return undefined;
  }

  /** Gathered once: a package manager may give every file of a large tree a second name, elsewhere. */
  #namesOf(): ReadonlyMap<string, readonly string[]> {
    if (this.#names !== undefined) return this.#names;
    const names = new Map<string, string[]>();
    for (const [path, known] of this.#manifest) {
      if (known.stat.links < 2) continue;
      const others = names.get(fileOf(known));
      if (others === undefined) names.set(fileOf(known), [path]);
      else others.push(path);
    }
    this.#names = names;
    return names;
  }

  /** An attempt that was cut off has counted, too: under its names lies what may be the only copy of somebody's work. */
  #freshAside(): string {
    const { root, rescueFolder, id } = this.#ground;
    const isTaken = (name: string) => root.port.stat(rescueFolder.at(name)) !== undefined;
    do this.#moved += 1;
    while (isTaken(`${id}-${this.#moved}`));
    return `${id}-${this.#moved}`;
  }

  #in<T>(path: string, work: (folder: Folder, name: string) => T): T {
    return this.#ground.root.insideParent(namesIn(path), work);
  }
}

function fileOf({ stat }: Known): string {
  return `${stat.dev}:${stat.ino}`;
}
