import { statSync } from "node:fs";
import type { Clock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { Random } from "../../base/random.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import type { HeldLock } from "../../contracts/lock.ts";
import type { Durability, Receipt, Store, StoreRead, WriteBatch } from "../../contracts/store.ts";
import type { OwnerId } from "../../records/ids.ts";
import { applyBatch } from "../apply.ts";
import { type Connected, type ConnectOptions, closeQuietly, connectReader, connectWriter } from "./connect.ts";
import { BUSY, storeError } from "./failures.ts";
import type { FileLocks } from "./lock.ts";
import { readFrom } from "./read.ts";
import type { SqliteDriver } from "./vendor.ts";

interface Waiting {
  readonly batch: WriteBatch;
  readonly resolve: (receipt: Receipt<WriteBatch>) => void;
  readonly reject: (error: unknown) => void;
}

export interface SqliteStoreParts {
  readonly connect: ConnectOptions;
  readonly blobs: BlobStore;
  readonly locks: FileLocks;
  readonly owner: OwnerId;
  readonly ownerLock: HeldLock;
  readonly alone: HeldLock | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly busyLimit: number;
}

/** How many waiting batches share one sync. More would make the first of them wait for the last. */
const GROUP = 128;
const IDLE_READERS = 2;

export class SqliteStore implements Store {
  readonly durability: Exclude<Durability, "memory">;
  readonly owner: OwnerId;
  readonly blobs: BlobStore;
  readonly #parts: SqliteStoreParts;
  readonly #driver: SqliteDriver;
  readonly #waiting: Waiting[] = [];
  readonly #readers: Connected[] = [];
  #writer: Connected | undefined;
  #draining: Promise<void> | undefined;
  #closed = false;

  constructor(parts: SqliteStoreParts, writer: Connected) {
    this.#parts = parts;
    this.#driver = parts.connect.driver;
    this.#writer = writer;
    this.durability = parts.connect.durability;
    this.owner = parts.owner;
    this.blobs = parts.blobs;
  }

  commit<B extends WriteBatch>(batch: B): Promise<Receipt<B>> {
    if (this.#closed) return Promise.reject(new HoldfastError("STORE_CLOSED"));
    return new Promise<Receipt<WriteBatch>>((resolve, reject) => {
      this.#waiting.push({ batch, resolve, reject });
      this.#draining ??= this.#drain();
    }) as Promise<Receipt<B>>;
  }

  /** Group commit: whatever came in while the last transaction ran shares the next one, and its sync. */
  async #drain(): Promise<void> {
    await Promise.resolve(); // batches sent in the same breath join the first group
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, groupSize(this.#waiting));
      try {
        const receipts = await this.#transact(group.map((waiting) => waiting.batch));
        for (const [index, waiting] of group.entries()) waiting.resolve(receipts[index] as Receipt<WriteBatch>);
      } catch (error) {
        for (const waiting of group) waiting.reject(error);
      }
    }
    this.#draining = undefined;
  }

  async #transact(batches: readonly WriteBatch[]): Promise<readonly Receipt<WriteBatch>[]> {
    const writer = await this.#begin();
    try {
      const receipts = batches.map((batch) => applyBatch(writer.tables, this.blobs, batch));
      writer.tables.commit();
      return receipts;
    } catch (error) {
      // After a failed sync nobody knows which pages the system still holds: nothing is acknowledged through this
      // connection again. The next write opens a new one, which sees what is really there.
      this.#writer = undefined;
      closeQuietly(writer.connection);
      throw storeError(this.#driver, error, this.#parts.connect.path);
    }
  }

  /** Waits for the write lock without holding up the process, up to the limit. */
  async #begin(): Promise<Connected> {
    const { clock, random, busyLimit, connect } = this.#parts;
    const started = clock.monotonic();
    for (let attempt = 0; ; attempt += 1) {
      const writer = this.#writer ?? connectWriter(connect);
      this.#writer = writer;
      try {
        writer.tables.begin();
        return writer;
      } catch (error) {
        if (this.#driver.codeOf(error) !== BUSY || clock.monotonic() - started > busyLimit) {
          this.#writer = undefined;
          closeQuietly(writer.connection);
          throw storeError(this.#driver, error, connect.path);
        }
        await clock.sleep((0.5 + random.fraction()) * Math.min(2 ** attempt, 32), undefined, "keep-alive");
      }
    }
  }

  async reading<T>(use: (read: StoreRead) => Promise<T>): Promise<T> {
    if (this.#closed) throw new HoldfastError("STORE_CLOSED");
    const { path } = this.#parts.connect;
    const reader = this.#readers.pop() ?? connectReader(this.#driver, path);
    let usable = false;
    try {
      reader.connection.exec("BEGIN");
      reader.tables.meta("durability"); // the first read pins the snapshot
      const result = await use(readFrom(reader.tables, path));
      reader.connection.exec("COMMIT");
      usable = true;
      return result;
    } catch (error) {
      throw storeError(this.#driver, error, path);
    } finally {
      if (usable && !this.#closed && this.#readers.length < IDLE_READERS) this.#readers.push(reader);
      else closeQuietly(reader.connection);
    }
  }

  /** VACUUM needs the file to itself for a moment; somebody reading is reason enough to leave it for another time. */
  async shrink(): Promise<number> {
    if (this.#closed) throw new HoldfastError("STORE_CLOSED");
    while (this.#draining !== undefined) await this.#draining;
    const { connect } = this.#parts;
    const { path } = connect;
    const writer = this.#writer ?? connectWriter(connect);
    this.#writer = writer;
    const before = statSync(path).size;
    try {
      writer.connection.exec("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
    } catch (error) {
      if (this.#driver.codeOf(error) === BUSY) return 0;
      this.#writer = undefined; // as after a failed commit: nothing more through this connection
      closeQuietly(writer.connection);
      throw storeError(this.#driver, error, path);
    }
    return Math.max(0, before - statSync(path).size);
  }

  isDead(owner: OwnerId): boolean {
    return owner !== this.owner && this.#parts.locks.isFree(owner);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    while (this.#draining !== undefined) await this.#draining;
    for (const reader of this.#readers.splice(0)) closeQuietly(reader.connection);
    closeQuietly(this.#writer?.connection);
    this.#writer = undefined;
    await this.#parts.alone?.release();
    await this.#parts.ownerLock.release();
    this.#parts.locks.forget(this.owner);
  }
}

/** A sweep unlinks files, which no rollback brings back. Alone in its transaction, it sees only what is committed. */
function groupSize(waiting: readonly Waiting[]): number {
  const sweep = waiting.findIndex(({ batch }) => batch.kind === "sweep");
  if (sweep === -1) return GROUP;
  return sweep === 0 ? 1 : Math.min(sweep, GROUP);
}
