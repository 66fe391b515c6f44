import type { Instant } from "../base/clock.ts";
import type { Link, SealedRecord } from "../records/chain.ts";
import type { BlobName, OwnerId, SessionId } from "../records/ids.ts";
import type { BlobRef } from "../records/kinds.ts";
import type { BlobStore, Bytes } from "./blob-store.ts";
import type { OsLocks } from "./lock.ts";

/** What an acknowledged commit survives: loss of power, death of the process, or neither. */
export type Durability = "power" | "process" | "memory";

/**
 * Keeps sessions. Reading pins a snapshot; writing is a batch of data, decided synchronously in one store transaction.
 * No caller's code and no `await` runs inside it: a neighbour's append must not vanish with somebody's rollback.
 */
export interface Store {
  readonly durability: Durability;
  /** This opened store as a writer. A new one each time it is opened. */
  readonly owner: OwnerId;
  /** Where content too large for a row lives. */
  readonly blobs: BlobStore;
  /** As of one moment. A store may let a bounded number read at once: never wait for one reading inside another. */
  reading<T>(use: (read: StoreRead) => Promise<T>): Promise<T>;
  /** Resolves when the batch is durable, or with the reason it was not applied. Rejects when the store itself failed. */
  commit<B extends WriteBatch>(batch: B): Promise<Receipt<B>>;
  /**
   * The file it lies in, when it lies in one: a workspace that holds it leaves it out, with everything beside it whose name
   * begins with the file's own. Content that lies elsewhere has a place of its own (`blobs`).
   */
  readonly place?: string;
  /** What it may make beside that file at any time, by what follows the file's name there: `.blobs`. Commands are kept from it. */
  readonly beside?: readonly string[];
  /** Locks in a folder that the system frees when their holder dies, where the store can offer them. */
  readonly locksIn?: (folder: string) => OsLocks;
  /** True only when it is certain that nobody will ever write as this owner again. */
  isDead(owner: OwnerId): boolean;
  /** Gives freed space back to the disk, and what was still to be found there with it, in steps that hold nobody up. */
  shrink(): Promise<Shrunk>;
  close(): Promise<void>;
}

export interface Shrunk {
  /** How much smaller the store is on the disk. */
  readonly bytes: number;
  /** False when somebody was in the way: what was dropped may still be found in the store's files. */
  readonly whole: boolean;
}

export interface StoreRead {
  session(id: SessionId): Promise<SessionRow | undefined>;
  /** Ordered by id, starting after the given one. A row that does not match its checksum is reported, not returned. */
  sessions(after: SessionId | "", limit: number): Promise<readonly (SessionRow | DamagedRow)[]>;
  /** As stored and unproven, in the order asked for. Fewer than `limit` may come back; none means the range is exhausted. */
  records(session: SessionRow, query: RecordQuery): Promise<readonly SealedRecord[]>;
  smallBlob(name: BlobName): Promise<Bytes | undefined>;
  /** Names that kept records refer to, with the size they had, ordered by name. */
  references(after: BlobName | "", limit: number): Promise<readonly BlobRef[]>;
  /** Problems of the container itself, in words; empty when it is whole. Cost grows with the store. */
  structure(): Promise<readonly string[]>;
}

export interface RecordQuery {
  readonly from: number;
  readonly to: number;
  readonly reverse?: boolean;
  readonly limit: number;
}

/** Records lie in segments. A fork shares those of its origin up to its own start and grows one of its own. */
export interface SegmentSpan {
  readonly segment: number;
  /** Last sequence number that belongs to the session; null on the segment that grows. */
  readonly through: number | null;
}

export interface SessionRow {
  readonly id: SessionId;
  readonly createdAt: Instant;
  readonly epoch: number;
  readonly owner: OwnerId | null;
  /** Wall milliseconds; 0 when no writer holds the session. */
  readonly leaseUntil: number;
  readonly head: Link;
  /** What the oldest kept record hangs on: the genesis, or the last record that retention removed. */
  readonly anchor: Link;
  /** Sequence number of the newest checkpoint; 0 without one. Opening reads no further back. */
  readonly checkpoint: number;
  readonly segments: readonly SegmentSpan[];
}

export interface DamagedRow {
  /** As found, so that a listing can go on after it; perhaps not the id it once had. */
  readonly id: SessionId;
  /** What is wrong with it. */
  readonly damaged: string;
}

export interface NewBlob {
  readonly ref: BlobRef;
  /** Present when the content travels with the batch into the store; absent when the blob store holds it already. */
  readonly bytes?: Bytes;
}

export interface Reference {
  readonly seq: number;
  readonly name: BlobName;
}

/**
 * Whoever writes must hold the lease: the epoch is checked in the same transaction as the write. A lease is asked for by
 * its length, which the store counts from its own clock inside the transaction: the wait for somebody else's transaction
 * would otherwise be taken from it, and a living writer could lose what it had just been given.
 */
export interface Fence {
  readonly session: SessionId;
  readonly epoch: number;
}

export interface CreateBatch {
  readonly kind: "create";
  readonly session: SessionId;
  readonly at: Instant;
  readonly genesis: Link;
}
export interface LeaseBatch {
  readonly kind: "lease";
  readonly session: SessionId;
  readonly owner: OwnerId;
  readonly leaseMs: number;
  /** The epoch of a holder known to be dead: its lease need not have expired. */
  readonly over?: number;
}
export interface RenewBatch extends Fence {
  readonly kind: "renew";
  readonly leaseMs: number;
}
export interface ReleaseBatch extends Fence {
  readonly kind: "release";
}
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
  /** Retention: the session forgets everything up to here. Rows go when no other session needs them (sweep). */
  readonly anchor?: Link;
  /** The same operation is applied once, however often it is sent. */
  readonly operation?: string;
}
export interface ForkBatch {
  readonly kind: "fork";
  readonly from: SessionId;
  readonly after: Link;
  /** The newest checkpoint up to there, when the origin has newer ones: opening the fork need not read further back. */
  readonly checkpoint?: number;
  readonly session: SessionId;
  readonly at: Instant;
  /** Its own first records, which hang on `after`: they are there from the moment the fork is. */
  readonly records?: readonly SealedRecord[];
}
/** Bodies go, headers stay: the chain still proves that the records were there, and `reason` says why they are not. */
export interface DropBatch extends Fence {
  readonly kind: "drop";
  readonly seqs: readonly number[];
  readonly reason: string;
  /** Sessions that show some of them, too, and have asked for the same: for these, none is spared. */
  readonly despite?: readonly SessionId[];
  /**
   * It has merely grown old: what it said may be found in the store's free space until that is used again, or given back. To
   * wipe it would be to write as much once more. Default: it is wiped.
   */
  readonly mayLinger?: boolean;
}
export interface DeleteBatch extends Fence {
  readonly kind: "delete";
}
/**
 * Gives up a session whose row is damaged or gone, and that nothing proves: what can be put right is refused. So it is while
 * somebody else has the store open, who may still know what the row said. Its records go with the next sweep, but for those
 * that other sessions reach; its name is free, and closed to whoever wrote the session once.
 */
export interface ForgetBatch {
  readonly kind: "forget";
  readonly session: SessionId;
}
/** The same session under another name, which must be free. Its writer lets it go with that. */
export interface RenameBatch extends Fence {
  readonly kind: "rename";
  readonly to: SessionId;
}
/** Removes what nothing reachable names, a bounded amount at a time; repeat until `more` is false. */
export interface SweepBatch {
  readonly kind: "sweep";
  /** How many records, and how many blobs, one transaction may remove: writers wait for it. */
  readonly limit: number;
  /** Content found outside the store. What no row names is removed; a writer that paused before its commit will be told. */
  readonly candidates: readonly BlobName[];
  /**
   * Of content outside the store only what was last put before this wall time goes, asked again inside the transaction:
   * somebody may have put it once more, and be about to name it. Default: all of it.
   */
  readonly putBefore?: number;
  /**
   * A sweep by the way: a store may look at a part of its content, and at the next part when it is asked again; and what
   * cannot tell when it was put stays.
   */
  readonly byTheWay?: boolean;
}

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

export type PreviousWriter = "none" | "closed" | "died" | "expired";

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

export type Receipt<B extends WriteBatch> =
  | ({ readonly ok: true } & ReceiptValues[B["kind"]])
  | { readonly ok: false; readonly conflict: Conflict };
