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

/** The folder every path is below, held open: from here on its name is not asked for again. */
export class HostRoot {
  readonly port: HostPort;
  readonly path: string;
  readonly dev: bigint;
  readonly #handle: number;

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

  close(): void {
    this.port.close(this.#handle);
  }

  #pinned(names: readonly string[]): Folder | undefined {
    const { port } = this;
    const nameOf = (handle: number) => port.folderName(handle) ?? "";
    let handle = this.#handle;
    for (const name of names) {
      let next: number | undefined;
      try {
        next = openIfFolder(port, `${nameOf(handle)}/${name}`);
      } finally {
        if (handle !== this.#handle) port.close(handle);
      }
      if (next === undefined) return undefined;
      handle = next;
    }
    const whole = names.map((name) => `/${name}`).join("");
    const here = () => port.readLink(nameOf(handle)) === `${trimmed(port.readLink(nameOf(this.#handle)))}${whole}`;
    const owned = handle !== this.#handle;
    const folder: Folder = {
      names,
      handle,
      at: (name) => (name === undefined ? nameOf(handle) : `${nameOf(handle)}/${name}`),
      mustBeHere: () => {
        if (!here()) throw moved(names);
      },
      close: () => {
        if (owned) port.close(handle);
      },
    };
    return folder;
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
