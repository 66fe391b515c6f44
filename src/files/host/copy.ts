import { copyFileSync, constants } from "node:fs";
import { join } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import type { Bytes } from "../../contracts/blob-store.ts";
import type { FileEntry } from "../../contracts/filesystem.ts";
import { namesIn } from "../path.ts";
import type { Disk } from "./disk.ts";
import type { HostEntry } from "./entry.ts";
import { hostError, inOurWords } from "./failures.ts";
import { type Folder, HostRoot } from "./folders.ts";
import { writeAll } from "./meta.ts";
import { type HostPort, type HostStat, isSystem, linkTarget } from "./port.ts";

type ContentOf = (entry: HostEntry & { readonly kind: "file" }, path: string) => AsyncIterable<Bytes>;
type Owner = readonly [number, number];

/** A copy, and what is not in it as it was. */
export interface Copied {
  /** What cannot be copied: pipes, sockets, devices, names that are no text, links to such, what may not be read. */
  readonly left: readonly string[];
  /** What belongs to somebody else there, and here to whoever copied it: the system gives nothing away for a common user. */
  readonly reowned: readonly string[];
  /** For whoever finds no use for it: takes it away again, and throws that failure. */
  readonly takeAway: (failure: unknown) => never;
}

/**
 * A copy of the workspace in a folder of its own, with some paths as they were at another time: all of it, durable, or
 * nothing. `sync` makes everything durable that lies on the file system of a path.
 */
export async function copyWorkspace(
  disk: Disk,
  target: string,
  at: ReadonlyMap<string, HostEntry>,
  content: ContentOf,
  sync: (path: string) => Promise<void>,
): Promise<Copied> {
  const { port } = disk.root;
  const isNew = await inOurWords(target, async () => makeEmpty(port, target));
  const takeAway = (failure: unknown) => removeCopy(port, target, isNew, failure);
  try {
    const root = new HostRoot(port, target);
    try {
      const copy = new Copy(disk, root, at);
      await copy.make(content, isNew);
      await sync(target); // before anybody is told that it is there
      return { left: copy.left, reowned: copy.reowned, takeAway };
    } finally {
      root.close();
    }
  } catch (error) {
    return takeAway(hostError(error, target));
  }
}

/** Nobody else looks into a folder that is being filled, and its owner can fill it, whatever its mode will be. */
const BEING_FILLED = 0o700;
const RUNS_AS_ITS_OWNER = 0o6000;

class Copy {
  readonly left: string[] = [];
  readonly reowned: string[] = [];
  readonly #disk: Disk;
  readonly #root: HostRoot;
  readonly #port: HostPort;
  readonly #at: ReadonlyMap<string, HostEntry>;
  /** Each after the one it lies in. */
  readonly #folders: { readonly names: readonly string[]; readonly mode: number; readonly owner?: Owner }[] = [];

  constructor(disk: Disk, root: HostRoot, at: ReadonlyMap<string, HostEntry>) {
    this.#disk = disk;
    this.#root = root;
    this.#port = root.port;
    this.#at = at;
  }

  async make(content: ContentOf, isNew: boolean): Promise<void> {
    const whole = this.#disk.stat([]);
    if (isNew && whole !== undefined) this.#folders.push({ names: [], mode: whole.mode, owner: ownerIn(whole) });
    this.#copy([]);
    for (const [path, entry] of [...this.#at].toSorted(([a], [b]) => (a < b ? -1 : 1)))
      await inOurWords(path, () => this.#put(path, entry, content));
    // A folder gets its mode when everything is in it, and not from the system's mask.
    for (const { names, mode, owner } of this.#folders.toReversed())
      this.#root.inside(names, ({ handle }) => this.#finish(handle, names.join("/") || ".", mode, owner));
  }

  #copy(folder: readonly string[]): void {
    for (const { name, kind } of this.#listed(folder)) {
      const names = [...folder, name];
      const path = names.join("/");
      const then = this.#at.get(path);
      if (`${this.#disk.root.path}/${path}` === this.#root.path) continue;
      // What was a folder and is one holds what it holds, also when its mode was another.
      if (then !== undefined && (then.kind !== "folder" || kind !== "folder")) continue;
      if (this.#place(names, path) === "folder") this.#copy(names);
    }
  }

  #listed(folder: readonly string[]): readonly FileEntry[] {
    try {
      const list = this.#disk.list(folder);
      if (this.#disk.hidden(folder) > (folder.length === 0 ? 1 : 0)) this.left.push([...folder, "…"].join("/"));
      return list;
    } catch (error) {
      if (!isSystem(error, "EACCES")) throw hostError(error, folder.join("/"));
      this.left.push([...folder, "…"].join("/"));
      return [];
    }
  }

  /** Copies one thing. Answers what it is, or nothing when it has gone meanwhile. */
  #place(names: readonly string[], path: string): HostStat["kind"] | undefined {
    const parent = names.slice(0, -1);
    const name = names.at(-1) ?? "";
    try {
      return this.#disk.root.within(parent, (from) =>
        this.#root.inside(parent, (to) => {
          const stat = this.#port.stat(from.at(name));
          const then = this.#at.get(path);
          if (stat?.kind === "folder")
            this.#makeFolder(to, name, then?.kind === "folder" ? then.mode : stat.mode, ownerIn(stat));
          else if (stat?.kind === "link") this.#copyLink(from.at(name), to.at(name), path);
          else if (stat?.kind === "file") this.#copyFile(from.at(name), to.at(name), stat, path);
          else if (stat !== undefined) this.left.push(path);
          return stat?.kind;
        }),
      );
    } catch (error) {
      throw hostError(error, path);
    }
  }

  #copyLink(from: string, to: string, path: string): void {
    const target = linkTarget(this.#port, from);
    if (target === undefined) this.left.push(path);
    else this.#port.makeLink(target, to);
  }

  #copyFile(from: string, to: string, stat: HostStat, path: string): void {
    const port = this.#port;
    try {
      // Shared with the original until one of them changes, where the file system can.
      copyFileSync(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    } catch (error) {
      if (port.stat(from) === undefined) return; // gone meanwhile
      if (!isSystem(error, "EACCES") || mayRead(port, from)) throw error;
      this.left.push(path);
      return;
    }
    // The system was asked to give it to its owner, and does not say whether it has.
    const isTheirs = isOwner(ownerIn(stat), port.user) || isOwner(ownerIn(stat), port.stat(to) ?? port.user);
    if (!isTheirs) this.reowned.push(path);
    // Writing takes these bits away from what a common user copies, and leaves them on what somebody else then owns.
    if ((stat.mode & RUNS_AS_ITS_OWNER) !== 0) port.modeAt(to, modeFor(stat.mode, isTheirs));
  }

  async #put(path: string, entry: HostEntry, content: ContentOf): Promise<void> {
    if (entry.kind === "absent") return;
    await this.#root.insideParent(namesIn(path), async (folder, name) => {
      if (entry.kind === "link") this.#port.makeLink(entry.target, folder.at(name));
      else if (entry.kind === "file") await this.#write(folder.at(name), entry, content(entry, path), path);
      else if (this.#port.stat(folder.at(name)) === undefined) this.#makeFolder(folder, name, entry.mode);
    });
  }

  async #write(
    to: string,
    { mode, owner }: HostEntry & { readonly kind: "file" },
    content: AsyncIterable<Bytes>,
    path: string,
  ): Promise<void> {
    const handle = this.#port.openFile(to, "create");
    try {
      let written = 0;
      for await (const piece of content) {
        writeAll(this.#port, handle, piece, written);
        written += piece.length;
      }
      this.#finish(handle, path, mode, owner);
    } finally {
      this.#port.close(handle);
    }
  }

  #makeFolder(parent: Folder, name: string, mode: number, owner?: Owner): void {
    this.#port.makeFolder(parent.at(name), BEING_FILLED);
    this.#folders.push({ names: [...parent.names, name], mode, ...(owner === undefined ? {} : { owner }) });
  }

  /** First the owner, then the mode: changing the owner takes the special bits away. */
  #finish(handle: number, path: string, mode: number, owner: Owner | undefined): void {
    const port = this.#port;
    const isTheirs = owner === undefined || isOwner(owner, port.statOpen(handle)) || given(port, handle, owner);
    if (!isTheirs) this.reowned.push(path);
    port.mode(handle, modeFor(mode, isTheirs));
  }
}

function ownerIn({ uid, gid }: HostPort["user"]): Owner {
  return [uid, gid];
}

function isOwner([uid, gid]: Owner, of: HostPort["user"]): boolean {
  return uid === of.uid && gid === of.gid;
}

/** What runs as whoever owns it was not made to run as somebody else. */
function modeFor(mode: number, isTheirs: boolean): number {
  return isTheirs ? mode : mode & ~RUNS_AS_ITS_OWNER;
}

/** False where this process may not give to them, or the system it runs in does not know them. */
function given(port: HostPort, handle: number, owner: Owner): boolean {
  try {
    port.owner(handle, ...owner);
    return true;
  } catch (error) {
    if (!isSystem(error, "EPERM", "EINVAL")) throw error;
    return false;
  }
}

function mayRead(port: HostPort, path: string): boolean {
  try {
    port.close(port.openFile(path, "read"));
    return true;
  } catch (error) {
    if (!isSystem(error, "EACCES")) throw error;
    return false;
  }
}

/** A folder that is not there yet, or holds nothing: nobody's files are mixed with a copy. Answers whether it is new. */
function makeEmpty(port: HostPort, target: string): boolean {
  try {
    port.makeFolder(target, BEING_FILLED);
    return true;
  } catch (error) {
    if (!isSystem(error, "EEXIST")) throw error;
    if (port.stat(target)?.kind !== "folder" || port.names(target).length > 0)
      throw new HoldfastError("FILE_EXISTS", { path: target });
    return false;
  }
}

/** Half a copy would be in the way of the next one. A folder that was there before stays, as empty as it was. */
function removeCopy(port: HostPort, target: string, isNew: boolean, failure: unknown): never {
  try {
    const made = isNew ? [target] : port.textNames(target).map((name) => join(target, name));
    for (const path of made) port.removeTree(path);
  } catch (error) {
    throw new HoldfastError("FORK_LEFT_BEHIND", { folder: target }, { cause: new AggregateError([failure, error]) });
  }
  throw failure;
}
