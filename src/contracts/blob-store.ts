import type { BlobName } from "../records/ids.ts";
import type { BlobRef } from "../records/kinds.ts";

export type Bytes = Uint8Array;
export type ByteSource = Bytes | Iterable<Bytes> | AsyncIterable<Bytes>;

export interface ByteRange {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/** Content by name. The name says what the bytes are, so the same content is kept once and an altered byte is noticed. */
export interface BlobStore {
  /** The folder it lies in, when it lies in one, as a whole path: a workspace that holds it leaves it out. */
  readonly place?: string;
  /** Resolves when the content and its name survive what the store's durability class promises. */
  put(source: ByteSource, signal?: AbortSignal): Promise<BlobRef>;
  /** Yields proven bytes only: BLOB_CORRUPT or BLOB_MISSING instead of anything else. Memory stays bounded by one chunk. */
  get(name: BlobName, range?: ByteRange, signal?: AbortSignal): AsyncIterable<Bytes>;
  /** The names kept, in no order; with `before`, only those last put before that wall time in milliseconds. */
  list(before?: number): AsyncIterable<BlobRef>;
  /** Synchronous: a commit asks it inside its transaction, so that a sweep cannot slip between the answer and the row. */
  holds(name: BlobName): boolean;
  /** How many bytes some content has, without reading it; undefined when it is not there. Synchronous, like `holds`. */
  readonly sizeOf?: (name: BlobName) => number | undefined;
  /** When some content was last put, in milliseconds of wall time; undefined when it is not there. Synchronous, like `holds`. */
  readonly lastPut?: (name: BlobName) => number | undefined;
  /** Synchronous, for a sweep inside its transaction. Answers the bytes freed; 0 when there was nothing. */
  remove(name: BlobName): number;
  /** Removes leftovers of puts that began before that wall time and never ended. Answers the bytes freed. */
  sweepTemps(before: number): Promise<number>;
}
