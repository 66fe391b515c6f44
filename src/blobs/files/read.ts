import { HoldfastError } from "../../base/errors.ts";
import { type Sha256, sha256 } from "../../base/hash.ts";
import type { ByteRange, Bytes } from "../../contracts/blob-store.ts";
import { blobNameOf, CHUNK_BYTES, rangeIn } from "../../records/blob-name.ts";
import type { BlobName } from "../../records/ids.ts";
import { fileError } from "./failures.ts";
import { chunksIn, FOOTER_BYTES, isTree, readFooter, readHashes, tableBytes } from "./layout.ts";
import { type FilePort, isCode, type PortHandle } from "./port.ts";

/** Yields proven bytes only, a chunk at a time. */
export async function* readBlob(
  files: FilePort,
  path: string,
  name: BlobName,
  range?: ByteRange,
  signal?: AbortSignal,
): AsyncIterable<Bytes> {
  signal?.throwIfAborted();
  const handle = await openBlob(files, path, name);
  try {
    const { size, hashes } = await readProof(handle, name);
    const { from, to } = rangeIn(name, size, range);
    for (let index = Math.floor(from / CHUNK_BYTES); index * CHUNK_BYTES < to; index += 1) {
      signal?.throwIfAborted();
      const start = index * CHUNK_BYTES;
      const chunk = await readAt(handle, name, start, Math.min(CHUNK_BYTES, size - start));
      if (sha256(chunk) !== hashes[index]) throw new HoldfastError("BLOB_CORRUPT", { name, chunk: index });
      yield chunk.subarray(Math.max(from - start, 0), Math.min(to - start, chunk.length));
    }
  } catch (error) {
    throw fileError(error, path);
  } finally {
    await handle.close();
  }
}

async function openBlob(files: FilePort, path: string, name: BlobName): Promise<PortHandle> {
  try {
    return await files.open(path, "r");
  } catch (error) {
    if (isCode(error, "ENOENT")) throw new HoldfastError("BLOB_MISSING", { name });
    throw fileError(error, path);
  }
}

/** The hashes that the name vouches for. */
async function readProof(
  handle: PortHandle,
  name: BlobName,
): Promise<{ readonly size: number; readonly hashes: readonly Sha256[] }> {
  const { size: fileSize } = await handle.stat();
  if (!isTree(name)) {
    if (chunksIn(fileSize) > 1) throw new HoldfastError("BLOB_CORRUPT", { name, size: fileSize });
    const digest = name.slice("sha256-".length);
    if (fileSize === 0 && sha256("") !== digest) throw new HoldfastError("BLOB_CORRUPT", { name, size: 0 });
    return { size: fileSize, hashes: [digest] };
  }
  const footer =
    fileSize < FOOTER_BYTES
      ? undefined
      : readFooter(await readAt(handle, name, fileSize - FOOTER_BYTES, FOOTER_BYTES), fileSize);
  if (footer === undefined) throw new HoldfastError("BLOB_CORRUPT", { name, size: fileSize });
  const hashes = readHashes(await readAt(handle, name, footer.size, tableBytes(footer.chunks)), footer.chunks);
  if (blobNameOf(footer.size, hashes) !== name) throw new HoldfastError("BLOB_CORRUPT", { name, size: fileSize });
  return { size: footer.size, hashes };
}

async function readAt(handle: PortHandle, name: BlobName, position: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  for (let read = 0; read < length; ) {
    const { bytesRead } = await handle.read(bytes, read, length - read, position + read);
    if (bytesRead === 0) throw new HoldfastError("BLOB_CORRUPT", { name, endsAt: position + read });
    read += bytesRead;
  }
  return bytes;
}
