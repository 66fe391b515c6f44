import { expect, test } from "vitest";
import type { Store, StoreRead, WriteBatch } from "../../src/index.ts";
import { MemoryDisk, memoryStore } from "../../src/stores/memory/entry.ts";
import { storeLaws } from "../../src/testing/entry.ts";

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
  ["STORE-41", "forgets a fork's own records", commits("fork", ({ records: _, ...rest }) => rest)],
  ["STORE-41", "forgets a fork's checkpoint", commits("fork", ({ checkpoint: _, ...rest }) => rest)],
  ["STORE-42", "sweeps what was just put", commits("sweep", ({ putBefore: _, ...rest }) => rest)],
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
  const failed = new Set<string>();
  for (const { id, run } of laws) await run().catch(() => failed.add(id));
  expect(failed).toContain(law);
});
