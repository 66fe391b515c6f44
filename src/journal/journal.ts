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

/** What opening found. `tail` is what lies after the newest checkpoint: recovery needs no more. */
export interface Opened {
  readonly previousWriter: PreviousWriter;
  readonly tail: readonly JournalEntry[];
}

/** One writer's hold on one session. Only this class calls `Store.commit` for records. */
export class Journal implements AsyncDisposable {
  readonly session: SessionId;
  readonly opened: Opened;
  readonly #deps: JournalDeps;
  readonly #leaseMs: number;
  readonly #limits: JsonLimits;
  readonly #epoch: number;
  readonly #ended = new AbortController();
  readonly #closing = new AbortController();
  /** Where the next record hangs. Ahead of what is durable while appends are under way. */
  #link: Link;
  #durable: Link;
  #renewedAt: number;
  #underWay = new Set<Promise<unknown>>();
  #failed: unknown;

  constructor(
    deps: JournalDeps,
    row: SessionRow,
    opened: Opened,
    options: { readonly leaseMs: number; readonly limits?: JsonLimits },
  ) {
    this.#deps = deps;
    this.session = row.id;
    this.opened = opened;
    this.#epoch = row.epoch;
    this.#leaseMs = options.leaseMs;
    this.#limits = options.limits ?? JSON_LIMITS;
    this.#link = row.head;
    this.#durable = row.head;
    this.#renewedAt = deps.clock.monotonic();
    void this.#keepLease();
  }

  /** The newest acknowledged record. */
  get head(): Link {
    return this.#durable;
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
    const batch = this.#seal(drafts, options);
    const before = this.#link;
    const last = batch.records.at(-1);
    if (last !== undefined) this.#link = { seq: last.seq, hash: last.hash };
    try {
      return await this.#commit(batch, before);
    } catch (error) {
      // Later appends hang on this one: they fail with it, and the next begins anew from what is durable.
      this.#failed ??= error;
      throw error;
    }
  }

  async #commit(batch: AppendBatch, before: Link): Promise<Appended> {
    const receipt = await this.#deps.store.commit(batch);
    if (!receipt.ok) {
      if (receipt.conflict.kind === "head-moved" && this.#failed !== undefined) throw this.#failed;
      const error = conflictError(this.session, receipt.conflict);
      if (receipt.conflict.kind === "lease-lost") this.#ended.abort(error);
      throw error;
    }
    if (receipt.repeated) {
      // What was sealed for this call is not in the chain; nothing may hang on it.
      if (this.#link !== before)
        this.#failed ??= new HoldfastError("HEAD_MOVED", { session: this.session, head: before.seq });
    } else {
      const last = batch.records.at(-1);
      if (last !== undefined) this.#durable = { seq: last.seq, hash: last.hash };
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
    this.#link = row.head;
    this.#durable = row.head;
    this.#failed = undefined;
  }

  #seal(drafts: readonly RecordDraft[], options: AppendOptions): AppendBatch {
    const at = instantOf(this.#deps.clock);
    const records: SealedRecord[] = [];
    const references: { seq: number; name: BlobName }[] = [];
    let link = this.#link;
    let checkpoint: number | undefined;
    for (const draft of drafts) {
      if (link.seq >= MAX_SEQ) throw new HoldfastError("SESSION_FULL", { session: this.session, seq: link.seq });
      const { kind, body } = encodeDraft(draft, this.#limits);
      const record = seal(link, { kind, at, version: RECORD_VERSION, salt: this.#deps.random.hex(8), body });
      records.push(record);
      for (const { name } of draft.blobs ?? []) references.push({ seq: record.seq, name });
      if (kind === "checkpoint-kept") checkpoint = record.seq;
      link = { seq: record.seq, hash: record.hash };
    }
    return {
      kind: "append",
      session: this.session,
      epoch: this.#epoch,
      after: this.#link,
      records,
      references,
      blobs: options.staged ?? [],
      leaseUntil: this.#deps.clock.now() + this.#leaseMs,
      ...(checkpoint === undefined ? {} : { checkpoint }),
      ...(options.operation === undefined ? {} : { operation: options.operation }),
      ...(options.anchor === undefined ? {} : { anchor: options.anchor }),
    };
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
