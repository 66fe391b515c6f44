import { join } from "node:path";
import { type Clock, SystemClock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import { type Random, SystemRandom } from "../../base/random.ts";
import type { BlobStore, ByteSource } from "../../contracts/blob-store.ts";
import { nameOfBytes } from "../../records/blob-name.ts";
import { type BlobName, toBlobName } from "../../records/ids.ts";
import type { BlobRef } from "../../records/kinds.ts";
import { makeFolder, syncFolder } from "./folders.ts";
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
  const shelfOf = (name: BlobName) => join(folder, name.slice(name.indexOf("-") + 1).slice(0, 2));
  const pathOf = (name: BlobName) => join(shelfOf(name), name);

  async function put(source: ByteSource, signal?: AbortSignal): Promise<BlobRef> {
    if (source instanceof Uint8Array) {
      const ref = { name: nameOfBytes(source), size: source.length };
      if (await isWhole(ref)) return keepExisting(ref);
    }
    await makeFolder(files, join(folder, TEMPORARY), sync);
    const temporary = join(folder, TEMPORARY, `${random.hex(16)}.part`);
    try {
      const ref = await writeTemporary(files, temporary, source, { sync, signal });
      await makeFolder(files, shelfOf(ref.name), sync);
      await files.rename(temporary, pathOf(ref.name)); // the same content, so replacing it is safe and heals a damaged copy
      if (sync) await syncFolder(files, shelfOf(ref.name));
      return ref;
    } catch (error) {
      await files.unlink(temporary).catch((second: unknown) => {
        if (!isCode(second, "ENOENT"))
          throw new AggregateError([error, second], "put failed, and so did removing its leftover");
      });
      throw fileError(error, folder);
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

  /** Touched, so that a sweep takes it for fresh; the folder synced, because whoever put it may not have come so far. */
  async function keepExisting(ref: BlobRef): Promise<BlobRef> {
    try {
      const now = clock.now() / 1000;
      await files.utimes(pathOf(ref.name), now, now);
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
        const found = await files.stat(join(folder, shelf, entry)).catch(() => undefined); // swept meanwhile
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
      const size = files.sizeSync(pathOf(name));
      if (size === undefined) return 0;
      files.unlinkSync(pathOf(name));
      return size;
    },
    async sweepTemps(before) {
      let bytes = 0;
      for (const entry of await entriesOf(files, join(folder, TEMPORARY))) {
        const path = join(folder, TEMPORARY, entry);
        const found = await files.stat(path).catch(() => undefined); // its put ended meanwhile
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

function blobNameIn(entry: string): BlobName | undefined {
  try {
    return toBlobName(entry);
  } catch {
    return undefined; // not ours: left alone
  }
}

/** The system's refusals as ours, with their remedies. */
function fileError(error: unknown, path: string): unknown {
  if (HoldfastError.is(error)) return error;
  const code = String((error as { readonly code?: unknown } | null)?.code);
  const details = { path, system: code };
  if (isCode(error, "ENOSPC", "EDQUOT", "EFBIG")) return new HoldfastError("STORE_FULL", details, { cause: error });
  if (isCode(error, "EROFS", "EACCES", "EPERM")) return new HoldfastError("STORE_READONLY", details, { cause: error });
  if (isCode(error, "EIO", "EMFILE", "ENFILE", "ENOTDIR", "EISDIR", "ELOOP", "ENOENT"))
    return new HoldfastError("STORE_IO", details, { cause: error });
  return error;
}
