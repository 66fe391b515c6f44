import { join } from "node:path";
import { type Clock, SystemClock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import { type Random, SystemRandom } from "../../base/random.ts";
import type { BlobStore, ByteSource } from "../../contracts/blob-store.ts";
import { nameOfBytes } from "../../records/blob-name.ts";
import { type BlobName, toBlobName } from "../../records/ids.ts";
import type { BlobRef } from "../../records/kinds.ts";
import { fileError } from "./failures.ts";
import { DurableFolders, syncFile, syncFolder } from "./folders.ts";
import { contentSize } from "./layout.ts";
import { type FilePort, isCode, realFiles } from "./port.ts";
import { readBlob } from "./read.ts";
import { writeTemporary } from "./write.ts";

export interface FileBlobsOptions {
  readonly files?: FilePort;
  readonly clock?: Clock;
  readonly random?: Random;
  /** False skips syncs, for the durability class that survives the process only. */
  readonly sync?: boolean;
}

const TEMPORARY = "tmp";

/** Content as files named by what they hold: `ab/sha256-ab…`. Written beside, synced, renamed, folder synced, then named. */
export function fileBlobs(folder: string, options: FileBlobsOptions = {}): BlobStore {
  const { files = realFiles, clock = new SystemClock(), random = new SystemRandom(), sync = true } = options;
  const folders = new DurableFolders(files, sync);
  const shelfOf = (name: BlobName) => join(folder, name.slice(name.indexOf("-") + 1).slice(0, 2));
  const pathOf = (name: BlobName) => join(shelfOf(name), name);

  async function put(source: ByteSource, signal?: AbortSignal): Promise<BlobRef> {
    if (source instanceof Uint8Array) {
      const ref = { name: nameOfBytes(source), size: source.length };
      if (await isWhole(ref)) return keepExisting(ref);
    }
    const temporary = join(folder, TEMPORARY, `${random.hex(16)}.part`);
    try {
      await folders.make(folder);
      await folders.make(join(folder, TEMPORARY));
      const ref = await writeTemporary(files, temporary, source, { sync, signal });
      await folders.make(shelfOf(ref.name));
      await files.rename(temporary, pathOf(ref.name)); // the same content, so replacing it is safe and heals a damaged copy
      if (sync) await syncFolder(files, shelfOf(ref.name));
      return ref;
    } catch (error) {
      throw fileError(error, folder, await removeLeftover(temporary));
    }
  }

  /** What went wrong with it, if anything did. */
  async function removeLeftover(temporary: string): Promise<unknown> {
    try {
      await files.unlink(temporary);
      return undefined;
    } catch (error) {
      return isCode(error, "ENOENT") ? undefined : error;
    }
  }

  async function isWhole(ref: BlobRef): Promise<boolean> {
    if (!files.existsSync(pathOf(ref.name))) return false;
    try {
      for await (const _ of readBlob(files, pathOf(ref.name), ref.name)) continue;
      return true;
    } catch (error) {
      if (HoldfastError.is(error)) return false; // damaged or gone meanwhile: it is written anew
      throw fileError(error, folder);
    }
  }

  /** Touched, so that a sweep takes it for fresh; all of it synced, because whoever put it may not have come so far. */
  async function keepExisting(ref: BlobRef): Promise<BlobRef> {
    try {
      const now = clock.now() / 1000;
      await files.utimes(pathOf(ref.name), now, now);
      await folders.make(folder);
      await folders.make(shelfOf(ref.name));
      if (sync) await syncFile(files, pathOf(ref.name));
      if (sync) await syncFolder(files, shelfOf(ref.name));
      return ref;
    } catch (error) {
      throw fileError(error, folder);
    }
  }

  async function* list(before?: number): AsyncIterable<BlobRef> {
    for (const shelf of await entriesOf(files, folder)) {
      if (!/^[0-9a-f]{2}$/.test(shelf)) continue;
      for (const entry of await entriesOf(files, join(folder, shelf))) {
        const name = blobNameIn(entry);
        if (name === undefined) continue;
        const found = await statIfThere(files, join(folder, shelf, entry)); // it may have been swept meanwhile
        if (found === undefined || (before !== undefined && found.mtimeMs >= before)) continue;
        yield { name, size: contentSize(name, found.size) };
      }
    }
  }

  return {
    put,
    list,
    get: (name, range, signal) => readBlob(files, pathOf(name), name, range, signal),
    holds: (name) => files.existsSync(pathOf(name)),
    remove(name) {
      try {
        const size = files.sizeSync(pathOf(name));
        if (size === undefined) return 0;
        files.unlinkSync(pathOf(name));
        return size;
      } catch (error) {
        throw fileError(error, folder);
      }
    },
    async sweepTemps(before) {
      let bytes = 0;
      for (const entry of await entriesOf(files, join(folder, TEMPORARY))) {
        const path = join(folder, TEMPORARY, entry);
        const found = await statIfThere(files, path); // its put may have ended meanwhile
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

async function statIfThere(files: FilePort, path: string) {
  try {
    return await files.stat(path);
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
    throw fileError(error, path);
  }
}

async function entriesOf(files: FilePort, folder: string): Promise<readonly string[]> {
  try {
    return await files.readdir(folder);
  } catch (error) {
    if (isCode(error, "ENOENT")) return [];
    throw fileError(error, folder);
  }
}

function blobNameIn(entry: string): BlobName | undefined {
  try {
    return toBlobName(entry);
  } catch {
    return undefined; // not ours: left alone
  }
}
