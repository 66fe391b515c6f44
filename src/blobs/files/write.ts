import { sha256, type Sha256 } from "../../base/hash.ts";
import type { Bytes, ByteSource } from "../../contracts/blob-store.ts";
import { blobNameOf, CHUNK_BYTES, mustBeBytes, piecesOf } from "../../records/blob-name.ts";
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
    for await (const chunk of inChunks(source)) {
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

async function* inChunks(source: ByteSource): AsyncIterable<Bytes> {
  const chunk = new Uint8Array(CHUNK_BYTES);
  let filled = 0;
  for await (const piece of fromSource(source)) {
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

async function* fromSource(source: ByteSource): AsyncIterable<Bytes> {
  const pieces = piecesOf(source);
  const iterator = Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]();
  let ended = false;
  try {
    for (;;) {
      const next = await stepOf(iterator);
      ended = next.done === true;
      if (ended) return;
      yield mustBeBytes(next.value);
    }
  } finally {
    if (!ended) await iterator.return?.(); // a file behind the source would stay open
  }
}

async function stepOf(iterator: Iterator<unknown> | AsyncIterator<unknown>): Promise<IteratorResult<unknown>> {
  try {
    return await iterator.next();
  } catch (error) {
    throw new SourceFailed(error);
  }
}
