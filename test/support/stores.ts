import { FixedClock } from "../../src/base/clock.ts";
import { HoldfastError } from "../../src/base/errors.ts";
import { SeededRandom } from "../../src/base/random.ts";
import type { Receipt, Store, StoreRead, WriteBatch } from "../../src/contracts/store.ts";
import type { JournalEntry } from "../../src/journal/prove.ts";
import type { RecordDraft } from "../../src/records/kinds.ts";
import type { SealedRecord } from "../../src/records/chain.ts";
import { MemoryDisk, memoryStore } from "../../src/stores/memory/entry.ts";

/** A memory store, a clock that stands still and the same randomness every time. */
export function memoryDeps(disk = new MemoryDisk(), clock = new FixedClock()) {
  return { store: memoryStore({ disk, clock }), clock, random: new SeededRandom("test"), disk };
}

export const said = (text: string): RecordDraft => ({ kind: "user-said", text });

export async function collect<T>(source: Iterable<T> | AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const element of source) all.push(element);
  return all;
}

/** `1:user-said`, `3-5:damaged missing`: what a reader saw, in short. */
export function brief(entries: readonly JournalEntry[]): string[] {
  return entries.map((entry) => {
    if (entry.kind !== "damaged") return `${entry.seq}:${entry.kind}`;
    const range = entry.seq === entry.through ? `${entry.seq}` : `${entry.seq}-${entry.through}`;
    return `${range}:damaged ${entry.detail}`;
  });
}

/** A store with somebody between it and its user. */
export function between(
  store: Store,
  meddle: {
    /** Before a commit. Throwing fails it unsent; answering a receipt answers it unsent. */
    readonly before?: (batch: WriteBatch) => Receipt<WriteBatch> | undefined | Promise<undefined>;
    /** After it was applied. Throwing makes the outcome unclear: it is there, but nobody was told. */
    readonly after?: (batch: WriteBatch) => void;
    readonly records?: (records: readonly SealedRecord[]) => readonly SealedRecord[];
    readonly smallBlob?: (name: string, bytes: Uint8Array | undefined) => Uint8Array | undefined;
  },
): Store {
  return {
    durability: store.durability,
    owner: store.owner,
    blobs: store.blobs,
    isDead: (owner) => store.isDead(owner),
    shrink: () => store.shrink(),
    close: () => store.close(),
    reading: (use) =>
      store.reading((read) => {
        const meddled: StoreRead = {
          session: (id) => read.session(id),
          sessions: (after, limit) => read.sessions(after, limit),
          smallBlob: async (name) => {
            const bytes = await read.smallBlob(name);
            return meddle.smallBlob === undefined ? bytes : meddle.smallBlob(name, bytes);
          },
          references: (after, limit) => read.references(after, limit),
          structure: () => read.structure(),
          records: async (row, query) => {
            const records = await read.records(row, query);
            return meddle.records?.(records) ?? records;
          },
        };
        return use(meddled);
      }),
    async commit(batch) {
      const instead = await meddle.before?.(batch);
      if (instead !== undefined) return instead as Receipt<typeof batch>;
      const receipt = await store.commit(batch);
      meddle.after?.(batch);
      return receipt;
    },
  };
}

export function ioError(): HoldfastError {
  return new HoldfastError("STORE_IO", { planted: true });
}

/** Lets everything that is ready run. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** For unit tests in rooms that may not see a store: they know one only by its contract, and get one handed in here. */
export { fileBlobs } from "../../src/blobs/files/entry.ts";
export { MemoryDisk, memoryBlobs, memoryStore } from "../../src/stores/memory/entry.ts";
export { openSqlite } from "../../src/stores/sqlite/entry.ts";
