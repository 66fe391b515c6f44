import { type Clock, instantOf } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { JSON_LIMITS, type JsonLimits } from "../base/json.ts";
import type { Random } from "../base/random.ts";
import type { ByteRange, Bytes, ByteSource } from "../contracts/blob-store.ts";
import type { AppendBatch, NewBlob, PreviousWriter, SessionRow, Store } from "../contracts/store.ts";
import { type Link, MAX_SEQ, type SealedRecord, seal } from "../records/chain.ts";
import { encodeDraft } from "../records/codec.ts";
import type { BlobName, SessionId } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";
import { RECORD_VERSION } from "../records/lift.ts";
import { readBlob, stageBlob } from "./blobs.ts";
import { conflictError } from "./conflicts.ts";
import type { JournalEntry } from "./prove.ts";
import { type ReadOptions, readEntries, rowOf } from "./read.ts";

export interface JournalDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
}

export interface AppendOptions {
  /** The same operation is applied once, however often it is sent: the way to retry after an unclear failure. */
  readonly operation?: string;
  /** Content from `stageBlob` that the records name in `blobs`. */
  readonly staged?: readonly NewBlob[];
  /** Retention: forget everything up to here in the same commit. */
  readonly anchor?: Link;
}

export interface Appended {
  readonly first: number;
  readonly last: number;
  /** The operation had been applied before; nothing was written now. */
  readonly repeated: boolean;
}

/**
 * Something carried along the chain, record by record, from what opening found. It moves with the tip when records are
 * sealed and falls back with it when an append fails, so it never speaks of a record that is not there.
 */
export interface Fold<T> {
  start(tail: readonly JournalEntry[]): T;
  step(now: T, draft: RecordDraft): T;
  /** A record to add to a batch, e.g. a checkpoint when one is due. */
  due(now: T, sinceCheckpoint: number): RecordDraft | undefined;
}

export interface JournalOptions<T> {
  readonly leaseMs: number;
  readonly limits?: JsonLimits;
  readonly fold?: Fold<T>;
}

/** What opening found. `tail` is what lies after the newest checkpoint: recovery needs no more. */
export interface Opened {
  readonly previousWriter: PreviousWriter;
  readonly tail: readonly JournalEntry[];
}

/** Where the next record hangs, and what the chain up to there folds to. */
interface Tip<T> {
  readonly link: Link;
  readonly folded: T;
  readonly sinceCheckpoint: number;
}

const NO_FOLD: Fold<undefined> = { start: () => undefined, step: () => undefined, due: () => undefined };

/** One writer's hold on one session. Only this class calls `Store.commit` for records. */
export class Journal<T = unknown> implements AsyncDisposable {
  readonly session: SessionId;
  readonly opened: Opened;
  readonly #deps: JournalDeps;
  readonly #leaseMs: number;
  readonly #limits: JsonLimits;
  readonly #epoch: number;
  readonly #ended = new AbortController();
  readonly #closing = new AbortController();
  readonly #fold: Fold<T>;
  /** Ahead of what is durable while appends are under way. */
  #tip: Tip<T>;
  #durable: Tip<T>;
  #renewedAt: number;
  #underWay = new Set<Promise<unknown>>();
  #failed: unknown;

  constructor(deps: JournalDeps, row: SessionRow, opened: Opened, options: JournalOptions<T>) {
    this.#deps = deps;
    this.session = row.id;
    this.opened = opened;
    this.#epoch = row.epoch;
    this.#leaseMs = options.leaseMs;
    this.#limits = options.limits ?? JSON_LIMITS;
    this.#fold = options.fold ?? (NO_FOLD as Fold<never>);
    this.#durable = { link: row.head, folded: this.#fold.start(opened.tail), sinceCheckpoint: opened.tail.length };
    this.#tip = this.#durable;
    this.#renewedAt = deps.clock.monotonic();
    void this.#keepLease();
  }

  /** The newest acknowledged record. */
  get head(): Link {
    return this.#durable.link;
  }

  /** What the acknowledged records fold to. */
  get folded(): T {
    return this.#durable.folded;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Aborts when this journal can write no more: closed, or its lease lost. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /**
   * Resolves when the records are durable. Records are sealed at once, in the order of the calls, so writers need not
   * wait for each other; those under way together share a sync. All of them or none are written.
   */
  append(drafts: RecordDraft | readonly RecordDraft[], options: AppendOptions = {}): Promise<Appended> {
    const work = this.#append(Array.isArray(drafts) ? drafts : [drafts as RecordDraft], options);
    this.#underWay.add(work);
    const done = () => this.#underWay.delete(work);
    work.then(done, done);
    return work;
  }

  read(options: ReadOptions = {}): AsyncIterable<JournalEntry> {
    return readEntries(this.#deps.store, this.session, options);
  }

  stageBlob(source: ByteSource, signal?: AbortSignal): Promise<NewBlob> {
    return stageBlob(this.#deps.store, source, signal);
  }

  readBlob(name: BlobName, range?: ByteRange, signal?: AbortSignal): AsyncIterable<Bytes> {
    return readBlob(this.#deps.store, name, range, signal);
  }

  /** Waits for what is under way, then gives the session free. */
  async close(): Promise<void> {
    if (this.#ended.signal.aborted) return;
    this.#closing.abort(new HoldfastError("JOURNAL_CLOSED", { session: this.session }));
    await Promise.allSettled(this.#underWay);
    const lost = this.#ended.signal.aborted;
    this.#ended.abort(new HoldfastError("JOURNAL_CLOSED", { session: this.session }));
    if (!lost) await this.#deps.store.commit({ kind: "release", session: this.session, epoch: this.#epoch });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #append(drafts: readonly RecordDraft[], options: AppendOptions): Promise<Appended> {
    this.#closing.signal.throwIfAborted();
    this.#ended.signal.throwIfAborted();
    if (this.#failed !== undefined) await this.#resume();
    const { batch, tip } = this.#seal(drafts, options);
    this.#tip = tip;
    try {
      return await this.#commit(batch, tip);
    } catch (error) {
      // Later appends hang on this one: they fail with it, and the next begins anew from what is durable.
      this.#failed ??= error;
      throw error;
    }
  }

  async #commit(batch: AppendBatch, tip: Tip<T>): Promise<Appended> {
    const receipt = await this.#deps.store.commit(batch);
    if (!receipt.ok) {
      if (receipt.conflict.kind === "head-moved" && this.#failed !== undefined) throw this.#failed;
      const error = conflictError(this.session, receipt.conflict);
      if (receipt.conflict.kind === "lease-lost") this.#ended.abort(error);
      throw error;
    }
    if (receipt.repeated) {
      // What was sealed for this call is not in the chain: whatever hangs on it fails, and the next append looks again.
      this.#failed ??= new HoldfastError("HEAD_MOVED", { session: this.session, head: batch.after.seq });
    } else {
      this.#durable = tip;
      this.#renewedAt = this.#deps.clock.monotonic();
    }
    const { first, last, repeated } = receipt;
    return { first, last, repeated };
  }

  /** After a failure: wait until everything that hung on it has failed too, then look at what is really there. */
  async #resume(): Promise<void> {
    const failed = this.#failed;
    const others = [...this.#underWay];
    await Promise.resolve();
    await Promise.allSettled(others.filter((work) => this.#underWay.has(work)));
    if (this.#failed !== failed) return;
    const row = await rowOf(this.#deps.store, this.session);
    if (row.epoch !== this.#epoch) {
      const error = new HoldfastError("LEASE_LOST", { session: this.session, epoch: row.epoch });
      this.#ended.abort(error);
      throw error;
    }
    if (row.head.hash !== this.#durable.link.hash) await this.#catchUp(row);
    this.#tip = this.#durable;
    this.#failed = undefined;
  }

  /** An append that failed may still have reached the disk. Then it is part of the story, and the fold must hear of it. */
  async #catchUp(row: SessionRow): Promise<void> {
    let { folded, sinceCheckpoint } = this.#durable;
    for await (const entry of this.read({ from: this.#durable.link.seq + 1, to: row.head.seq })) {
      if (entry.kind === "damaged" || entry.kind === "dropped") continue;
      folded = this.#fold.step(folded, entry);
      sinceCheckpoint = entry.kind === "checkpoint-kept" ? 1 : sinceCheckpoint + 1;
    }
    this.#durable = { link: row.head, folded, sinceCheckpoint };
  }

  #seal(drafts: readonly RecordDraft[], options: AppendOptions): { readonly batch: AppendBatch; readonly tip: Tip<T> } {
    const at = instantOf(this.#deps.clock);
    const records: SealedRecord[] = [];
    const references: { seq: number; name: BlobName }[] = [];
    let { link, folded, sinceCheckpoint } = this.#tip;
    let checkpoint: number | undefined;
    const add = (draft: RecordDraft) => {
      if (link.seq >= MAX_SEQ) throw new HoldfastError("SESSION_FULL", { session: this.session, seq: link.seq });
      const { kind, body } = encodeDraft(draft, this.#limits);
      const record = seal(link, { kind, at, version: RECORD_VERSION, salt: this.#deps.random.hex(8), body });
      records.push(record);
      for (const { name } of draft.blobs ?? []) references.push({ seq: record.seq, name });
      if (kind === "checkpoint-kept") checkpoint = record.seq;
      link = { seq: record.seq, hash: record.hash };
      folded = this.#fold.step(folded, draft);
      sinceCheckpoint = kind === "checkpoint-kept" ? 1 : sinceCheckpoint + 1;
    };
    for (const draft of drafts) add(draft);
    const due = this.#fold.due(folded, sinceCheckpoint);
    if (due !== undefined) add(due);
    const batch: AppendBatch = {
      kind: "append",
      session: this.session,
      epoch: this.#epoch,
      after: this.#tip.link,
      records,
      references,
      blobs: options.staged ?? [],
      leaseUntil: this.#deps.clock.now() + this.#leaseMs,
      ...(checkpoint === undefined ? {} : { checkpoint }),
      ...(options.operation === undefined ? {} : { operation: options.operation }),
      ...(options.anchor === undefined ? {} : { anchor: options.anchor }),
    };
    return { batch, tip: { link, folded, sinceCheckpoint } };
  }

  /** Appends renew the lease; between them this does. A holder that cannot renew is told so before its next append. */
  async #keepLease(): Promise<void> {
    const { clock, store } = this.#deps;
    const stop = AbortSignal.any([this.#closing.signal, this.#ended.signal]);
    for (;;) {
      try {
        await clock.sleep(this.#leaseMs / 3, stop);
      } catch {
        return; // closed or lost: there is no lease to keep
      }
      if (clock.monotonic() - this.#renewedAt < this.#leaseMs / 3) continue;
      try {
        const receipt = await store.commit({
          kind: "renew",
          session: this.session,
          epoch: this.#epoch,
          until: clock.now() + this.#leaseMs,
        });
        if (receipt.ok) this.#renewedAt = clock.monotonic();
        else this.#ended.abort(conflictError(this.session, receipt.conflict));
      } catch (error) {
        if (HoldfastError.is(error, "STORE_CLOSED")) this.#ended.abort(error);
        // Otherwise the store is in trouble now: the next append will say so, or the next renewal will succeed.
      }
    }
  }
}
