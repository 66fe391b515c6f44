/** The one door. Explicit names only; a gate keeps this list and its documentation in step. */
export { type Clock, FixedClock, type Instant, SystemClock } from "./base/clock.ts";
export { ERROR_CODES, type ErrorCode } from "./base/error-codes.ts";
export { HoldfastError } from "./base/errors.ts";
export { countingIds, type IdSource, randomIds } from "./base/ids.ts";
export {
  checkJson,
  JSON_LIMITS,
  type Json,
  type JsonFault,
  type JsonLimits,
  type JsonObject,
  type JsonRepair,
} from "./base/json.ts";
export { type Random, SeededRandom, SystemRandom } from "./base/random.ts";
export type { Result } from "./base/result.ts";
export type { BlobStore, ByteRange, Bytes, ByteSource } from "./contracts/blob-store.ts";
export type { HeldLock, OsLocks } from "./contracts/lock.ts";
export type {
  AppendBatch,
  Conflict,
  CreateBatch,
  DamagedRow,
  DeleteBatch,
  DropBatch,
  Durability,
  Fence,
  ForkBatch,
  LeaseBatch,
  NewBlob,
  PreviousWriter,
  Receipt,
  RecordQuery,
  Reference,
  ReleaseBatch,
  RenewBatch,
  SegmentSpan,
  SessionRow,
  Store,
  StoreRead,
  SweepBatch,
  Swept,
  WriteBatch,
} from "./contracts/store.ts";
export type { StoreSource } from "./contracts/store-source.ts";
export { SMALL_BLOB } from "./journal/blobs.ts";
export { forkSession } from "./journal/fork.ts";
export {
  type Appended,
  type AppendOptions,
  type Fold,
  Journal,
  type JournalDeps,
  type Opened,
} from "./journal/journal.ts";
export { type OpenOptions, openJournal } from "./journal/open.ts";
export type { DamagedEntry, JournalEntry } from "./journal/prove.ts";
export { type ReadOptions, readEntries } from "./journal/read.ts";
export { dropBodies, type Retained, type RetentionBounds, retain } from "./journal/retention.ts";
export { type SweepOptions, type SweepReport, sweep } from "./journal/sweep.ts";
export {
  type BlobFault,
  type SessionVerdict,
  type VerifyOptions,
  type VerifyReport,
  verify,
} from "./journal/verify.ts";
export { CHUNK_BYTES, nameOfBytes } from "./records/blob-name.ts";
export { flawOf, genesisOf, type Link, MAX_SEQ, type RecordFlaw, type SealedRecord, seal } from "./records/chain.ts";
export { type DecodeFault, type DroppedRecord, decodeRecord } from "./records/codec.ts";
export {
  type BlobName,
  type CallId,
  callIdAt,
  type OwnerId,
  type SessionId,
  toBlobName,
  toSessionId,
} from "./records/ids.ts";
export type {
  BlobRef,
  BodyOf,
  CallEffects,
  JournalRecord,
  OutputStatus,
  RecordDraft,
  RecordKind,
} from "./records/kinds.ts";
export { createHoldfast, Holdfast, type HoldfastOptions } from "./turn/holdfast.ts";
export { INTERRUPTED, type Recovered } from "./turn/recover.ts";
export { Session } from "./turn/session.ts";
