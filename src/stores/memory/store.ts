import { type Clock, SystemClock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import { type IdSource, randomIds } from "../../base/ids.ts";
import { checkOptions, OBJECT } from "../../base/options.ts";
import { SystemRandom } from "../../base/random.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import type { Receipt, RecordQuery, SessionRow, Store, StoreRead, WriteBatch } from "../../contracts/store.ts";
import type { SealedRecord } from "../../records/chain.ts";
import { type OwnerId, toOwnerId } from "../../records/ids.ts";
import { applyBatch } from "../apply.ts";
import { runsOf } from "../spans.ts";
import { MemoryShelf, memoryBlobs } from "./blobs.ts";
import { MemoryTables } from "./tables.ts";

/** Data that several memory stores can share, as processes share a disk. */
export class MemoryDisk {
  readonly tables: MemoryTables = new MemoryTables();
  readonly shelf: MemoryShelf = new MemoryShelf();
  readonly living: Set<OwnerId> = new Set<OwnerId>();
}

/** Options of `memoryStore`. */
export interface MemoryStoreOptions {
  /** Data to share with other memory stores. Default: a store of its own. */
  readonly disk?: MemoryDisk;
  /** Where large content is kept. Default: in memory, on the same disk. */
  readonly blobs?: BlobStore;
  readonly ids?: IdSource;
  readonly clock?: Clock;
}

/** A store in memory, for tests and for sessions that need not outlive the process. */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  checkOptions(options, { disk: OBJECT, blobs: OBJECT, ids: OBJECT, clock: OBJECT });
  const { disk = new MemoryDisk(), ids = randomIds(new SystemRandom()), clock = new SystemClock() } = options;
  const { blobs = memoryBlobs(disk.shelf, clock) } = options;
  const owner = toOwnerId(ids.next());
  disk.living.add(owner);
  let open = true;
  const mustBeOpen = () => {
    if (!open) throw new HoldfastError("STORE_CLOSED");
  };
  return {
    durability: "memory",
    owner,
    blobs,
    async reading<T>(use: (read: StoreRead) => Promise<T>): Promise<T> {
      mustBeOpen();
      return use(readFrom(disk.tables.snapshot()));
    },
    async commit<B extends WriteBatch>(batch: B): Promise<Receipt<B>> {
      mustBeOpen();
      return applyBatch({ tables: disk.tables, blobs, clock, isAlone: () => disk.living.size === 1 }, batch);
    },
    isDead: (other) => !disk.living.has(other),
    async shrink() {
      return { bytes: 0, whole: true };
    },
    async close() {
      open = false;
      disk.living.delete(owner);
    },
  };
}

/** What a reader sees of tables that nobody changes any more. */
export function readFrom(tables: MemoryTables): StoreRead {
  return {
    async session(id) {
      return tables.sessions.find(id);
    },
    async sessions(after, limit) {
      return tables.sessions.after(after, limit);
    },
    async records(session, query) {
      return recordsIn(tables, session, query);
    },
    async smallBlob(name) {
      return tables.blobs.small(name);
    },
    async references(after, limit) {
      return tables.blobs.referencesAfter(after, limit);
    },
    async structure() {
      return [];
    },
  };
}

function recordsIn(tables: MemoryTables, session: SessionRow, query: RecordQuery): readonly SealedRecord[] {
  const found: SealedRecord[] = [];
  const runs = runsOf(session, query.from, query.to);
  for (const { segment, from, to } of query.reverse ? runs.toReversed() : runs) {
    for (let offset = 0; offset <= to - from && found.length < query.limit; offset += 1) {
      const record = tables.records.at(segment, query.reverse ? to - offset : from + offset);
      if (record !== undefined) found.push(record);
    }
  }
  return found;
}
