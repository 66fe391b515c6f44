import { HoldfastError } from "../base/errors.ts";
import type { ByteRange, Bytes, ByteSource } from "../contracts/blob-store.ts";
import type { NewBlob, Store } from "../contracts/store.ts";
import { nameOfBytes } from "../records/blob-name.ts";
import type { BlobName } from "../records/ids.ts";

/** Content up to this size travels with the record that names it, into the store: no file, no second sync. */
export const SMALL_BLOB: number = 64 * 1024;

/** Prepares content for the append that will name it. Small content waits in memory; larger is durable when this resolves. */
export async function stageBlob(store: Store, source: ByteSource, signal?: AbortSignal): Promise<NewBlob> {
  if (source instanceof Uint8Array) return stageWhole(store, source, signal);
  const pieces = source[Symbol.asyncIterator as never]
    ? (source as AsyncIterable<Bytes>)
    : toAsync(source as Iterable<Bytes>);
  const iterator = pieces[Symbol.asyncIterator]();
  const first: Bytes[] = [];
  let size = 0;
  for (;;) {
    signal?.throwIfAborted();
    const next = await iterator.next();
    if (next.done) return stageWhole(store, Buffer.concat(first), signal);
    first.push(Uint8Array.from(next.value)); // a source may reuse its buffer
    size += next.value.length;
    if (size > SMALL_BLOB) return { ref: await store.blobs.put(rest(first, iterator), signal) };
  }
}

/** Proven bytes of content, wherever it lies. */
export async function* readBlob(
  store: Store,
  name: BlobName,
  range?: ByteRange,
  signal?: AbortSignal,
): AsyncIterable<Bytes> {
  const small = await store.reading((read) => read.smallBlob(name));
  if (small === undefined) {
    yield* store.blobs.get(name, range, signal);
    return;
  }
  if (nameOfBytes(small) !== name) throw new HoldfastError("BLOB_CORRUPT", { name });
  const { from, to } = range ?? { from: 0, to: small.length };
  if (!(Number.isSafeInteger(from) && Number.isSafeInteger(to) && from >= 0 && from <= to && to <= small.length)) {
    throw new HoldfastError("BLOB_BAD_RANGE", { name, from, to, size: small.length });
  }
  if (from < to) yield small.subarray(from, to);
}

async function stageWhole(store: Store, bytes: Bytes, signal: AbortSignal | undefined): Promise<NewBlob> {
  if (bytes.length > SMALL_BLOB) return { ref: await store.blobs.put(bytes, signal) };
  const kept = Uint8Array.from(bytes);
  return { ref: { name: nameOfBytes(kept), size: kept.length }, bytes: kept };
}

async function* rest(first: readonly Bytes[], iterator: AsyncIterator<Bytes>): AsyncIterable<Bytes> {
  yield* first;
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
}

async function* toAsync(source: Iterable<Bytes>): AsyncIterable<Bytes> {
  yield* source;
}
