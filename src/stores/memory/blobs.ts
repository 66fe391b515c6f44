import { type Clock, SystemClock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { BlobStore, Bytes, ByteSource } from "../../contracts/blob-store.ts";
import { CHUNK_BYTES, nameOfBytes, rangeIn } from "../../records/blob-name.ts";
import { piecesOf } from "../../records/byte-source.ts";
import { type BlobName, toBlobName } from "../../records/ids.ts";

/** Content that several memory blob stores can share, as processes share a folder. */
export class MemoryShelf {
  readonly kept: Map<BlobName, { readonly bytes: Bytes; readonly putAt: number }> = new Map();
}

/** A blob store in memory. */
export function memoryBlobs(shelf: MemoryShelf = new MemoryShelf(), clock: Clock = new SystemClock()): BlobStore {
  const { kept } = shelf;
  return {
    async put(source, signal) {
      const bytes = await gather(source, signal);
      const name = nameOfBytes(bytes);
      kept.set(name, { bytes, putAt: clock.now() });
      return { name, size: bytes.length };
    },
    async *get(name, range, signal) {
      signal?.throwIfAborted();
      const bytes = kept.get(toBlobName(name))?.bytes;
      if (bytes === undefined) throw new HoldfastError("BLOB_MISSING", { name });
      if (nameOfBytes(bytes) !== name) throw new HoldfastError("BLOB_CORRUPT", { name });
      const { from, to } = rangeIn(name, bytes.length, range);
      for (let at = from; at < to; at += CHUNK_BYTES) {
        signal?.throwIfAborted();
        yield bytes.slice(at, Math.min(at + CHUNK_BYTES, to));
      }
    },
    async *list(before = Number.POSITIVE_INFINITY) {
      for (const [name, { bytes, putAt }] of kept) if (putAt < before) yield { name, size: bytes.length };
    },
    holds: (name) => kept.has(toBlobName(name)),
    sizeOf: (name) => kept.get(toBlobName(name))?.bytes.length,
    lastPut: (name) => kept.get(toBlobName(name))?.putAt,
    remove(name) {
      const size = kept.get(toBlobName(name))?.bytes.length ?? 0;
      kept.delete(name);
      return size;
    },
    async sweepTemps() {
      return 0;
    },
  };
}

async function gather(source: ByteSource, signal: AbortSignal | undefined): Promise<Bytes> {
  signal?.throwIfAborted();
  const parts: Bytes[] = [];
  for await (const piece of piecesOf(source, signal)) parts.push(Uint8Array.from(piece));
  return new Uint8Array(Buffer.concat(parts));
}
