import type { Filesystem } from "../contracts/filesystem.ts";
import type { Snapshotable } from "../state/resources.ts";
import { filesystemOver } from "./filesystem.ts";
import { EMPTY_FOLDER, type TreeFolder } from "./tree.ts";
import { treeLayer } from "./tree-layer.ts";

/** A whole tree at one moment, held by reference. */
export interface FilesystemSnapshot {
  readonly tag?: string;
  readonly tree: TreeFolder;
}

/** A filesystem in memory. A snapshot is a reference: later changes copy only what they touch. */
export class InMemoryFilesystem implements Filesystem, Snapshotable<FilesystemSnapshot> {
  #tree: TreeFolder = EMPTY_FOLDER;
  readonly #files: Filesystem = filesystemOver(
    treeLayer({
      look: (_, see) => ({ saw: see(this.#tree), tree: this.#tree }),
      peek: () => this.#tree,
      change: (redo) => {
        this.#tree = redo(this.#tree);
      },
    }),
  );
  readonly limits: Filesystem["limits"] = this.#files.limits;
  readonly read: Filesystem["read"] = (path) => this.#files.read(path);
  readonly readText: Filesystem["readText"] = (path) => this.#files.readText(path);
  readonly readStream: Filesystem["readStream"] = (path, range) => this.#files.readStream(path, range);
  readonly write: Filesystem["write"] = (path, bytes) => this.#files.write(path, bytes);
  readonly writeText: Filesystem["writeText"] = (path, text) => this.#files.writeText(path, text);
  readonly writeStream: Filesystem["writeStream"] = (path, source) => this.#files.writeStream(path, source);
  readonly edit: Filesystem["edit"] = (path, edits) => this.#files.edit(path, edits);
  readonly delete: Filesystem["delete"] = (path, options) => this.#files.delete(path, options);
  readonly move: Filesystem["move"] = (from, to) => this.#files.move(from, to);
  readonly list: Filesystem["list"] = (path, options) => this.#files.list(path, options);
  readonly glob: Filesystem["glob"] = (pattern, options) => this.#files.glob(pattern, options);
  readonly grep: Filesystem["grep"] = (find, options) => this.#files.grep(find, options);
  readonly exists: Filesystem["exists"] = (path) => this.#files.exists(path);
  readonly stat: Filesystem["stat"] = (path) => this.#files.stat(path);
  readonly mkdir: Filesystem["mkdir"] = (path) => this.#files.mkdir(path);
  readonly chmod: Filesystem["chmod"] = (path, mode) => this.#files.chmod(path, mode);
  readonly link: Filesystem["link"] = (path, target) => this.#files.link(path, target);

  snapshot(options: { readonly tag?: string } = {}): FilesystemSnapshot {
    return { ...options, tree: this.#tree };
  }

  restore(snapshot: FilesystemSnapshot): void {
    this.#tree = snapshot.tree;
  }
}
