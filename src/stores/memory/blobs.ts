import { HoldfastError } from "../../base/errors.ts";
import type { BlobStore, Bytes, ByteSource } from "../../contracts/blob-store.ts";
import { nameOfBytes } from "../../records/blob-name.ts";
import type { BlobName } from "../../records/ids.ts";

/** Content in a map, for the memory store. */
export function memoryBlobs(kept: Map<BlobName, Bytes> = new Map()): BlobStore {
  return {
    async put(source, signal) {
      const bytes = await gather(source, signal);
      const name = nameOfBytes(bytes);
      kept.set(name, bytes);
      return { name, size: bytes.length };
    },
    async *get(name, range, signal) {
      signal?.throwIfAborted();
      const bytes = kept.get(name);
      if (bytes === undefined) throw new HoldfastError("BLOB_MISSING", { name });
      if (nameOfBytes(bytes) !== name) throw new HoldfastError("BLOB_CORRUPT", { name });
      const { from, to } = range ?? { from: 0, to: bytes.length };
      if (!(Number.isSafeInteger(from) && Number.isSafeInteger(to) && from >= 0 && from <= to && to <= bytes.length)) {
        throw new HoldfastError("BLOB_BAD_RANGE", { name, from, to, size: bytes.length });
      }
      if (from < to) yield bytes.slice(from, to);
    },
    async *list() {
      for (const [name, bytes] of kept) yield { name, size: bytes.length };
    },
    holds: (name) => kept.has(name),
    remove(name) {
      const size = kept.get(name)?.length ?? 0;
      kept.delete(name);
      return size;
    },
    async sweepTemps() {
      return 0;
    },
  };
}

async function gather(source: ByteSource, signal: AbortSignal | undefined): Promise<Bytes> {
  if (source instanceof Uint8Array) return Uint8Array.from(source);
  const parts: Bytes[] = [];
  for await (const part of source) {
    signal?.throwIfAborted();
    parts.push(Uint8Array.from(part));
  }
  return new Uint8Array(Buffer.concat(parts));
}
