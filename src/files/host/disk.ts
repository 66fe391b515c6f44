import { setImmediate as nextTurn } from "node:timers/promises";
import { HoldfastError } from "../../base/errors.ts";
import type { ByteRange, Bytes } from "../../contracts/blob-store.ts";
import type { FileEntry } from "../../contracts/filesystem.ts";
import { nameOfBytes } from "../../records/blob-name.ts";
import { ABSENT, type HostEntry, ownerIn } from "./entry.ts";
import type { Folder, HostRoot } from "./folders.ts";
import { placesIn, type Stored } from "./guard.ts";
import { ChunkHasher } from "./hasher.ts";
import { isAt, isOwn, isOwnName, OWN_FOLDER, type OwnPlace } from "./own.ts";
import { type HostPort, type HostStat, isSystem, isText, linkTarget, nameText } from "./port.ts";
import { HELD, wholeOf } from "./read-file.ts";

const PIECE = 1024 * 1024;
/** A file that changes under every look is read as it is after so many: its writer will be noticed at the commit. */
const STEADY_LOOKS = 3;

/** A file as it was found, with what the system said of it when it had been read. */
export interface FoundFile {
  readonly entry: HostEntry & { readonly kind: "file" };
  readonly bytes?: Uint8Array;
  readonly stat: HostStat;
}

interface OpenFile {
  readonly handle: number;
  readonly stat: HostStat;
}

/** The folder of the system as it is, path by path. Nothing here follows a link, and nothing leaves the root. */
export class Disk {
  readonly root: HostRoot;
  readonly #port: HostPort;
  /** What is ours inside the workspace and outside our own folder: it is no part of it. */
  readonly #own: readonly OwnPlace[];
  readonly #exact: boolean;

  constructor(root: HostRoot, own: readonly OwnPlace[], options: { readonly caseMatters: boolean }) {
    this.root = root;
    this.#port = root.port;
    this.#own = own;
    this.#exact = options.caseMatters;
  }

  /** Whether `A` and `a` are two names here, and any name can be made. */
  get exact(): boolean {
    return this.#exact && this.#port.platform !== "win32";
  }

  isOwn(names: readonly string[]): boolean {
    return isOwn(names, this.#own);
  }

  /** The same of a path, quickly: a walk asks of every name. */
  isOwnPath(path: string): boolean {
    return (this.#own.length > 0 || /\.holdfast/i.test(path)) && this.isOwn(path.split("/"));
  }

  /** What there is of a store that lies among the user's files, by path: it is within reach of whatever walks through them. */
  stores(): readonly string[] {
    return this.#own.flatMap((place) => {
      const names = place.path.split("/").slice(0, -1);
      const lying = this.root.within(names, (folder) => this.#textNames(folder)) ?? [];
      return lying.map((name) => [...names, name].join("/")).filter((path) => isAt(path, place));
    });
  }

  /** The same, and what may come while somebody walks there. */
  storesToCome(): readonly string[] {
    const isThere = (folder: readonly string[]) => this.root.within(folder, () => true) === true;
    const coming = this.#own.flatMap(({ path, coming: ends }) =>
      isThere(path.split("/").slice(0, -1)) ? ends.map((end) => `${path}${end}`) : [],
    );
    return [...new Set([...this.stores(), ...coming])];
  }

  /** What the system says of a name; undefined when there is nothing under exactly this name. */
  stat(names: readonly string[]): HostStat | undefined {
    if (names.length === 0) return this.#port.stat(this.root.path);
    return this.#inFolder(names, (folder, name) => {
      const found = this.#port.stat(folder.at(name));
      return found === undefined || this.#hasName(folder, name) ? found : undefined;
    });
  }

  /** On a system where `A` and `a` are one name: the name that stands in the way of this one, if any. */
  rivalOf(names: readonly string[]): string | undefined {
    if (this.#exact) return undefined;
    return this.#inFolder(names, (folder, name) => {
      if (this.#port.stat(folder.at(name)) === undefined) return undefined;
      return this.#textNames(folder).find((other) => other !== name && other.toLowerCase() === name.toLowerCase());
    });
  }

  readLink(names: readonly string[]): string {
    return this.#inFolder(names, (folder, name) => this.#port.readLink(folder.at(name))) ?? "";
  }

  #target(names: readonly string[]): string {
    const target = this.#inFolder(names, (folder, name) => ({ is: linkTarget(this.#port, folder.at(name)) }));
    if (target !== undefined && target.is === undefined)
      throw new HoldfastError("FILE_NOT_COVERED", {
        path: names.join("/"),
        holds: "a link to what has no name in text",
      });
    return target?.is ?? "";
  }

  /**
   * Everything that must be equal for a path to be unchanged. Reads a file whole. Where one is expected it is opened at
   * once; anything else is looked at first, for whoever waits at a pipe would take it for a reader.
   */
  async entry(names: readonly string[], expected?: HostEntry): Promise<HostEntry> {
    const file = expected?.kind === "file" ? await this.file(names, HELD) : undefined;
    if (file !== undefined) return file.entry;
    const stat = this.stat(names);
    if (stat === undefined) return ABSENT;
    if (stat.kind === "folder") return { kind: "folder", mode: stat.mode };
    if (stat.kind === "link") return { kind: "link", target: this.#target(names) };
    if (stat.kind === "other") throw new HoldfastError("FILE_SPECIAL", { path: names.join("/") });
    return (await this.file(names, HELD))?.entry ?? ABSENT;
  }

  /** What is expected to be a file; with its bytes, when they are no more than `hold`. Undefined when it is none. */
  file(names: readonly string[], hold: number): Promise<FoundFile | undefined> {
    return this.#steady(() => this.#open(names), hold);
  }

  /** The same in a folder of ours that is held open, wherever it is. */
  fileIn(folder: Folder, name: string, hold: number): Promise<FoundFile | undefined> {
    return this.#steady(() => this.#openIn(folder, name), hold);
  }

  async #steady(open: () => OpenFile | undefined, hold: number): Promise<FoundFile | undefined> {
    for (let look = 1; ; look += 1) {
      const opened = open();
      if (opened === undefined) return undefined;
      const { handle, stat: before } = opened;
      try {
        const read =
          before.size <= hold ? { bytes: wholeOf(this.#port, handle, before.size) } : await this.#hashed(handle);
        const after = this.#port.statOpen(handle);
        if (sameMoment(before, after) || look === STEADY_LOOKS)
          return { ...read, entry: fileEntry(this.#port, after, read), stat: after };
      } finally {
        this.#port.close(handle);
      }
    }
  }

  async *stream(names: readonly string[], range?: ByteRange): AsyncIterable<Bytes> {
    const opened = this.#open(names);
    if (opened === undefined) throw new HoldfastError("FILE_NOT_FOUND", { path: names.join("/") });
    const { handle } = opened;
    try {
      const to = range?.to ?? Number.POSITIVE_INFINITY;
      const { size } = opened.stat;
      for (let at = range?.from ?? 0; at < to; ) {
        const piece = new Uint8Array(Math.min(PIECE, to - at, Math.max(size - at, 1)));
        const got = this.#port.read(handle, piece, 0, piece.length, at);
        if (got === 0) return;
        at += got;
        yield piece.subarray(0, got);
      }
    } finally {
      this.#port.close(handle);
    }
  }

  /** In the order of names. What is ours is not shown, nor what has no name in text, which `unnamed` hears the number of. */
  list(names: readonly string[], unnamed?: (count: number) => void): readonly FileEntry[] {
    const entries = this.root.within(names, (folder) =>
      this.#textNames(folder, unnamed)
        .filter((name) => !this.isOwn([...names, name]))
        .toSorted()
        .flatMap((name): FileEntry[] => {
          const found = this.#port.stat(folder.at(name));
          return found === undefined ? [] : [{ name, kind: found.kind }];
        }),
    );
    return entries ?? [];
  }

  /** Names in a folder that no listing shows: no text, or ours. They cannot be kept, so nothing that holds one goes. */
  hidden(names: readonly string[]): number {
    const all = this.root.within(names, (folder) => this.#port.names(folder.at()).length) ?? 0;
    return all - this.list(names).length;
  }

  #open(names: readonly string[]): OpenFile | undefined {
    const name = names.at(-1);
    if (name === undefined) return undefined;
    return this.root.looking(names.slice(0, -1), (folder) => {
      const opened = this.#openIn(folder, name);
      try {
        folder.mustBeHere();
        return opened;
      } catch (error) {
        if (opened !== undefined) this.#port.close(opened.handle);
        throw error;
      }
    });
  }

  #openIn(folder: Folder, name: string): OpenFile | undefined {
    const handle = openedFile(this.#port, folder.at(name));
    if (handle === undefined) return undefined;
    try {
      const stat = this.#port.statOpen(handle);
      if (stat.kind === "file" && this.#hasName(folder, name)) return { handle, stat };
    } catch (error) {
      this.#port.close(handle);
      throw error;
    }
    this.#port.close(handle);
    return undefined;
  }

  async #hashed(handle: number): Promise<{ readonly hasher: ChunkHasher }> {
    const hasher = new ChunkHasher();
    const piece = new Uint8Array(PIECE);
    for (let at = 0; ; ) {
      const got = this.#port.read(handle, piece, 0, piece.length, at);
      if (got === 0) return { hasher };
      hasher.add(piece.subarray(0, got));
      at += got;
      await nextTurn(); // a large file is no reason to stop everybody else
    }
  }

  #inFolder<T>(names: readonly string[], work: (folder: Folder, name: string) => T): T | undefined {
    return names.length === 0 ? undefined : this.root.withinParent(names, work);
  }

  #hasName(folder: Folder, name: string): boolean {
    return this.#exact || this.#textNames(folder).includes(name);
  }

  #textNames(folder: Folder, unnamed?: (count: number) => void): readonly string[] {
    const all = this.#port.names(folder.at());
    const names = all.filter((name) => isText(name));
    if (names.length < all.length) unnamed?.(all.length - names.length);
    return names.map(nameText).filter((name) => !isOwnName(name));
  }
}

/** The folder of a workspace, which has our own folder in it: found under that name in other letters, `A` and `a` are one. */
export function diskIn(root: HostRoot, store: Stored): Disk {
  const caseMatters = root.port.stat(`${root.path}/${OWN_FOLDER.toUpperCase()}`) === undefined;
  return new Disk(root, placesIn(root.path, store), { caseMatters });
}

/** Undefined for what is no file. What is one and cannot be opened is told. */
function openedFile(port: HostPort, path: string): number | undefined {
  try {
    return port.openFile(path, "read");
  } catch (error) {
    if (isSystem(error, "ENOENT") || port.stat(path)?.kind !== "file") return undefined;
    throw error;
  }
}

function fileEntry(
  { user }: HostPort,
  stat: HostStat,
  read: { readonly bytes: Uint8Array } | { readonly hasher: ChunkHasher },
): HostEntry & { readonly kind: "file" } {
  const content =
    "bytes" in read
      ? { digest: nameOfBytes(read.bytes), size: read.bytes.length }
      : { digest: read.hasher.name(), size: read.hasher.size };
  return { kind: "file", ...content, mode: stat.mode, ...ownerIn(stat, user) };
}

function sameMoment(a: HostStat, b: HostStat): boolean {
  return a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs;
}
