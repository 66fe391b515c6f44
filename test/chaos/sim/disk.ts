import { basename, dirname } from "node:path";
import type { SeededRandom } from "../../../src/base/random.ts";
import type { FilePort, PortHandle, PortStat } from "../../../src/blobs/files/port.ts";

/** What a disk writes whole or, when the power fails in the middle, in part. */
const SECTOR = 512;

/** A file that only grows: what was synced is safe, what came later is the page cache's. */
export class SimFile {
  #bytes: Buffer = Buffer.alloc(256);
  length = 0;
  synced = 0;
  changedAt = 0;

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }

  append(more: Uint8Array): void {
    const end = this.length + more.length;
    if (end > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(end, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, this.length);
      this.#bytes = larger;
    }
    this.#bytes.set(more, this.length);
    this.length = end;
  }

  sync(): void {
    this.synced = this.length;
  }

  /** Gives up what lies beyond; a shorter file needs no sync to stay short of what was never promised. */
  truncate(length: number): void {
    this.length = length;
    this.synced = Math.min(this.synced, length);
  }

  /**
   * What a disk may hold afterwards: any of the unsynced sectors, in any order, whole, torn or still zero, and a length
   * anywhere between.
   */
  losePower(random: SeededRandom): void {
    const unsynced = this.length - this.synced;
    if (unsynced === 0) return;
    const kept = random.pick([0, unsynced, random.below(unsynced + 1)]);
    this.length = this.synced + kept;
    for (let at = this.synced; at < this.length; at = Math.floor(at / SECTOR + 1) * SECTOR) {
      const end = Math.min(Math.floor(at / SECTOR + 1) * SECTOR, this.length);
      const fate = random.below(4);
      if (fate === 0) this.#bytes.fill(0, at, end);
      if (fate === 1) this.#bytes.fill(0, at + random.below(end - at + 1), end);
    }
    this.synced = this.length;
  }
}

class SimFolder {
  names = new Map<string, SimFile | SimFolder>();
  #synced: ReadonlyMap<string, SimFile | SimFolder> = new Map();

  sync(): void {
    this.#synced = new Map(this.names);
  }

  /** Each name that came or went since the last sync may have reached the disk, or not. */
  losePower(random: SeededRandom): void {
    for (const name of new Set([...this.names.keys(), ...this.#synced.keys()])) {
      const [now, then] = [this.names.get(name), this.#synced.get(name)];
      if (now === then || random.below(2) === 0) continue;
      if (then === undefined) this.names.delete(name);
      else this.names.set(name, then);
    }
    this.sync();
    for (const node of this.names.values()) node.losePower(random);
  }
}

/** A disk with a page cache. A killed process loses nothing of it; a power cut takes what was not synced. */
export class SimDisk implements FilePort {
  readonly #root = new SimFolder();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  losePower(random: SeededRandom): void {
    this.#root.losePower(random);
  }

  /** The file at a path, made durably there when there is none. */
  logAt(path: string): SimFile {
    const parent = this.#folder(dirname(path));
    const found = parent.names.get(basename(path));
    if (found instanceof SimFile) return found;
    const file = new SimFile();
    parent.names.set(basename(path), file);
    parent.sync();
    return file;
  }

  async open(path: string, flags: "r" | "wx"): Promise<PortHandle> {
    const parent = this.#folder(dirname(path));
    let node = path === "/" ? this.#root : parent.names.get(basename(path));
    if (flags === "wx") {
      if (node !== undefined) throw failure("EEXIST");
      node = new SimFile();
      node.changedAt = this.#now();
      parent.names.set(basename(path), node);
    }
    if (node === undefined) throw failure("ENOENT");
    return handleOn(node);
  }

  async rename(from: string, to: string): Promise<void> {
    const [source, target] = [this.#folder(dirname(from)), this.#folder(dirname(to))];
    const node = source.names.get(basename(from));
    if (node === undefined) throw failure("ENOENT");
    source.names.delete(basename(from));
    target.names.set(basename(to), node);
  }

  async unlink(path: string): Promise<void> {
    this.unlinkSync(path);
  }

  async mkdir(path: string): Promise<void> {
    const parent = this.#folder(dirname(path));
    if (parent.names.has(basename(path))) throw failure("EEXIST");
    parent.names.set(basename(path), new SimFolder());
  }

  async readdir(path: string): Promise<string[]> {
    return [...this.#folder(path).names.keys()].sort();
  }

  async stat(path: string): Promise<PortStat> {
    const file = this.#file(path);
    return { size: file.length, mtimeMs: file.changedAt };
  }

  async utimes(path: string, _accessed: number, changed: number): Promise<void> {
    this.#file(path).changedAt = changed * 1000;
  }

  existsSync(path: string): boolean {
    try {
      return path === "/" || this.#folder(dirname(path)).names.has(basename(path));
    } catch {
      return false; // a folder on the way is missing
    }
  }

  statSync(path: string): PortStat | undefined {
    if (!this.existsSync(path)) return undefined;
    const { length, changedAt } = this.#file(path);
    return { size: length, mtimeMs: changedAt };
  }

  unlinkSync(path: string): void {
    this.#file(path);
    this.#folder(dirname(path)).names.delete(basename(path));
  }

  #folder(path: string): SimFolder {
    if (path === "/") return this.#root;
    const node = this.#folder(dirname(path)).names.get(basename(path));
    if (node instanceof SimFolder) return node;
    throw failure(node === undefined ? "ENOENT" : "ENOTDIR");
  }

  #file(path: string): SimFile {
    const node = this.#folder(dirname(path)).names.get(basename(path));
    if (node instanceof SimFile) return node;
    throw failure(node === undefined ? "ENOENT" : "EISDIR");
  }
}

function handleOn(node: SimFile | SimFolder): PortHandle {
  const file = node instanceof SimFile ? node : new SimFile();
  return {
    write: async (bytes, offset, length) => {
      file.append(bytes.subarray(offset, offset + length));
      return { bytesWritten: length };
    },
    read: async (bytes, offset, length, position) => ({
      bytesRead: file.bytes.copy(bytes, offset, position, position + length),
    }),
    stat: async () => ({ size: file.length }),
    sync: async () => node.sync(),
    close: async () => {},
  };
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code, syscall: "simulated" });
}
