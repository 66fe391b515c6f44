import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { JSON_LIMITS, type JsonLimits, type JsonObject } from "../base/json.ts";
import type { Random } from "../base/random.ts";
import type { ByteRange, Bytes, ByteSource } from "../contracts/blob-store.ts";
import type { AppendBatch, NewBlob, PreviousWriter, Receipt, SessionRow, Store } from "../contracts/store.ts";
import type { Link } from "../records/chain.ts";
import { type EncodedDraft, encodeDraft } from "../records/codec.ts";
import type { BlobName, SessionId } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";
import { KNOWN_SHAPES, type Redactor } from "../records/redact.ts";
import { readBlob, stageBlob } from "./blobs.ts";
import { conflictError } from "./conflicts.ts";
import type { JournalEntry } from "./prove.ts";
import { type AppendOptions, NO_OPTIONS, refuseBadOptions, refuseChangedContent } from "./append-options.ts";
import { type HeldLease, keepLease } from "./keep-lease.ts";
import { NewestRecords } from "./newest.ts";
import { type ReadOptions, readEntries, rowOf, sealedAt } from "./read.ts";
import { type Fold, NO_FOLD, type Sealed, type Sealing, sealBatch, stepped, type Tip } from "./seal-batch.ts";

/** What a journal needs. */
export interface JournalDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  /** Hides secrets in everything that is written. Default: hides what looks like a secret. */
  readonly redactor?: Redactor;
}

/** The sequence numbers of the records that an append wrote. */
export interface Appended {
  readonly first: number;
  readonly last: number;
  /** True if the operation had been applied before; then nothing was written now. */
  readonly repeated: boolean;
}

export interface JournalOptions<T> {
  /** Called with records when they are durable, or written where they are `unsynced`. It must not throw. */
  readonly written?: (records: readonly Sealed[]) => void;
  readonly leaseMs: number;
  readonly limits?: JsonLimits;
  readonly fold?: Fold<T>;
  /** Called when it has been closed, and nobody writes under its lease any more. */
  readonly letGo?: () => void;
}

/** What opening found. `tail`: the newest checkpoint and what follows it, which is all that recovery needs. */
export interface Opened {
  readonly previousWriter: PreviousWriter;
  readonly tail: readonly JournalEntry[];
  /** What was wrong with the session's own entry in the store. It was mended from the records that prove it. */
  readonly mended?: string;
}

/** At once where they are remembered, else as the store answers. */
export type Entries = Iterable<JournalEntry> | AsyncIterable<JournalEntry>;

type Send = (drafts: RecordDraft | readonly RecordDraft[], options?: AppendOptions) => Promise<Appended>;

let sendingTo: (journal: Journal) => Send;

/** The kernel's own way into a journal, past what is reserved for it. It is not on the door. */
export function appendReserved<T>(
  journal: Journal<T>,
  drafts: RecordDraft | readonly RecordDraft[],
  options?: AppendOptions,
): Promise<Appended> {
  return sendingTo(journal as Journal)(drafts, options);
}

/** A session's journal, held by one writer under a lease. */
export class Journal<T = unknown> implements AsyncDisposable {
  static {
    sendingTo = (journal) => (drafts, options) => journal.#send(drafts, options, "kernel");
  }

  readonly session: SessionId;
  readonly opened: Opened;
  readonly redactor: Redactor;
  readonly #deps: JournalDeps;
  readonly #lease: HeldLease;
  readonly #limits: JsonLimits;
  readonly #ended = new AbortController();
  readonly #closing = new AbortController();
  readonly #fold: Fold<T>;
  readonly #sealing: Sealing<T>;
  readonly #written: (records: readonly Sealed[]) => void;
  readonly #letGo: () => void;
  /** Ahead of what is durable while appends are under way. */
  #tip: Tip<T>;
  #durable: Tip<T>;
  readonly #newest = new NewestRecords();
  /** Settles when every append called so far has ended. */
  #called: Promise<unknown> = Promise.resolve();
  #inLine = 0;
  #unsure = false;
  /** Why the tip is not what the next record may hang on. */
  #broken: { readonly kind: "failed"; readonly error: unknown } | { readonly kind: "repeated" } | undefined;
  #closed: Promise<void> | undefined;

  constructor(deps: JournalDeps, row: SessionRow, opened: Opened, options: JournalOptions<T>) {
    this.#deps = deps;
    this.session = row.id;
    this.opened = opened;
    this.redactor = deps.redactor ?? KNOWN_SHAPES;
    const { leaseMs } = options;
    this.#lease = { session: row.id, epoch: row.epoch, leaseMs, renewedAt: deps.clock.monotonic() };
    this.#limits = options.limits ?? JSON_LIMITS;
    this.#fold = options.fold ?? (NO_FOLD as Fold<never>);
    const { clock, random } = deps;
    const encode = (draft: RecordDraft) => this.#encode(draft);
    this.#sealing = { session: row.id, clock, random, fold: this.#fold, encode };
    this.#written = options.written ?? (() => {});
    this.#letGo = options.letGo ?? (() => {});
    this.#durable = { link: row.head, folded: this.#fold.start(opened.tail), sinceCheckpoint: opened.tail.length };
    this.#tip = this.#durable;
    const stop = AbortSignal.any([this.#closing.signal, this.#ended.signal]);
    void keepLease(deps, this.#lease, stop, (error) => this.#ended.abort(error));
  }

  /** The newest acknowledged record. */
  get head(): Link {
    return this.#durable.link;
  }

  /** The fold of the acknowledged records. */
  get folded(): T {
    return this.#durable.folded;
  }

  /** How many records follow the newest checkpoint, including those being appended. */
  get sinceCheckpoint(): number {
    return this.#tip.sinceCheckpoint;
  }

  /** True once an append failed that may have been written anyway. */
  get unsure(): boolean {
    return this.#unsure;
  }

  /** The epoch of the lease. */
  get epoch(): number {
    return this.#lease.epoch;
  }

  /** Aborts when this journal can no longer write, because it was closed or lost its lease. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /**
   * Appends records, all of them or none. Resolves when they are durable, unless they are `unsynced`. Records are in the
   * order in which `append` was called, so callers need not wait for each other; appends under way at the same time share a
   * sync.
   */
  append(drafts: RecordDraft | readonly RecordDraft[], options?: AppendOptions): Promise<Appended> {
    return this.#send(drafts, options, "anybody");
  }

  #send(
    drafts: RecordDraft | readonly RecordDraft[],
    options: AppendOptions = NO_OPTIONS,
    by: "anybody" | "kernel",
  ): Promise<Appended> {
    const earlier = this.#called;
    const work = this.#append(Array.isArray(drafts) ? drafts : [drafts as RecordDraft], options, earlier, by);
    // Only when both have ended, and without their results: a chain that kept them would hold every append ever made.
    const settled = () => earlier;
    this.#called = work.then(settled, settled);
    return work;
  }

  /** Reads the records, oldest first unless `reverse` is set. Damage is an entry of its own. */
  read(options: ReadOptions = {}): AsyncIterable<JournalEntry> {
    return readEntries(this.#deps.store, this.session, options);
  }

  /** Everything acknowledged from there on. What was just written comes from memory. */
  readOn(from: number): Entries {
    const to = this.head.seq;
    return from > to ? [] : (this.#newest.since(from, to) ?? this.read({ from, to }));
  }

  /** Prepares content for the append that will name it. */
  stageBlob(source: ByteSource, signal?: AbortSignal): Promise<NewBlob> {
    return stageBlob(this.#deps.store, source, signal);
  }

  /** The proven bytes of some content. */
  readBlob(name: BlobName, range?: ByteRange, signal?: AbortSignal): AsyncIterable<Bytes> {
    return readBlob(this.#deps.store, name, range, signal);
  }

  /** Waits for appends that are under way, then gives the lease up. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    const closed = new HoldfastError("JOURNAL_CLOSED", { session: this.session });
    this.#closing.abort(closed);
    await this.#called;
    try {
      if (this.#ended.signal.aborted) return; // the lease is somebody else's
      this.#ended.abort(closed);
      await this.#deps.store.commit({ kind: "release", session: this.session, epoch: this.epoch });
    } catch (error) {
      // A store that was closed first has taken its owner with it: the next writer need not wait.
      if (!HoldfastError.is(error, "STORE_CLOSED")) throw error;
    } finally {
      this.#letGo();
    }
  }

  async #append(
    drafts: readonly RecordDraft[],
    options: AppendOptions,
    earlier: Promise<unknown>,
    by: "anybody" | "kernel",
  ): Promise<Appended> {
    this.#closing.signal.throwIfAborted();
    this.#ended.signal.throwIfAborted();
    refuseBadOptions(options);
    refuseChangedContent(options);
    const known = options.checked === undefined ? undefined : { delta: options.checked };
    const encoded = drafts.map((draft) => this.#encode(draft, known));
    for (;;) {
      const inLine = this.#broken !== undefined || this.#inLine > 0;
      if (inLine) await this.#standInLine(earlier);
      // No await from here to the store: whoever leaves the line is sealed and sent before anybody else can come.
      if (inLine) this.#inLine -= 1;
      try {
        if (by === "anybody") this.#fold.reserve?.(this.#tip.folded, encoded, options);
      } catch (error) {
        // What was refused now may have been applied long ago, when it was in order: then it is answered as it was.
        const before = await this.#appliedBefore(options.operation);
        if (before === undefined) throw error;
        return before;
      }
      const { parts, tip, sealed } = sealBatch(this.#tip, encoded, this.#redacted(options), this.#sealing);
      const batch = { ...this.#batch(this.#tip.link), ...parts };
      this.#tip = tip;
      const appended = await this.#commit(batch, tip);
      if (appended?.repeated === false) this.#written(sealed);
      if (appended !== undefined) return appended;
    }
  }

  /** Asks with a batch that brings nothing: a known operation is answered, and with any other nothing is written. */
  async #appliedBefore(operation: string | undefined): Promise<Appended | undefined> {
    if (operation === undefined) return undefined;
    const receipt = await this.#deps.store.commit({ ...this.#batch(this.#durable.link), operation });
    return receipt.ok && receipt.repeated ? { first: receipt.first, last: receipt.last, repeated: true } : undefined;
  }

  /** After a break everybody waits for those called earlier, so that the order of the calls stays the order of the records. */
  async #standInLine(earlier: Promise<unknown>): Promise<void> {
    this.#inLine += 1;
    try {
      await earlier;
      if (this.#broken !== undefined) await this.#resume();
    } catch (error) {
      this.#inLine -= 1;
      throw error;
    }
  }

  /** Undefined when the batch hung on one that turned out to be a repetition: then it is sealed and sent anew. */
  async #commit(batch: AppendBatch, tip: Tip<T>): Promise<Appended | undefined> {
    let receipt: Receipt<AppendBatch>;
    try {
      receipt = await this.#deps.store.commit(batch);
    } catch (error) {
      this.#breakWith(error);
      this.#unsure ||= await this.#mayBeThere(tip.link);
      throw error;
    }
    if (!receipt.ok) {
      const { conflict } = receipt;
      if (conflict.kind === "head-moved" && this.#broken?.kind === "repeated") return undefined;
      // Whatever hangs on a failed append fails with it, and the next begins anew from what is durable.
      if (conflict.kind === "head-moved" && this.#broken?.kind === "failed") throw this.#broken.error;
      const error = conflictError(this.session, conflict);
      if (conflict.kind === "lease-lost") this.#ended.abort(error);
      throw this.#breakWith(error);
    }
    if (receipt.repeated) {
      this.#broken ??= { kind: "repeated" }; // what was sealed for this call is not in the chain
    } else {
      // Answers may come in another order than the commits; a later record vouches for those before it.
      if (tip.link.seq > this.#durable.link.seq) this.#durable = tip;
      this.#newest.add(batch.records);
      this.#lease.renewedAt = this.#deps.clock.monotonic();
    }
    const { first, last, repeated } = receipt;
    return { first, last, repeated };
  }

  /**
   * A commit that failed may have reached the disk all the same. Found there it is no success, because a sync that failed
   * has promised nothing; but whoever goes on as if it had not happened would differ from what the next process finds.
   */
  async #mayBeThere({ seq, hash }: Link): Promise<boolean> {
    try {
      const { store } = this.#deps;
      const record = await sealedAt(store, await rowOf(store, this.session), seq);
      return record?.hash === hash;
    } catch {
      return true; // nobody can tell
    }
  }

  #breakWith(error: unknown): unknown {
    this.#broken ??= { kind: "failed", error };
    return error;
  }

  /** After a break, when everything that hung on it has ended: look at what is really there. */
  async #resume(): Promise<void> {
    this.#ended.signal.throwIfAborted();
    const row = await rowOf(this.#deps.store, this.session);
    if (row.epoch !== this.epoch || row.owner === null) {
      const error = new HoldfastError("LEASE_LOST", { session: this.session, epoch: row.epoch });
      this.#ended.abort(error);
      throw error;
    }
    if (row.head.hash !== this.#durable.link.hash) await this.#catchUp(row);
    this.#tip = this.#durable;
    this.#broken = undefined;
  }

  /** An append that failed may still have reached the disk. Then it is part of the story, and the fold must hear of it. */
  async #catchUp(row: SessionRow): Promise<void> {
    let tip = this.#durable;
    for await (const entry of this.read({ from: tip.link.seq + 1, to: row.head.seq })) {
      if (entry.kind === "damaged" || entry.kind === "dropped") continue;
      tip = stepped(tip, this.#fold, entry, { seq: entry.seq, hash: "" });
    }
    this.#durable = { ...tip, link: row.head };
  }

  /** At once, whenever it is sent: a bad draft touches nobody else, and what the caller changes later changes nothing. */
  #encode(draft: RecordDraft, known?: JsonObject): EncodedDraft {
    return encodeDraft(draft, this.#limits, this.redactor, known);
  }

  /** The state of a checkpoint is kept for long, and in clear. */
  #redacted(options: AppendOptions): AppendOptions {
    const { checkpoint } = options;
    if (checkpoint?.state === undefined) return options;
    return { ...options, checkpoint: { ...checkpoint, state: this.redactor.json(checkpoint.state) } };
  }

  /** A batch that brings nothing yet. */
  #batch(after: Link): AppendBatch {
    const { session, epoch, leaseMs } = this.#lease;
    return { kind: "append", session, epoch, after, records: [], references: [], blobs: [], leaseMs };
  }
}
