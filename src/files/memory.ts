import type { Filesystem } from "../contracts/filesystem.ts";
import type { Snapshotable } from "../state/resources.ts";
import { filesystemOver } from "./filesystem.ts";
import { EMPTY_FOLDER, type TreeFolder } from "./tree.ts";
import { treeLayer } from "./tree-layer.ts";

/** A whole tree at one moment, by reference. */
export interface FilesystemSnapshot {
  readonly tag?: string;
  readonly tree: TreeFolder;
}

/** Files that live in memory and nowhere else. A snapshot is a reference; what changes afterwards is shared but for itself. */
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
  readonly read: Filesystem["read"] = this.#files.read;
  readonly readText: Filesystem["readText"] = this.#files.readText;
  readonly readStream: Filesystem["readStream"] = this.#files.readStream;
  readonly write: Filesystem["write"] = this.#files.write;
  readonly writeText: Filesystem["writeText"] = this.#files.writeText;
  readonly writeStream: Filesystem["writeStream"] = this.#files.writeStream;
  readonly edit: Filesystem["edit"] = this.#files.edit;
  readonly delete: Filesystem["delete"] = this.#files.delete;
  readonly move: Filesystem["move"] = this.#files.move;
  readonly list: Filesystem["list"] = this.#files.list;
  readonly glob: Filesystem["glob"] = this.#files.glob;
  readonly grep: Filesystem["grep"] = this.#files.grep;
  readonly exists: Filesystem["exists"] = this.#files.exists;
  readonly stat: Filesystem["stat"] = this.#files.stat;
  readonly mkdir: Filesystem["mkdir"] = this.#files.mkdir;
  readonly chmod: Filesystem["chmod"] = this.#files.chmod;
  readonly link: Filesystem["link"] = this.#files.link;

  snapshot(options: { readonly tag?: string } = {}): FilesystemSnapshot {
    return { ...options, tree: this.#tree };
  }

  restore(snapshot: FilesystemSnapshot): void {
    this.#tree = snapshot.tree;
  }
}
