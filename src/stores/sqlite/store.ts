import { statSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { HoldfastError } from "../../base/errors.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import type { HeldLock, OsLocks } from "../../contracts/lock.ts";
import type { Durability, Receipt, Shrunk, Store, StoreRead, WriteBatch } from "../../contracts/store.ts";
import { type OwnerId, toOwnerId } from "../../records/ids.ts";
import { applyBatch } from "../apply.ts";
import { type Connected, type ConnectOptions, closeQuietly, connectReader, connectWriter } from "./connect.ts";
import { storeError } from "./failures.ts";
import { Footing } from "./footing.ts";
import { FileLocks } from "./lock.ts";
import { type Patience, patiently } from "./patience.ts";
import { readFrom } from "./read.ts";
import { Turns } from "./turns.ts";

interface Waiting {
  readonly batch: WriteBatch;
  readonly resolve: (receipt: Receipt<WriteBatch>) => void;
  readonly reject: (error: unknown) => void;
}

export interface SqliteStoreParts extends Patience {
  readonly connect: ConnectOptions;
  readonly blobs: BlobStore;
  readonly locks: FileLocks;
  readonly owner: OwnerId;
  /** Freed when the store is closed, the owner's last: as long as that one is held, nobody takes this store for dead. */
  readonly held: readonly HeldLock[];
}

/** How many waiting batches share one sync. More would make the first of them wait for the last. */
const GROUP = 128;
/** Connections that read at once. Each costs files and memory, and they all work on one thread. */
const MOST_READERS = 8;
const IDLE_READERS = 2;
/** A step of giving space back, in pages: writers wait for one, and get their turn between two. */
const SHRINK_PAGES = 256;
/** How many transactions in a row may leave it to a later one to wait for the disk. The log is not carried over meanwhile. */
const MOST_UNSYNCED = 64;
/** SQLite works on this thread. After so many milliseconds of it everybody else gets a turn: timers, sockets, aborts. */
const TURN_MS = 8;

export class SqliteStore implements Store {
  readonly durability: Exclude<Durability, "memory">;
  readonly owner: OwnerId;
  readonly blobs: BlobStore;
  readonly place: string;
  readonly beside: readonly string[] = ["-wal", "-shm", "-journal", ".locks", ".blobs"];
  readonly #parts: SqliteStoreParts;
  readonly #waiting: Waiting[] = [];
  /** Work that needs the writer's connection between two transactions. */
  readonly #between: (() => Promise<void>)[] = [];
  readonly #readers: Connected[] = [];
  readonly #turns: Turns;
  readonly #footing: Footing;
  #writer: Connected | undefined;
  #draining: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #workedMs = 0;
  /** Transactions at the end of the log that did not wait for the disk. */
  #unsynced = 0;
  /** A sync may have failed: of what was written before, also by others, the disk may lack a part, and no later sync says so. */
  #isLogInDoubt = false;

  constructor(parts: SqliteStoreParts, writer: Connected) {
    this.#parts = parts;
    this.#turns = new Turns(MOST_READERS, parts);
    this.#footing = new Footing(parts.connect.path, parts.connect.journal, parts.clock);
    this.#writer = writer;
    this.durability = parts.connect.durability;
    this.owner = parts.owner;
    this.blobs = parts.blobs;
    this.place = parts.connect.path;
  }

  locksIn(folder: string): OsLocks {
    return new FileLocks(this.#parts.connect.driver, folder);
  }

  commit<B extends WriteBatch>(batch: B): Promise<Receipt<B>> {
    if (this.#closing !== undefined) return Promise.reject(new HoldfastError("STORE_CLOSED"));
    return new Promise<Receipt<WriteBatch>>((resolve, reject) => {
      this.#waiting.push({ batch, resolve, reject });
      this.#draining ??= this.#drain();
    }) as Promise<Receipt<B>>;
  }

  /** Group commit: whatever came in while the last transaction ran shares the next one, and its sync. */
  async #drain(): Promise<void> {
    await Promise.resolve(); // batches sent in the same breath join the first group
    while (this.#waiting.length > 0 || this.#between.length > 0) {
      const started = this.#parts.clock.monotonic();
      const group = this.#waiting.splice(0, groupSize(this.#waiting));
      if (group.length > 0) await this.#settle(group);
      const work = this.#between.shift();
      if (work !== undefined) await work();
      if (this.#hasWorkedLong(started)) await nextTurn();
    }
    this.#draining = undefined;
  }

  #betweenGroups<T>(work: (writer: Connected) => T): Promise<T> {
    if (this.#closing !== undefined) return Promise.reject(new HoldfastError("STORE_CLOSED"));
    return new Promise<T>((resolve, reject) => {
      this.#between.push(() => this.#withWriter(work).then(resolve, reject));
      this.#draining ??= this.#drain();
    });
  }

  async #withWriter<T>(work: (writer: Connected) => T): Promise<T> {
    try {
      return await patiently(this.#parts, () => this.#told(() => work((this.#writer ??= this.#connect()))));
    } catch (error) {
      this.#isLogInDoubt ||= !HoldfastError.is(error, "STORE_BUSY");
      this.#dropWriter();
      throw error;
    }
  }

  #dropWriter(): void {
    closeQuietly(this.#writer?.connection);
    this.#writer = undefined;
  }

  async #settle(group: readonly Waiting[]): Promise<void> {
    const outcome = await this.#transact(group.map((waiting) => waiting.batch));
    if (outcome.ok) {
      for (let at = 0; at < group.length; at += 1) group[at]?.resolve(outcome.receipts[at] as Receipt<WriteBatch>);
    } else if (outcome.undone && group.length > 1) {
      // One batch could not be applied and took the transaction with it. It fails alone; its neighbours get their own.
      for (const waiting of group) await this.#settle([waiting]);
    } else {
      for (const waiting of group) waiting.reject(outcome.error);
    }
  }

  async #transact(batches: readonly WriteBatch[]): Promise<Outcome> {
    const isTold = !batches.every(isUnsynced);
    const isSynced = isTold || this.#unsynced >= MOST_UNSYNCED;
    let undone = true;
    try {
      const begun = patiently(this.#parts, () => this.#begin(isSynced));
      const writer = begun instanceof Promise ? await begun : begun;
      const isAlone = () => this.#isAlone();
      const ground = { tables: writer.tables, blobs: this.blobs, clock: this.#parts.clock, isAlone };
      const receipts = batches.map((batch) => {
        writer.tables.wipe(batch.kind !== "drop" || batch.mayLinger !== true);
        return applyBatch(ground, batch);
      });
      undone = false;
      // Without a write-ahead log a reader holds up a commit, and the transaction stays open until it can be tried again.
      const committed = patiently(this.#parts, () => this.#told(() => writer.tables.commit()));
      if (committed instanceof Promise) await committed;
      this.#unsynced = isSynced ? 0 : this.#unsynced + 1;
      if (isTold) this.#footing.afterCommit();
      return { ok: true, receipts };
    } catch (error) {
      // After a failed sync nobody knows which pages the system still holds: nothing is acknowledged through this
      // connection again. The next write opens a new one, which sees what is really there.
      this.#isLogInDoubt ||= !undone;
      this.#dropWriter();
      return { ok: false, undone, error: this.#footing.lost ?? this.#errorOf(error) };
    }
  }

  /** `synced`: somebody is told of it, who must find it again after a loss of power. */
  #begin(synced: boolean): Connected {
    const writer = (this.#writer ??= this.#connect());
    this.#told(() => {
      if (this.#canSkipSyncs) this.#prepareLog(writer, synced);
      writer.tables.begin();
    });
    return writer;
  }

  /** Behind a part that is missing after a loss of power nothing in the log is found. In doubt, it begins anew. */
  #prepareLog({ tables }: Connected, synced: boolean): void {
    if (this.#isLogInDoubt) tables.emptyLog();
    this.#isLogInDoubt = false;
    tables.sync(synced);
  }

  /** Without a write-ahead log a commit that is not synced could cost the whole file, not only what it brought. */
  get #canSkipSyncs(): boolean {
    return this.durability === "power" && this.#parts.connect.journal === "wal";
  }

  #connect(): Connected {
    this.#footing.beforeConnecting();
    return connectWriter(this.#parts.connect);
  }

  async reading<T>(use: (read: StoreRead) => Promise<T>): Promise<T> {
    const turn = this.#turns.take();
    if (turn !== undefined) await turn;
    try {
      return await this.#readPinned(use);
    } finally {
      this.#turns.give();
    }
  }

  #readPinned<T>(use: (read: StoreRead) => Promise<T>): Promise<T> {
    return this.#working(async () => {
      if (this.#closing !== undefined) throw new HoldfastError("STORE_CLOSED");
      const reader = await patiently(this.#parts, () => this.#pin());
      let usable = false;
      try {
        const result = await use(readFrom(reader.tables, this.#parts.connect));
        this.#run(reader, "ROLLBACK"); // nothing was written, and after damaged pages SQLite commits no more
        usable = true;
        return result;
      } catch (error) {
        throw this.#errorOf(error);
      } finally {
        if (usable && this.#closing === undefined && this.#readers.length < IDLE_READERS) this.#readers.push(reader);
        else closeQuietly(reader.connection);
      }
    });
  }

  #pin(): Connected {
    const { driver, path } = this.#parts.connect;
    if (this.#readers.length === 0) this.#footing.check();
    const reader = this.#readers.pop() ?? connectReader(driver, path);
    try {
      this.#run(reader, "BEGIN");
      reader.tables.meta("durability"); // the first read pins the snapshot
      return reader;
    } catch (error) {
      closeQuietly(reader.connection);
      throw this.#errorOf(error);
    }
  }

  /** Step by step, between the transactions of others. Somebody who stays in the way leaves the rest for another time. */
  async shrink(): Promise<Shrunk> {
    const size = () => this.#told(() => statSync(this.place).size);
    this.#footing.check();
    const before = size();
    const whole = await this.#giveBack().catch((error: unknown) => {
      if (HoldfastError.is(error, "STORE_BUSY")) return false;
      throw error;
    });
    return { bytes: Math.max(0, before - size()), whole };
  }

  async #giveBack(): Promise<boolean> {
    let free: number;
    let left: number;
    do
      [free, left] = await this.#betweenGroups(({ connection, tables }) => {
        const before = tables.freePages(); // asked anew: between two steps others free more
        connection.exec(`PRAGMA incremental_vacuum(${SHRINK_PAGES})`);
        return [before, tables.freePages()];
      });
    while (left > 0 && left < free);
    // What was given up is still in the file, and in the log, until the log has been carried over.
    await this.#betweenGroups(({ tables }) => tables.emptyLog());
    return left === 0;
  }

  isDead(owner: OwnerId): boolean {
    const { locks } = this.#parts;
    if (owner === this.owner || !locks.isFree(owner)) return false;
    locks.forget(owner); // an owner lives once: what its death left behind is of no further use
    return true;
  }

  /** By the locks of owners: who sleeps still holds one. Whoever opens the store meanwhile has opened no session yet. */
  #isAlone(): boolean {
    const { locks } = this.#parts;
    return locks.names(toOwnerId("")).every((owner) => owner === this.owner || locks.isFree(owner));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining;
    for (const reader of this.#readers.splice(0)) closeQuietly(reader.connection);
    this.#dropWriter();
    for (const lock of this.#parts.held) await lock.release();
    this.#told(() => this.#parts.locks.forget(this.owner));
  }

  #run({ connection }: Connected, sql: string): void {
    this.#told(() => connection.exec(sql));
  }

  #told<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw this.#errorOf(error);
    }
  }

  #errorOf(error: unknown): unknown {
    return storeError(this.#parts.connect.driver, error, this.#parts.connect.path);
  }

  async #working<T>(work: () => Promise<T>): Promise<T> {
    const started = this.#parts.clock.monotonic();
    try {
      return await work();
    } finally {
      if (this.#hasWorkedLong(started)) await nextTurn();
    }
  }

  #hasWorkedLong(since: number): boolean {
    this.#workedMs += this.#parts.clock.monotonic() - since;
    if (this.#workedMs < TURN_MS) return false;
    this.#workedMs = 0;
    return true;
  }
}

function isUnsynced(batch: WriteBatch): boolean {
  return batch.kind === "append" && batch.unsynced === true;
}

/** `undone`: it failed before its end was sent to the disk, so certainly nothing of it is there. */
type Outcome =
  | { readonly ok: true; readonly receipts: readonly Receipt<WriteBatch>[] }
  | { readonly ok: false; readonly undone: boolean; readonly error: unknown };

/** A sweep unlinks files, which no rollback brings back. Alone in its transaction, it sees only what is committed. */
function groupSize(waiting: readonly Waiting[]): number {
  const sweep = waiting.findIndex(({ batch }) => batch.kind === "sweep");
  if (sweep === -1) return GROUP;
  return sweep === 0 ? 1 : Math.min(sweep, GROUP);
}
