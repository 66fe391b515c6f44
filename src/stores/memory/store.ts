import { HoldfastError } from "../../base/errors.ts";
import { type IdSource, randomIds } from "../../base/ids.ts";
import { SystemRandom } from "../../base/random.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import type { Receipt, RecordQuery, SessionRow, Store, StoreRead, WriteBatch } from "../../contracts/store.ts";
import type { SealedRecord } from "../../records/chain.ts";
import { type OwnerId, toOwnerId } from "../../records/ids.ts";
import { applyBatch } from "../apply.ts";
import { runsOf } from "../spans.ts";
import { memoryBlobs } from "./blobs.ts";
import { MemoryTables } from "./tables.ts";

/** What several memory stores may share, as several processes share a disk. */
export class MemoryDisk {
  readonly tables: MemoryTables = new MemoryTables();
  readonly living: Set<OwnerId> = new Set<OwnerId>();
}

export interface MemoryStoreOptions {
  readonly disk?: MemoryDisk;
  readonly blobs?: BlobStore;
  readonly ids?: IdSource;
}

/** For tests and for sessions that need not outlive the process. */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  const { disk = new MemoryDisk(), blobs = memoryBlobs(), ids = randomIds(new SystemRandom()) } = options;
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
      return applyBatch(disk.tables, blobs, batch);
    },
    isDead: (other) => !disk.living.has(other),
    async shrink() {
      return 0;
    },
    async close() {
      open = false;
      disk.living.delete(owner);
    },
  };
}

function readFrom(tables: MemoryTables): StoreRead {
  return {
    async session(id) {
      return tables.sessions.get(id);
    },
    async sessions(after, limit) {
      return [...tables.sessions.values()]
        .filter((row) => row.id > after)
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, limit);
    },
    async records(session, query) {
      return recordsIn(tables, session, query);
    },
    async smallBlob(name) {
      return tables.blobs.get(name)?.bytes;
    },
    async references(after, limit) {
      return [...tables.references.keys()]
        .filter((name) => name > after && tables.isReferenced(name))
        .sort()
        .slice(0, limit)
        .map((name) => ({ name, size: tables.blobs.get(name)?.size ?? 0 }));
    },
    async structure() {
      return [];
    },
  };
}

function recordsIn(tables: MemoryTables, session: SessionRow, query: RecordQuery): readonly SealedRecord[] {
  const found: SealedRecord[] = [];
  for (const run of runsOf(session, query.from, query.to)) {
    for (let seq = run.from; seq <= run.to; seq += 1) {
      const stored = tables.records.get(run.segment)?.get(seq);
      if (stored !== undefined) found.push(stored.record);
    }
  }
  return (query.reverse ? found.reverse() : found).slice(0, query.limit);
}
