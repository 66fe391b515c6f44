import type { BlobName } from "../records/ids.ts";
import type { BlobRef } from "../records/kinds.ts";

/** Bytes. */
export type Bytes = Uint8Array;
/** Bytes at once, or piece by piece. */
export type ByteSource = Bytes | Iterable<Bytes> | AsyncIterable<Bytes>;

/** A range of bytes, counted from 0. */
export interface ByteRange {
  /** Inclusive. */
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/** Keeps content under its digest: the same content is kept once, and a changed byte is noticed. */
export interface BlobStore {
  /** The absolute path of the folder that the content lies in, if any. A workspace that contains it leaves it out. */
  readonly place?: string;
  /** Resolves when the content and its name are as durable as the store promises. */
  put(source: ByteSource, signal?: AbortSignal): Promise<BlobRef>;
  /** Yields only proven bytes, else throws BLOB_CORRUPT or BLOB_MISSING. Holds no more than one chunk in memory. */
  get(name: BlobName, range?: ByteRange, signal?: AbortSignal): AsyncIterable<Bytes>;
  /** Lists what is kept, in no order. With `before`, only what was last put before that wall time in milliseconds. */
  list(before?: number): AsyncIterable<BlobRef>;
  /**
   * Whether the content is there. Synchronous: a commit asks inside its transaction, so no sweep can come in between.
   */
  holds(name: BlobName): boolean;
  /**
   * The size of some content in bytes, without reading it; undefined when it is not there. Synchronous, like `holds`.
   */
  readonly sizeOf?: (name: BlobName) => number | undefined;
  /** When content was last put, in wall milliseconds; undefined if it is not there. Synchronous, like `holds`. */
  readonly lastPut?: (name: BlobName) => number | undefined;
  /** Removes content and returns how many bytes that freed, or 0. Synchronous, for a sweep inside its transaction. */
  remove(name: BlobName): number;
  /** Removes what puts that began before that wall time left unfinished. Returns how many bytes that freed. */
  sweepTemps(before: number): Promise<number>;
}
