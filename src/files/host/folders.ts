import { join } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import { type HostPort, type HostStat, isSystem } from "./port.ts";

/** An open folder of the workspace. What is done through it happens in this very folder, whatever becomes of its path. */
export interface Folder {
  readonly names: readonly string[];
  readonly handle: number;
  /** What the system is to be asked for a name in this folder; for the folder itself without one. */
  at(name?: string): string;
  /** Throws when the folder is no longer where it was found: somebody moved it, or put a link in its place. */
  mustBeHere(): void;
  close(): void;
}

interface KeptFolder {
  readonly handle: number;
  users: number;
  gone: boolean;
}

/** Handles are few; a call works in few folders. */
const KEPT_OPEN = 24;

/** The folder every path is below, held open: from here on its name is not asked for again. */
export class HostRoot {
  readonly port: HostPort;
  readonly path: string;
  readonly dev: bigint;
  readonly #handle: number;
  /** Folders that are open, by path, the one used last at the end. */
  readonly #kept = new Map<string, KeptFolder>();
  /** Folders that were seen in their place since the process last waited for anything. */
  readonly #seen = new Set<number>();
  /** Where the root was when it was last asked. */
  #where = "";

  constructor(port: HostPort, path: string) {
    this.port = port;
    this.path = path;
    this.#handle = port.openFolder(path);
    this.dev = port.statOpen(this.#handle).dev;
  }

  /** The folder at a path, reached name by name, never through a link; undefined when there is none. */
  folder(names: readonly string[]): Folder | undefined {
    return this.port.folderName(this.#handle) === undefined ? this.#checked(names) : this.#pinned(names);
  }

  /** The folder at a path, or a typed refusal. */
  mustHave(names: readonly string[]): Folder {
    const folder = this.folder(names);
    if (folder === undefined) throw moved(names);
    return folder;
  }

  /** Work in the folder at a path, which is let go when it is done; undefined when there is none. */
  within<T>(names: readonly string[], work: (folder: Folder) => T): T | undefined {
    const folder = this.folder(names);
    return folder === undefined ? undefined : letGo(folder, work);
  }

  /** The same, with a typed refusal when there is none. */
  inside<T>(names: readonly string[], work: (folder: Folder) => T): T {
    return letGo(this.mustHave(names), work);
  }

  /** Work in the folder that a path lies in, with its last name; undefined when there is none. */
  withinParent<T>(names: readonly string[], work: (folder: Folder, name: string) => T): T | undefined {
    return this.within(names.slice(0, -1), (folder) => work(folder, names.at(-1) ?? ""));
  }

  /** The same, with a typed refusal when there is none. */
  insideParent<T>(names: readonly string[], work: (folder: Folder, name: string) => T): T {
    return this.inside(names.slice(0, -1), (folder) => work(folder, names.at(-1) ?? ""));
  }

  /** What the system says of a path; undefined when nothing is there. */
  stat(names: readonly string[]): HostStat | undefined {
    return this.withinParent(names, (folder, name) => this.port.stat(folder.at(name)));
  }

  /**
   * Work that does not wait, and asks with `mustBeHere` before it believes what it found: a folder that is held open is not
   * asked for before as well. One that turns out to be elsewhere is looked for anew.
   */
  looking<T>(names: readonly string[], work: (folder: Folder) => T): T | undefined {
    const path = names.join("/");
    const known = this.#kept.get(path);
    if (known === undefined) return this.within(names, work);
    this.#kept.delete(path); // and comes to the end
    try {
      return letGo(this.#keep(names, path, known), work);
    } catch (error) {
      if (this.#isAt(known.handle, names)) throw error;
      return this.within(names, work);
    }
  }

  close(): void {
    for (const kept of this.#kept.values()) this.#letGo(kept);
    this.#kept.clear();
    this.port.close(this.#handle);
  }

  /**
   * Name by name from the root, each opened in the one before it. Folders stay open for a while: whether one is still where
   * it was is asked of the system by its handle, which is quicker than opening the way to it again, and once for all that
   * is done without waiting. Whoever changes something asks again, with `mustBeHere`.
   */
  #pinned(names: readonly string[]): Folder | undefined {
    if (names.length === 0) return this.#folderAt(names, { handle: this.#handle, users: 1, gone: false });
    const path = names.join("/");
    const known = this.#kept.get(path);
    if (known !== undefined) {
      this.#kept.delete(path);
      if (this.#seen.has(known.handle) || this.#isAt(known.handle, names)) return this.#keep(names, path, known);
      this.#letGo(known);
    }
    const handle = this.#walk(names);
    return handle === undefined ? undefined : this.#keep(names, path, { handle, users: 0, gone: false });
  }

  #walk(names: readonly string[]): number | undefined {
    const { port } = this;
    let handle = this.#handle;
    for (const name of names) {
      let next: number | undefined;
      try {
        next = openIfFolder(port, `${this.#nameOf(handle)}/${name}`);
      } finally {
        if (handle !== this.#handle) port.close(handle);
      }
      if (next === undefined) return undefined;
      handle = next;
    }
    return handle;
  }

  #keep(names: readonly string[], path: string, kept: KeptFolder): Folder {
    this.#kept.set(path, kept);
    kept.users += 1;
    for (const [oldest, other] of this.#kept) {
      if (this.#kept.size <= KEPT_OPEN) break;
      this.#kept.delete(oldest);
      this.#letGo(other);
    }
    return this.#folderAt(names, kept);
  }

  #folderAt(names: readonly string[], kept: KeptFolder): Folder {
    return {
      names,
      handle: kept.handle,
      at: (name) => (name === undefined ? this.#nameOf(kept.handle) : `${this.#nameOf(kept.handle)}/${name}`),
      mustBeHere: () => {
        if (!this.#isAt(kept.handle, names)) throw moved(names);
      },
      close: () => {
        kept.users -= 1;
        if (kept.gone && kept.users === 0) this.port.close(kept.handle);
      },
    };
  }

  /** Closed when nobody uses it any more: a sync may be under way. */
  #letGo(kept: KeptFolder): void {
    kept.gone = true;
    this.#seen.delete(kept.handle); // its number will be another's
    if (kept.users === 0) this.port.close(kept.handle);
  }

  /** The root may be moved as a whole; what is asked is whether the folder is still where it was in it. */
  #isAt(handle: number, names: readonly string[]): boolean {
    const { port } = this;
    const there = port.readLink(this.#nameOf(handle));
    const whole = names.map((name) => `/${name}`).join("");
    if (there !== `${this.#where}${whole}`) {
      this.#where = trimmed(port.readLink(this.#nameOf(this.#handle)));
      if (there !== `${this.#where}${whole}`) {
        this.#seen.delete(handle);
        return false;
      }
    }
    if (this.#seen.size === 0) queueMicrotask(() => this.#seen.clear());
    this.#seen.add(handle);
    return true;
  }

  #nameOf(handle: number): string {
    return this.port.folderName(handle) ?? "";
  }

  /**
   * Where a folder's handle is no path: its full path, looked at before and after. A swap between two looks that is
   * swapped back goes unnoticed; the guide says so for the systems where it is so.
   */
  #checked(names: readonly string[]): Folder | undefined {
    const { port, path } = this;
    const chain = () => {
      const stats: HostStat[] = [];
      for (let depth = 0; depth <= names.length; depth += 1) {
        const found = port.stat(join(path, ...names.slice(0, depth)));
        if (found?.kind !== "folder") return undefined;
        stats.push(found);
      }
      return stats.map(({ dev, ino }) => `${dev}:${ino}`).join("/");
    };
    const first = chain();
    if (first === undefined) return undefined;
    const whole = join(path, ...names);
    const handle = openIfFolder(port, whole);
    if (handle === undefined) return undefined;
    return {
      names,
      handle,
      at: (name) => (name === undefined ? whole : join(whole, name)),
      mustBeHere: () => {
        if (chain() !== first) throw moved(names);
      },
      close: () => port.close(handle),
    };
  }
}

function letGo<T>(folder: Folder, work: (folder: Folder) => T): T {
  let result: T;
  try {
    result = work(folder);
  } catch (error) {
    folder.close();
    throw error;
  }
  if (result instanceof Promise) return result.finally(() => folder.close()) as T;
  folder.close();
  return result;
}

function openIfFolder(port: HostPort, path: string): number | undefined {
  try {
    return port.openFolder(path);
  } catch (error) {
    if (isSystem(error, "ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG")) return undefined;
    throw error;
  }
}

function trimmed(path: string): string {
  return path === "/" ? "" : path;
}

function moved(names: readonly string[]): HoldfastError {
  const path = names.join("/").slice(0, 200);
  return new HoldfastError("FILE_BAD_PATH", { path, fault: "a folder on the way was moved or became a link" });
}
