import type { Bytes } from "../../contracts/blob-store.ts";
import { nameOfBytes } from "../../records/blob-name.ts";
import type { BlobName } from "../../records/ids.ts";
import type { Folder } from "./folders.ts";
import { writeAll } from "./meta.ts";
import { type HostPort, nameText } from "./port.ts";
import { HELD, hashOpen, piecesIn, readingFile, wholeOf } from "./read-file.ts";
import { unlinkIfThere } from "./rescue.ts";

const COMING = "coming-";

/**
 * Content of the workspace by its name, in a folder of ours: what a command may be about to change. A file is under its
 * name only when it is whole, so whatever is found there can be put back.
 */
export class Images {
  readonly #port: HostPort;
  readonly #folder: Folder;
  readonly #there: Set<string>;
  /** Put since the last sync. */
  #fresh: string[] = [];

  constructor(port: HostPort, folder: Folder) {
    this.#port = port;
    this.#folder = folder;
    this.#there = new Set(port.names(folder.at()).map(nameText));
    for (const name of this.#there) if (name.startsWith(COMING)) this.#remove(name);
  }

  /** The name of a file's content, which is kept. Undefined when the file went, or is no file any more. */
  keep(path: string): { readonly digest: BlobName; readonly size: number } | undefined {
    return readingFile(this.#port, path, (handle, size) => {
      if (size <= HELD) {
        const bytes = wholeOf(this.#port, handle, size);
        const digest = nameOfBytes(bytes);
        if (!this.#there.has(digest)) this.#put(digest, [bytes]);
        return { digest, size: bytes.length };
      }
      const found = hashOpen(this.#port, handle);
      if (!this.#there.has(found.digest)) this.#put(found.digest, piecesIn(this.#port, handle));
      return found;
    });
  }

  *read(digest: BlobName): Iterable<Bytes> {
    const handle = this.#port.openFile(this.#folder.at(digest), "read");
    try {
      yield* piecesIn(this.#port, handle, this.#port.statOpen(handle).size);
    } finally {
      this.#port.close(handle);
    }
  }

  /** Names that are new since the last time this was asked: to be synced before anybody relies on them. */
  takeFresh(): readonly string[] {
    const fresh = this.#fresh;
    this.#fresh = [];
    return fresh;
  }

  /** Forgets everything that is not named. */
  retain(named: ReadonlySet<string>): void {
    for (const name of this.#there) if (!named.has(name)) this.#remove(name);
  }

  #put(digest: BlobName, content: Iterable<Uint8Array>): void {
    const coming = this.#folder.at(`${COMING}${digest}`);
    unlinkIfThere(this.#port, coming); // half of it, from when the disk was full: nothing would ever be kept under this name
    const handle = this.#port.openFile(coming, "create");
    let at = 0;
    try {
      for (const piece of content) {
        writeAll(this.#port, handle, piece, at);
        at += piece.length;
      }
    } finally {
      this.#port.close(handle);
    }
    this.#port.rename(coming, this.#folder.at(digest));
    this.#there.add(digest);
    this.#fresh.push(digest);
  }

  /** Lets the folder go. */
  close(): void {
    this.#folder.close();
  }

  /** Forgotten first: a removal that is reported as failed may have happened, and the same content is kept anew then. */
  #remove(name: string): void {
    this.#there.delete(name);
    unlinkIfThere(this.#port, this.#folder.at(name));
  }
}
