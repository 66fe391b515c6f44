import { expect, test } from "vitest";
import type { BlobStore, Store, StoreRead, WriteBatch } from "../../src/index.ts";
import type { SealedRecord } from "../../src/records/chain.ts";
import { MemoryDisk, MemoryShelf, memoryBlobs, memoryStore } from "../../src/stores/memory/entry.ts";
import { blobStoreLaws, type Law, storeLaws } from "../../src/testing/entry.ts";

type Batch = Readonly<Record<string, unknown>> & { readonly kind: WriteBatch["kind"] };

/** A store that is sound but for what it makes of batches of one kind. */
function commits(kind: WriteBatch["kind"], change: (batch: Batch) => object) {
  return (store: Store): Store =>
    withOther(store, {
      commit: (batch: WriteBatch) =>
        store.commit(batch.kind === kind ? (change(batch as unknown as Batch) as WriteBatch) : batch),
    });
}

/** A store that is sound but for how it reads. */
function reads(other: (read: StoreRead) => object) {
  return (store: Store): Store =>
    withOther(store, {
      reading: (use: (read: StoreRead) => Promise<unknown>) =>
        store.reading((read) => use(withOther(read, other(read)))),
    });
}

function withOther<T extends object>(sound: T, other: object): T {
  return new Proxy(sound, {
    get: (target, name) => {
      const value: unknown = Reflect.get(name in other ? other : target, name);
      return typeof value === "function" ? value.bind(name in other ? other : target) : value;
    },
  });
}

const BROKEN: readonly (readonly [law: string, what: string, break_: (store: Store) => Store])[] = [
  ["STORE-41", "forgets a fork's own records", commits("fork", ({ records: _records, ...rest }) => rest)],
  ["STORE-41", "forgets a fork's checkpoint", commits("fork", ({ checkpoint: _checkpoint, ...rest }) => rest)],
  ["STORE-42", "sweeps what was just put", commits("sweep", ({ putBefore: _putBefore, ...rest }) => rest)],
  [
    "STORE-48",
    "takes what need not be synced for what need not be kept",
    commits("append", ({ unsynced, records, ...rest }) => ({ ...rest, records: unsynced === true ? [] : records })),
  ],
  [
    "STORE-46",
    "forgets why a body is gone",
    commits("append", ({ records, ...rest }) => ({
      ...rest,
      records: (records as readonly SealedRecord[]).map(({ dropped: _dropped, ...record }) => record),
    })),
  ],
  [
    "STORE-44",
    "forgets whatever it is told to",
    commits("forget", (batch) => ({ ...batch, kind: "delete", epoch: 1 })),
  ],
  ["STORE-20", "lists more than a page", reads((read) => ({ sessions: (after: "") => read.sessions(after, 1_000) }))],
  [
    "STORE-20",
    "lists the first page for ever",
    reads((read) => ({ sessions: (_: "", n: number) => read.sessions("", n) })),
  ],
  [
    "STORE-11",
    "reads from the first record on for ever",
    reads((read) => ({
      records: (...[row, query]: Parameters<StoreRead["records"]>) => read.records(row, { ...query, from: 1 }),
    })),
  ],
];

test.each(BROKEN)("[%s] a store that %s does not pass the laws", async (law, _, broken) => {
  const disks = new Map<string, MemoryDisk>();
  const laws = storeLaws("broken", {
    open: async (place, { clock }) => {
      const disk = disks.get(place) ?? new MemoryDisk();
      disks.set(place, disk);
      return broken(memoryStore({ disk, clock }));
    },
    can: { commitDuringRead: true, shared: true },
  });
  expect(await brokenOf(laws)).toContain(law);
});

const BROKEN_BLOBS: readonly (readonly [what: string, other: (blobs: BlobStore) => Partial<BlobStore>])[] = [
  ["tells another size", () => ({ sizeOf: () => 1 })],
  ["takes what was just put for old", () => ({ lastPut: () => 0 })],
  ["tells of what is not there", (blobs) => ({ lastPut: (name) => blobs.lastPut?.(name) ?? 0 })],
  [
    "clears content away with the leftovers",
    (blobs) => ({
      sweepTemps: async () => {
        for await (const { name } of blobs.list()) blobs.remove(name);
        return 0;
      },
    }),
  ],
];

test.each(BROKEN_BLOBS)("[BLOB-14] a blob store that %s does not pass the laws", async (_, other) => {
  const shelves = new Map<string, MemoryShelf>();
  const laws = blobStoreLaws("broken", {
    open: async (place) => {
      const shelf = shelves.get(place) ?? new MemoryShelf();
      shelves.set(place, shelf);
      const blobs = memoryBlobs(shelf);
      return withOther(blobs, other(blobs));
    },
  });
  expect(await brokenOf(laws)).toContain("BLOB-14");
});

async function brokenOf(laws: readonly Law[]): Promise<ReadonlySet<string>> {
  const broken = new Set<string>();
  for (const { id, run } of laws) await run().catch(() => broken.add(id));
  return broken;
}
