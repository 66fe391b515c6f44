import { HoldfastError } from "../base/errors.ts";
import type { ByteRange, Bytes, ByteSource } from "../contracts/blob-store.ts";
import type { NewBlob, Store } from "../contracts/store.ts";
import { nameOfBytes, rangeIn } from "../records/blob-name.ts";
import { piecesOf } from "../records/byte-source.ts";
import { type BlobName, toBlobName } from "../records/ids.ts";

/**
 * Content up to this size, 64 KiB, is kept in the store itself, with the record that names it: no file, no second sync.
 */
export const SMALL_BLOB: number = 64 * 1024;

/** Prepares content for the append that will name it. Small content waits in memory; larger is durable when this resolves. */
export async function stageBlob(store: Store, source: ByteSource, signal?: AbortSignal): Promise<NewBlob> {
  signal?.throwIfAborted();
  if (source instanceof Uint8Array) return stageWhole(store, source, signal);
  const pieces = piecesOf(source, signal);
  const first: Bytes[] = [];
  let size = 0;
  let handedOn = false;
  try {
    for (;;) {
      const next = await pieces.next();
      if (next.done) return await stageWhole(store, Buffer.concat(first), signal);
      first.push(Uint8Array.from(next.value)); // a source may reuse its buffer
      size += next.value.length;
      if (size <= SMALL_BLOB) continue;
      handedOn = true;
      return { ref: await store.blobs.put(rest(first, pieces), signal) };
    }
  } finally {
    if (!handedOn) await pieces.return(undefined); // a file behind the source would stay open
  }
}

/** Proven bytes of content, wherever it lies. */
export async function* readBlob(
  store: Store,
  name: BlobName,
  range?: ByteRange,
  signal?: AbortSignal,
): AsyncIterable<Bytes> {
  signal?.throwIfAborted();
  const small = await store.reading((read) => read.smallBlob(toBlobName(name)));
  if (small === undefined) {
    yield* store.blobs.get(name, range, signal);
    return;
  }
  if (nameOfBytes(small) !== name) throw new HoldfastError("BLOB_CORRUPT", { name });
  const { from, to } = rangeIn(name, small.length, range);
  if (from < to) yield small.subarray(from, to);
}

/** Whether content is kept under a name, at this moment. */
export async function hasBlob(store: Store, name: BlobName): Promise<boolean> {
  return store.blobs.holds(name) || (await store.reading((read) => read.smallBlob(name))) !== undefined;
}

async function stageWhole(store: Store, bytes: Bytes, signal: AbortSignal | undefined): Promise<NewBlob> {
  if (bytes.length > SMALL_BLOB) return { ref: await store.blobs.put(bytes, signal) };
  const kept = Uint8Array.from(bytes);
  return { ref: { name: nameOfBytes(kept), size: kept.length }, bytes: kept };
}

async function* rest(first: readonly Bytes[], pieces: AsyncGenerator<Bytes, void>): AsyncIterable<Bytes> {
  try {
    yield* first;
    yield* pieces;
  } finally {
    await pieces.return(undefined);
  }
}
