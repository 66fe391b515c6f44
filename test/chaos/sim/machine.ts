import { FixedClock } from "../../../src/base/clock.ts";
import { HoldfastError } from "../../../src/base/errors.ts";
import type { SeededRandom } from "../../../src/base/random.ts";
import type { BlobStore } from "../../../src/contracts/blob-store.ts";
import type { Receipt, WriteBatch } from "../../../src/contracts/store.ts";
import { type BlobName, type OwnerId, toOwnerId } from "../../../src/records/ids.ts";
import { applyBatch } from "../../../src/stores/apply.ts";
import { MemoryTables } from "../../../src/stores/memory/tables.ts";
import { SimDisk, type SimFile } from "./disk.ts";
import { encodeFrame, frameAt, wholeUpTo } from "./log.ts";

/** Fails the next commits: `refused` before anything is written, `unclear` after everything is. */
export interface DiskFault {
  readonly how: "refused" | "unclear";
  times: number;
}

interface Turn {
  readonly owner: OwnerId;
  readonly go: () => void;
}

/**
 * One machine: a disk, and what the stores on it have in memory together. The log is the truth: batches in the order in
 * which they were decided, each with a checksum. After a power cut the tables are built anew from what is left of it.
 */
export class SimMachine {
  readonly disk: SimDisk;
  tables: MemoryTables = new MemoryTables();
  /** Hears every batch that became true, in order. */
  onApplied: (batch: WriteBatch, receipt: Receipt<WriteBatch>) => void = () => {};
  fault: DiskFault | undefined;
  readonly #living = new Set<OwnerId>();
  readonly #random: SeededRandom;
  #owners = 0;
  #applied = 0;
  #turns: Turn[] = [];

  constructor(random: SeededRandom, now: () => number) {
    this.#random = random;
    this.disk = new SimDisk(now);
  }

  get log(): SimFile {
    return this.disk.logAt("/log");
  }

  newOwner(): OwnerId {
    this.#owners += 1;
    const owner = toOwnerId(String(this.#owners));
    this.#living.add(owner);
    return owner;
  }

  isDead(owner: OwnerId): boolean {
    return !this.#living.has(owner);
  }

  /** A writer is gone, and with it its place in the line. What it had written to the log stays written. */
  bury(owner: OwnerId): void {
    this.#living.delete(owner);
    const [holder] = this.#turns;
    this.#turns = this.#turns.filter((turn) => turn.owner !== owner);
    if (this.#turns[0] !== holder) this.#turns[0]?.go();
  }

  /** Everything in memory is gone, and of the disk what was not synced. */
  losePower(): void {
    this.disk.losePower(this.#random);
    this.#living.clear();
    this.#turns = [];
    this.fault = undefined;
    this.tables = new MemoryTables();
    this.#applied = 0;
    this.log.truncate(wholeUpTo(this.log.bytes));
    this.#apply(this.log.bytes, () => 0); // what was removed is removed; it may have come back since
  }

  /** Somebody is writing: what lies in the log is not true before it is synced. */
  get isHeld(): boolean {
    return this.#turns.length > 0;
  }

  /** The line for the log, as a lock on a file would have it. Answers how to leave. */
  async enter(owner: OwnerId): Promise<() => void> {
    if (this.isDead(owner)) await new Promise<never>(() => {}); // code of a dead process does nothing
    const turn = Promise.withResolvers<void>();
    const mine: Turn = { owner, go: turn.resolve };
    this.#turns.push(mine);
    if (this.#turns[0] === mine) turn.resolve();
    await turn.promise;
    return () => {
      if (this.#turns[0] !== mine) return; // the power went out meanwhile
      this.#turns.shift();
      this.#turns[0]?.go();
    };
  }

  /** Fails when a fault is due, and uses it up. Answers how the commit is to end when it was done. */
  strike(): DiskFault["how"] | undefined {
    const { fault } = this;
    if (fault === undefined) return undefined;
    fault.times -= 1;
    if (fault.times <= 0) this.fault = undefined;
    if (fault.how === "refused") throw new HoldfastError("STORE_IO", { simulated: fault.how });
    return fault.how;
  }

  write(batch: WriteBatch, blobs: BlobStore, now: number): void {
    const missing = namesIn(batch).filter((name) => !blobs.holds(name));
    this.log.append(encodeFrame({ batch, now, missing, fresh: this.#freshFor(batch, blobs) }));
  }

  /** What a sweep finds put since its time. Whoever reads the log later finds other times on the disk. */
  #freshFor(batch: WriteBatch, blobs: BlobStore): readonly BlobName[] {
    if (batch.kind !== "sweep" || batch.putBefore === undefined) return [];
    const { putBefore, candidates } = batch;
    const names = [...candidates, ...this.tables.blobs.nextUnreferenced().map(({ name }) => name)];
    return names.filter((name) => (blobs.lastPut?.(name) ?? Number.NEGATIVE_INFINITY) >= putBefore);
  }

  /** Makes true what the log holds and the tables do not. Answers the last receipt. */
  catchUp(blobs: BlobStore): Receipt<WriteBatch> | undefined {
    return this.#applied < this.log.length ? this.#apply(this.log.bytes, (name) => blobs.remove(name)) : undefined;
  }

  #apply(bytes: Buffer, remove: (name: BlobName) => number): Receipt<WriteBatch> | undefined {
    let receipt: Receipt<WriteBatch> | undefined;
    for (;;) {
      const found = frameAt(bytes, this.#applied);
      if (found === undefined) return receipt;
      const { batch, missing, fresh, now } = found.frame;
      this.#applied = found.end;
      const holds = (name: BlobName) => !missing.includes(name);
      const lastPut = (name: BlobName) => (fresh.includes(name) ? Number.POSITIVE_INFINITY : undefined);
      const blobs = { holds, lastPut, remove } as BlobStore;
      receipt = applyBatch({ tables: this.tables, blobs, clock: new FixedClock(now), isAlone: () => false }, batch);
      this.onApplied(batch, receipt);
    }
  }
}

function namesIn(batch: WriteBatch): readonly BlobName[] {
  if (batch.kind !== "append") return [];
  return [...new Set([...batch.references.map(({ name }) => name), ...batch.blobs.map(({ ref }) => ref.name)])];
}
