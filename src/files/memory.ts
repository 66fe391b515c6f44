import type { Bytes } from "../contracts/blob-store.ts";
import type { FileEntry, FileStat, Filesystem } from "../contracts/filesystem.ts";
import type { Snapshotable } from "../state/resources.ts";
import { filesystemOver } from "./filesystem.ts";
import { EMPTY_FOLDER, type TreeFolder } from "./tree.ts";

/** A whole tree at one moment, by reference. */
export interface FilesystemSnapshot {
  readonly tag?: string;
  readonly tree: TreeFolder;
}

/** Files that live in memory and nowhere else. A snapshot is a reference; what changes afterwards is shared but for itself. */
export class InMemoryFilesystem implements Filesystem, Snapshotable<FilesystemSnapshot> {
  #tree: TreeFolder = EMPTY_FOLDER;
  readonly #files: Filesystem = filesystemOver({
    look: (_, see) => ({ saw: see(this.#tree), tree: this.#tree }),
    change: (redo) => {
      this.#tree = redo(this.#tree);
    },
  });

  read(path: string): Promise<Bytes> {
    return this.#files.read(path);
  }

  readText(path: string): Promise<string> {
    return this.#files.readText(path);
  }

  write(path: string, bytes: Bytes): Promise<void> {
    return this.#files.write(path, bytes);
  }

  writeText(path: string, text: string): Promise<void> {
    return this.#files.writeText(path, text);
  }

  delete(path: string, options?: { readonly recursive?: boolean }): Promise<void> {
    return this.#files.delete(path, options);
  }

  move(from: string, to: string): Promise<void> {
    return this.#files.move(from, to);
  }

  list(path?: string): Promise<readonly FileEntry[]> {
    return this.#files.list(path);
  }

  exists(path: string): Promise<boolean> {
    return this.#files.exists(path);
  }

  stat(path: string): Promise<FileStat> {
    return this.#files.stat(path);
  }

  mkdir(path: string): Promise<void> {
    return this.#files.mkdir(path);
  }

  snapshot(options: { readonly tag?: string } = {}): FilesystemSnapshot {
    return { ...options, tree: this.#tree };
  }

  restore(snapshot: FilesystemSnapshot): void {
    this.#tree = snapshot.tree;
  }
}
