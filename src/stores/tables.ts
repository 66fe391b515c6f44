import type { Bytes } from "../contracts/blob-store.ts";
import type { DamagedRow, SessionRow } from "../contracts/store.ts";
import type { Link, SealedRecord } from "../records/chain.ts";
import type { BlobName, SessionId } from "../records/ids.ts";
import type { BlobRef } from "../records/kinds.ts";
import type { Run } from "./spans.ts";

export interface PlacedBlob extends BlobRef {
  readonly place: "store" | "outside";
}

/**
 * What an embedded store must be able to do, synchronously, inside one transaction. The rules of a batch stand once, in
 * apply.ts, on top of this: two stores cannot disagree on when a write is refused.
 */
export interface Tables {
  readonly sessions: SessionTable;
  readonly records: RecordTable;
  readonly blobs: BlobRows;
}

/** A row for every session: who writes it, where it stands, and which segments its records lie in. */
export interface SessionTable {
  find(id: SessionId): SessionRow | DamagedRow | undefined;
  /** A second witness of a session's existence, kept apart: damage to the row must not look like "no such session". */
  knows(id: SessionId): boolean;
  all(): Iterable<SessionRow | DamagedRow>;
  /** A session that is new here, with its second witness. */
  add(row: SessionRow): void;
  put(row: SessionRow): void;
  /** The row as it was last read or written here, without asking: only `move` tells whether it still is. */
  lastSeen(id: SessionId): SessionRow | undefined;
  /** Writes `to` where `from` still stands, and answers whether it did. */
  move(from: SessionRow, to: SessionRow): boolean;
  /** Keeps what a row says now apart from it, so that damage to the row can be mended: see `mend`. */
  keepWitness(row: SessionRow): void;
  /** Puts damaged rows right from what proves them, all of them or none. False when that cannot be done. */
  mend(): boolean;
  /** Whether what is kept proves what a session's row says, or said before it was damaged or lost. */
  isProven(id: SessionId): boolean;
  remove(row: SessionRow): void;
  /** The same for a session without a row that could be read. Rows that lie out of order are put in order. */
  forget(id: SessionId, epoch: number): void;
  /** The epoch a deleted session of this id had reached; 0 when there was none. Its last writer may still be about. */
  epochBefore(id: SessionId): number;
}

/** Records, by the segment they lie in and their sequence number. */
export interface RecordTable {
  newSegment(): number;
  insert(segment: number, record: SealedRecord, operation: string | undefined): void;
  linkAt(segment: number, seq: number): Link | undefined;
  /** False when rows lie where none should be: what is appended after this place might not be found again. */
  endsAt(segment: number, seq: number): boolean;
  operation(segment: number, operation: string): { readonly first: number; readonly last: number } | undefined;
  /** Takes a body and the references it made. Answers the bytes freed; 0 when the body was gone already. */
  dropBody(segment: number, seq: number, reason: string): number;
  /** Every segment that has records, with its last sequence number. */
  segments(): Iterable<{ readonly segment: number; readonly last: number }>;
  /** Removes records with their references, at most `limit`. */
  remove(run: Run, limit: number): { readonly records: number; readonly bytes: number };
}

/** Small content, what is known of content kept elsewhere, and which record names which. */
export interface BlobRows {
  /** Keeps content, replacing what is stored under the name if it is not exactly this. */
  put(ref: BlobRef, bytes: Bytes): void;
  /** Notes that the blob store holds it. */
  note(ref: BlobRef): void;
  place(name: BlobName): "store" | "outside" | undefined;
  /** As it was when it came; undefined for content that is not known here. */
  size(name: BlobName): number | undefined;
  /** Whether a record names it. */
  isNamed(name: BlobName): boolean;
  addReference(segment: number, seq: number, name: BlobName): void;
  /** What no record names, and what is meant. */
  unreferenced(limit: number, isMeant: (blob: PlacedBlob) => boolean): readonly PlacedBlob[];
  /** What no record names among the next so many; behind the last one it begins anew. */
  nextUnreferenced(rows: number): readonly PlacedBlob[];
  remove(name: BlobName): void;
}
