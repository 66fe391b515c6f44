import { type Clock, type Instant, instantOf } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import type { Random } from "../base/random.ts";
import type { AppendBatch, NewBlob } from "../contracts/store.ts";
import { type Link, MAX_SEQ, type SealedRecord, seal } from "../records/chain.ts";
import type { EncodedDraft } from "../records/codec.ts";
import type { BlobName, SessionId } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";
import { RECORD_VERSION } from "../records/lift.ts";
import type { AppendOptions, CheckpointNote } from "./append-options.ts";
import type { JournalEntry } from "./prove.ts";

/**
 * A value computed along the journal, record by record, beginning with what opening found. It advances when records are
 * appended and falls back when an append fails, so it never includes a record that is not there.
 */
export interface Fold<T> {
  start(tail: readonly JournalEntry[]): T;
  step(now: T, draft: RecordDraft, seq: number): T;
  /** Returns a record to add to a batch, e.g. a checkpoint when one is due. */
  due(now: T, sinceCheckpoint: number): RecordDraft | undefined;
  /** The record of a checkpoint that was asked for. Default: one without open calls. */
  checkpoint?(now: T, note: CheckpointNote): RecordDraft;
  /** Refuses, by throwing, what callers of `append` may not write where the chain stands: see `appendReserved`. */
  reserve?(now: T, drafts: readonly EncodedDraft[], options: AppendOptions): void;
}

export const NO_FOLD: Fold<undefined> = { start: () => undefined, step: () => undefined, due: () => undefined };

/** Where the next record hangs, and what the chain up to there folds to. */
export interface Tip<T> {
  readonly link: Link;
  readonly folded: T;
  readonly sinceCheckpoint: number;
}

/** The tip when a record has been added. */
export function stepped<T>(tip: Tip<T>, fold: Fold<T>, draft: RecordDraft, link: Link): Tip<T> {
  return {
    link,
    folded: fold.step(tip.folded, draft, link.seq),
    sinceCheckpoint: draft.kind === "checkpoint-kept" ? 1 : tip.sinceCheckpoint + 1,
  };
}

/** A record as it was written, for those who watch. */
export interface Sealed {
  readonly draft: RecordDraft;
  readonly seq: number;
  readonly at: Instant;
  /** Of its body. */
  readonly bytes: number;
}

export interface SealedBatch<T> {
  readonly parts: Pick<
    AppendBatch,
    "records" | "references" | "blobs" | "checkpoint" | "operation" | "anchor" | "unsynced"
  >;
  readonly tip: Tip<T>;
  readonly sealed: readonly Sealed[];
}

export interface Sealing<T> {
  readonly session: SessionId;
  readonly clock: Clock;
  readonly random: Random;
  readonly fold: Fold<T>;
  /** For the records that the fold adds. */
  readonly encode: (draft: RecordDraft) => EncodedDraft;
}

/** Hangs records on the tip, one on the other, with the checkpoint that was asked for and what the fold finds due. */
export function sealBatch<T>(
  on: Tip<T>,
  drafts: readonly EncodedDraft[],
  options: AppendOptions,
  { session, clock, random, fold, encode }: Sealing<T>,
): SealedBatch<T> {
  const at = instantOf(clock);
  const sealed: Sealed[] = [];
  const records: SealedRecord[] = [];
  const references: { seq: number; name: BlobName }[] = [];
  // Also what was put long ago and is named now: the store must know of it, or a sweep would take it for nobody's.
  const content = new Map<BlobName, NewBlob>((options.staged ?? []).map((blob) => [blob.ref.name, blob]));
  let tip = on;
  let checkpoint: number | undefined;
  const add = ({ draft, kind, body, blobs }: EncodedDraft) => {
    if (tip.link.seq >= MAX_SEQ) throw new HoldfastError("SESSION_FULL", { session, seq: tip.link.seq });
    const record = seal(tip.link, { kind, at, version: RECORD_VERSION, salt: random.hex(8), body });
    const { seq, hash } = record;
    records.push(record);
    sealed.push({ draft, seq, at, bytes: body.length });
    for (const ref of blobs) {
      references.push({ seq, name: ref.name });
      const staged = content.get(ref.name);
      if (staged === undefined) content.set(ref.name, { ref });
      else if (staged.ref.size !== ref.size)
        throw new HoldfastError("RECORD_MALFORMED", { kind, fault: `${ref.name} has ${staged.ref.size} bytes` });
    }
    if (kind === "checkpoint-kept") checkpoint = seq;
    tip = stepped(tip, fold, draft, { seq, hash });
  };
  for (const draft of drafts) add(draft);
  if (options.checkpoint !== undefined) add(encode(checkpointRecord(fold, tip.folded, options.checkpoint)));
  const due = fold.due(tip.folded, tip.sinceCheckpoint);
  const fitting = due === undefined || tip.link.seq >= MAX_SEQ ? undefined : unlessTooLarge(encode, due);
  if (fitting !== undefined) add(fitting);
  const { operation, anchor } = options;
  const parts = {
    records,
    references,
    blobs: [...content.values()],
    ...(checkpoint === undefined ? {} : { checkpoint }),
    ...(operation === undefined ? {} : { operation }),
    ...(anchor === undefined ? {} : { anchor }),
    ...(options.unsynced === true ? { unsynced: true as const } : {}),
  };
  return { parts, tip, sealed };
}

/** It came with somebody else's records: refused, it would take them and all that come after with it. */
function unlessTooLarge(encode: Sealing<unknown>["encode"], due: RecordDraft): EncodedDraft | undefined {
  try {
    return encode(due);
  } catch (error) {
    if (HoldfastError.is(error, "VALUE_TOO_LARGE")) return undefined;
    throw error;
  }
}

function checkpointRecord<T>(fold: Fold<T>, folded: T, note: CheckpointNote): RecordDraft {
  return fold.checkpoint?.(folded, note) ?? { kind: "checkpoint-kept", openCalls: [], ...note };
}
