import type { Instant } from "../base/clock.ts";
import type { Link, SealedRecord } from "../records/chain.ts";
import type { BlobName, OwnerId, SessionId } from "../records/ids.ts";
import type { BlobRef } from "../records/kinds.ts";
import type { BlobStore, Bytes } from "./blob-store.ts";
import type { OsLocks } from "./lock.ts";

/** What an acknowledged commit survives: loss of power, death of the process only, or neither (`memory`). */
export type Durability = "power" | "process" | "memory";

/**
 * Keeps sessions. Reading sees the store as of one moment. Writing is a batch of data, decided synchronously in one
 * store transaction: no caller's code and no `await` runs inside it, so nobody's rollback can take a neighbour's append
 * with it.
 */
export interface Store {
  readonly durability: Durability;
  /** Identifies this opened store as a writer. New each time the store is opened. */
  readonly owner: OwnerId;
  /** Keeps content that is too large for a row. */
  readonly blobs: BlobStore;
  /** Reads as of one moment. A store may limit how many read at once, so never wait for one reading inside another. */
  reading<T>(use: (read: StoreRead) => Promise<T>): Promise<T>;
  /**
   * Resolves when the batch is durable (one that is `unsynced`: when it is written), or with the reason it was not
   * applied. Rejects when the store itself failed.
   */
  commit<B extends WriteBatch>(batch: B): Promise<Receipt<B>>;
  /**
   * The file that the store lies in, if it lies in one. A workspace that contains it leaves it out, with everything
   * beside it whose name begins with the file's own. Content that lies elsewhere has a place of its own
   * (`blobs.place`).
   */
  readonly place?: string;
  /** What the store may make beside that file, as suffixes of the file's name: `.blobs`. Commands cannot reach it. */
  readonly beside?: readonly string[];
  /** Locks in a folder, freed by the system when their holder dies. Absent when the store cannot offer them. */
  readonly locksIn?: (folder: string) => OsLocks;
  /** True only when it is certain that nobody will ever write as this owner again. */
  isDead(owner: OwnerId): boolean;
  /**
   * Gives freed space back to the disk, and erases what was left in it, in steps short enough not to hold anybody up.
   */
  shrink(): Promise<Shrunk>;
  close(): Promise<void>;
}

/** What `store.shrink` did. */
export interface Shrunk {
  /** How many bytes smaller the store is on the disk. */
  readonly bytes: number;
  /** False when somebody was in the way: the store's files may still contain what was dropped. */
  readonly whole: boolean;
}

/** A store as of one moment. */
export interface StoreRead {
  session(id: SessionId): Promise<SessionRow | undefined>;
  /** Sessions ordered by id, starting after the given one. A row that does not match its checksum comes as damaged. */
  sessions(after: SessionId | "", limit: number): Promise<readonly (SessionRow | DamagedRow)[]>;
  /**
   * Records as stored, not proven, in the order asked for. May return fewer than `limit`; none means there are no more.
   */
  records(session: SessionRow, query: RecordQuery): Promise<readonly SealedRecord[]>;
  /** Content that is kept in the store itself; undefined when it is not. */
  smallBlob(name: BlobName): Promise<Bytes | undefined>;
  /** Names and sizes of the content that kept records refer to, ordered by name. */
  references(after: BlobName | "", limit: number): Promise<readonly BlobRef[]>;
  /** Problems of the container itself, in words; empty when it is whole. Cost grows with the store. */
  structure(): Promise<readonly string[]>;
}

/** Which records to read, by sequence number. `from` and `to` are included. */
export interface RecordQuery {
  readonly from: number;
  readonly to: number;
  /** Newest first. Default false. */
  readonly reverse?: boolean;
  /** The most records to return. */
  readonly limit: number;
}

/** Records lie in segments. A fork shares those of its origin up to its own start, and has one of its own. */
export interface SegmentSpan {
  readonly segment: number;
  /** Last sequence number that belongs to the session; null for the segment that grows. */
  readonly through: number | null;
}

/** A session's own entry in the store. */
export interface SessionRow {
  readonly id: SessionId;
  readonly createdAt: Instant;
  /** The epoch of the newest lease. */
  readonly epoch: number;
  /** Who holds the lease; null when nobody does. */
  readonly owner: OwnerId | null;
  /** Wall time in milliseconds; 0 when no writer holds the session. */
  readonly leaseUntil: number;
  /** The newest record. */
  readonly head: Link;
  /** What comes before the oldest kept record: the genesis, or the last record that retention removed. */
  readonly anchor: Link;
  /** Sequence number of the newest checkpoint; 0 without one. Opening reads no further back. */
  readonly checkpoint: number;
  readonly segments: readonly SegmentSpan[];
}

/** A session's entry in the store that is damaged. */
export interface DamagedRow {
  /** The id as found, so that a listing can go on after it. It may not be the id that the session had. */
  readonly id: SessionId;
  /** What is wrong with it. */
  readonly damaged: string;
}

/** Content that a batch names. */
export interface NewBlob {
  readonly ref: BlobRef;
  /** The content, when it goes into the store with the batch; absent when the blob store already holds it. */
  readonly bytes?: Bytes;
}

/** A record that names content. */
export interface Reference {
  readonly seq: number;
  readonly name: BlobName;
}

/**
 * The lease under which a batch is written; its epoch is checked in the same transaction as the write. Leases are
 * requested by length, and the store counts it from its own clock inside the transaction. Otherwise the wait for
 * another transaction would use the lease up, and a living writer could lose one that it was just given.
 */
export interface Fence {
  readonly session: SessionId;
  readonly epoch: number;
}

/** Creates a session. */
export interface CreateBatch {
  readonly kind: "create";
  readonly session: SessionId;
  readonly at: Instant;
  readonly genesis: Link;
}
/** Takes the lease of a session. */
export interface LeaseBatch {
  readonly kind: "lease";
  readonly session: SessionId;
  readonly owner: OwnerId;
  readonly leaseMs: number;
  /** The epoch of a holder known to be dead, whose lease is taken before it expires. */
  readonly over?: number;
}
/** Extends the lease. */
export interface RenewBatch extends Fence {
  readonly kind: "renew";
  readonly leaseMs: number;
}
/** Gives the lease up. */
export interface ReleaseBatch extends Fence {
  readonly kind: "release";
}
/** Appends records, and extends the lease. */
export interface AppendBatch extends Fence {
  readonly kind: "append";
  /** The head this batch was sealed onto. */
  readonly after: Link;
  readonly records: readonly SealedRecord[];
  readonly blobs: readonly NewBlob[];
  readonly references: readonly Reference[];
  readonly leaseMs: number;
  /** The newest checkpoint among the records. */
  readonly checkpoint?: number;
  /**
   * Retention: the session forgets everything up to here. A sweep removes the rows when no other session needs them.
   */
  readonly anchor?: Link;
  /** Names the operation: the same one is applied once, however often it is sent. */
  readonly operation?: string;
  /**
   * Nobody is told that it is kept. The death of the process takes it no more than any other batch; a loss of power may
   * take it, until the next batch that does not say so is durable. A store that syncs all the same is right, too.
   */
  readonly unsynced?: true;
}
/** Makes a session that shares another's records. */
export interface ForkBatch {
  readonly kind: "fork";
  readonly from: SessionId;
  /** The last record that the fork shares. */
  readonly after: Link;
  /** The newest checkpoint up to `after`, when the origin has newer ones. Opening the fork reads no further back. */
  readonly checkpoint?: number;
  readonly session: SessionId;
  readonly at: Instant;
  /** The fork's own first records, which follow `after`. They are there from the moment the fork exists. */
  readonly records?: readonly SealedRecord[];
}
/**
 * Drops bodies of records. The headers stay, so the chain still proves that the records were there; `reason` says why.
 */
export interface DropBatch extends Fence {
  readonly kind: "drop";
  readonly seqs: readonly number[];
  readonly reason: string;
  /** Sessions that share some of these records and asked for the same: what only they share is dropped, too. */
  readonly despite?: readonly SessionId[];
  /**
   * For bodies that have merely grown old: they may linger in the store's free space until that is reused or given
   * back, which saves writing as much again to wipe them. Default: they are wiped.
   */
  readonly mayLinger?: boolean;
}
/** Deletes a session. */
export interface DeleteBatch extends Fence {
  readonly kind: "delete";
}
/**
 * Gives up a session whose row is damaged or gone and cannot be mended. Refused when it can be, and while somebody else
 * has the store open, who may still know what the row said. The next sweep removes its records, except those that other
 * sessions reach. Its name becomes free, but the session's former writer is fenced off.
 */
export interface ForgetBatch {
  readonly kind: "forget";
  readonly session: SessionId;
}
/** Gives a session another name, which must be free. The lease ends with it. */
export interface RenameBatch extends Fence {
  readonly kind: "rename";
  readonly to: SessionId;
}
/** Removes what no session can reach, a bounded amount at a time. Repeat until `more` is false. */
export interface SweepBatch {
  readonly kind: "sweep";
  /** How many records, and how many blobs, one transaction may remove. Writers wait for it. */
  readonly limit: number;
  /** Content found outside the store. What no row names is removed; a writer about to name it gets `blobs-missing`. */
  readonly candidates: readonly BlobName[];
  /**
   * Removes content outside the store only if it was last put before this wall time in milliseconds. That is checked
   * again inside the transaction: somebody may have put it once more, and be about to name it. Default: any content.
   */
  readonly putBefore?: number;
  /**
   * A small sweep beside other work. The store may look at a part of its content now and at the next part when asked
   * again. Content whose time of putting is unknown stays. Default false.
   */
  readonly byTheWay?: boolean;
}

/** What can be committed to a store, as data. */
export type WriteBatch =
  | CreateBatch
  | LeaseBatch
  | RenewBatch
  | ReleaseBatch
  | AppendBatch
  | ForkBatch
  | DropBatch
  | DeleteBatch
  | ForgetBatch
  | RenameBatch
  | SweepBatch;

/** Why a batch was not applied. */
export type Conflict =
  | { readonly kind: "session-unknown" }
  | { readonly kind: "session-exists" }
  | { readonly kind: "session-damaged"; readonly detail: string }
  | { readonly kind: "session-sound" }
  | { readonly kind: "store-shared" }
  | { readonly kind: "lease-held"; readonly owner: OwnerId; readonly epoch: number; readonly until: number }
  | { readonly kind: "lease-lost"; readonly epoch: number }
  | { readonly kind: "head-moved"; readonly head: Link }
  | { readonly kind: "link-unknown" }
  | { readonly kind: "blobs-missing"; readonly names: readonly BlobName[] };

/** How the last writer of a session ended. `expired`: it fell silent, and its lease ran out. */
export type PreviousWriter = "none" | "closed" | "died" | "expired";

/** What one sweep batch removed. `more`: there is more to remove. */
export interface Swept {
  readonly records: number;
  readonly blobs: number;
  readonly bytes: number;
  readonly more: boolean;
}

interface ReceiptValues {
  create: { readonly row: SessionRow };
  /** `mended`: what was wrong with the session's own row, and was put right from what proves it. */
  lease: { readonly row: SessionRow; readonly previousWriter: PreviousWriter; readonly mended?: string };
  renew: { readonly until: number };
  release: { readonly released: true };
  /** `repeated`: the operation had been applied before; the sequence numbers are those of the first time. */
  append: { readonly first: number; readonly last: number; readonly repeated: boolean };
  fork: { readonly row: SessionRow };
  drop: { readonly dropped: number; readonly bytes: number };
  delete: { readonly deleted: true };
  forget: { readonly forgotten: true };
  rename: { readonly row: SessionRow };
  sweep: Swept;
}

/** What a store answers to a batch: what it did, or the conflict because of which it did nothing. */
export type Receipt<B extends WriteBatch> =
  | ({ readonly ok: true } & ReceiptValues[B["kind"]])
  | { readonly ok: false; readonly conflict: Conflict };
