import { sha256, type Sha256 } from "../../base/hash.ts";
import type { Bytes, ByteSource } from "../../contracts/blob-store.ts";
import { blobNameOf, CHUNK_BYTES } from "../../records/blob-name.ts";
import { piecesOf } from "../../records/byte-source.ts";
import type { BlobRef } from "../../records/kinds.ts";
import { SourceFailed } from "./failures.ts";
import { trailerOf } from "./layout.ts";
import type { FilePort, PortHandle } from "./port.ts";

/** Streams content into a temporary file, one chunk in memory at a time, and syncs it. The name is known at the end. */
export async function writeTemporary(
  files: FilePort,
  path: string,
  source: ByteSource,
  options: { readonly sync: boolean; readonly signal: AbortSignal | undefined },
): Promise<BlobRef> {
  const handle = await files.open(path, "wx", 0o600);
  try {
    const chunks: Sha256[] = [];
    let size = 0;
    for await (const chunk of inChunks(fromSource(source, options.signal))) {
      options.signal?.throwIfAborted();
      await writeAll(handle, chunk);
      chunks.push(sha256(chunk));
      size += chunk.length;
    }
    if (chunks.length > 1) await writeAll(handle, trailerOf(size, chunks));
    if (options.sync) await handle.sync();
    return { name: blobNameOf(size, chunks), size };
  } finally {
    await handle.close();
  }
}

/** A short write is not an error to the system; to us it would be a hole. */
async function writeAll(handle: PortHandle, bytes: Bytes): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written);
    if (bytesWritten === 0) throw Object.assign(new Error("the system wrote nothing"), { code: "EIO" });
    written += bytesWritten;
  }
}

async function* inChunks(pieces: AsyncIterable<Bytes>): AsyncIterable<Bytes> {
  const chunk = new Uint8Array(CHUNK_BYTES);
  let filled = 0;
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + CHUNK_BYTES - filled);
      chunk.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled === CHUNK_BYTES) {
        yield chunk;
        filled = 0;
      }
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled);
}

async function* fromSource(source: ByteSource, signal: AbortSignal | undefined): AsyncIterable<Bytes> {
  try {
    yield* piecesOf(source, signal);
  } catch (error) {
    throw new SourceFailed(error);
  }
}
