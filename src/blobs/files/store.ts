import { join, resolve } from "node:path";
import { type Clock, SystemClock } from "../../base/clock.ts";
import { bothErrors, HoldfastError } from "../../base/errors.ts";
import { BOOLEAN, checkOptions, OBJECT } from "../../base/options.ts";
import { type Random, SystemRandom } from "../../base/random.ts";
import type { BlobStore, ByteSource } from "../../contracts/blob-store.ts";
import { nameOfBytes } from "../../records/blob-name.ts";
import { type BlobName, toBlobName } from "../../records/ids.ts";
import type { BlobRef } from "../../records/kinds.ts";
import { fileError } from "./failures.ts";
import { folderMaker, syncFolder } from "./folders.ts";
import { contentSize } from "./layout.ts";
import { type FilePort, isCode, realFiles } from "./port.ts";
import { readBlob } from "./read.ts";
import { writeTemporary } from "./write.ts";

/** Options of `fileBlobs`. */
export interface FileBlobsOptions {
  /** The file operations to use. Default: those of the system. */
  readonly files?: FilePort;
  /** Default: the system's clock. */
  readonly clock?: Clock;
  /** Default: the system's randomness. */
  readonly random?: Random;
  /** `false` skips all syncs: content then survives the death of the process, but not a power loss. Default `true`. */
  readonly sync?: boolean;
}

const TEMPORARY = "tmp";

/**
 * A blob store that keeps each blob as a file in `folder`, named by its digest (`ab/sha256-ab…`). A blob is written to
 * a temporary file, synced and renamed into place, and its folder is synced, before it is named.
 */
export function fileBlobs(folder: string, options: FileBlobsOptions = {}): BlobStore {
  checkOptions(options, { files: OBJECT, clock: OBJECT, random: OBJECT, sync: BOOLEAN });
  const { files = realFiles, clock = new SystemClock(), random = new SystemRandom(), sync = true } = options;
  const makeFolder = folderMaker(files, sync);
  const shelfOf = (name: BlobName) => join(folder, name.slice(name.indexOf("-") + 1).slice(0, 2));
  /** Only for proper names: any other text could lead anywhere on the disk. */
  const pathOf = (name: BlobName) => join(shelfOf(toBlobName(name)), name);

  async function put(source: ByteSource, signal?: AbortSignal): Promise<BlobRef> {
    signal?.throwIfAborted();
    const known = source instanceof Uint8Array ? { name: nameOfBytes(source), size: source.length } : undefined;
    if (known !== undefined && (await isWhole(known)) && (await keepExisting(known))) return known;
    const temporary = join(folder, TEMPORARY, `${random.hex(16)}.part`);
    try {
      await makeFolder(folder);
      await makeFolder(join(folder, TEMPORARY));
      const ref = await writeTemporary(files, temporary, source, { sync, signal });
      await makeFolder(shelfOf(ref.name));
      await files.rename(temporary, pathOf(ref.name)); // the same content, so replacing it is safe and heals a damaged copy
      if (sync) await syncFolder(files, shelfOf(ref.name));
      return ref;
    } catch (error) {
      try {
        await files.unlink(temporary);
      } catch (second) {
        if (!isCode(second, "ENOENT", "ENOTDIR")) throw bothErrors(error, second, fileError(error, folder));
      }
      throw fileError(error, folder);
    }
  }

  async function isWhole(ref: BlobRef): Promise<boolean> {
    if (!files.existsSync(pathOf(ref.name))) return false;
    try {
      for await (const _ of readBlob(files, pathOf(ref.name), ref.name)) continue;
      return true;
    } catch (error) {
      if (HoldfastError.is(error)) return false; // damaged, unreadable or gone meanwhile: it is written anew
      throw error;
    }
  }

  /**
   * Touched, so that a sweep takes it for fresh; the folder synced, because whoever put it may not have come so far.
   * False when a sweep was faster.
   */
  async function keepExisting(ref: BlobRef): Promise<boolean> {
    try {
      const now = clock.now() / 1000;
      await files.utimes(pathOf(ref.name), now, now);
      if (!sync) return true;
      await makeFolder(folder);
      await makeFolder(shelfOf(ref.name));
      await syncFolder(files, shelfOf(ref.name));
      return true;
    } catch (error) {
      if (isCode(error, "ENOENT")) return false;
      throw fileError(error, folder);
    }
  }

  async function* list(before?: number): AsyncIterable<BlobRef> {
    for (const shelf of await entriesOf(files, folder)) {
      if (!/^[0-9a-f]{2}$/.test(shelf)) continue;
      for (const entry of await entriesOf(files, join(folder, shelf))) {
        const name = blobNameIn(entry);
        if (name === undefined) continue;
        const found = await statIfThere(files, join(folder, shelf, entry));
        if (found === undefined || (before !== undefined && found.mtimeMs >= before)) continue;
        yield { name, size: contentSize(name, found.size) };
      }
    }
  }

  return {
    place: resolve(folder),
    put,
    list,
    // A generator, so that a bad name is told like every other failure: by the first step.
    async *get(name, range, signal) {
      yield* readBlob(files, pathOf(name), name, range, signal);
    },
    holds: (name) => files.existsSync(pathOf(name)),
    sizeOf(name) {
      const found = files.statSync(pathOf(name));
      return found === undefined ? undefined : contentSize(name, found.size);
    },
    lastPut: (name) => files.statSync(pathOf(name))?.mtimeMs,
    remove(name) {
      const path = pathOf(name);
      try {
        const found = files.statSync(path);
        if (found === undefined) return 0;
        files.unlinkSync(path);
        return found.size;
      } catch (error) {
        if (isCode(error, "ENOENT")) return 0;
        throw fileError(error, path);
      }
    },
    async sweepTemps(before) {
      let bytes = 0;
      for (const entry of await entriesOf(files, join(folder, TEMPORARY))) {
        const path = join(folder, TEMPORARY, entry);
        const found = await statIfThere(files, path);
        if (found === undefined || found.mtimeMs >= before) continue;
        await files.unlink(path).catch((error: unknown) => {
          if (!isCode(error, "ENOENT")) throw fileError(error, folder);
        });
        bytes += found.size;
      }
      return bytes;
    },
  };
}

async function entriesOf(files: FilePort, folder: string): Promise<readonly string[]> {
  try {
    return await files.readdir(folder);
  } catch (error) {
    if (isCode(error, "ENOENT")) return [];
    throw fileError(error, folder);
  }
}

/** Undefined when it was swept, or its put ended, meanwhile. */
async function statIfThere(files: FilePort, path: string) {
  try {
    return await files.stat(path);
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
    throw fileError(error, path);
  }
}

function blobNameIn(entry: string): BlobName | undefined {
  try {
    return toBlobName(entry);
  } catch {
    return undefined; // not ours: left alone
  }
}
