import type { BlobStore, Store, WriteBatch } from "../../../src/index.ts";

/** One commit: how long each text was that it wrote. */
export type TracedCommit = readonly number[];

/**
 * A store that is heard: every commit that goes through is told by the bytes it was handed, headers and all. Content that
 * was put beside the store before counts with the commit that names it first.
 */
export function heard(store: Store, hear: (commit: TracedCommit) => void): Store {
  const beside = new Map<string, number>();
  const blobs = replacing(store.blobs, {
    put: async (...what: Parameters<BlobStore["put"]>) => {
      const ref = await store.blobs.put(...what);
      beside.set(ref.name, ref.size);
      return ref;
    },
  });
  return replacing(store, {
    blobs,
    commit: (batch: WriteBatch) => {
      hear(bytesIn(batch, beside));
      return store.commit(batch);
    },
  });
}

/** The same object but for some of its members: classes with private fields cannot be copied. */
function replacing<T extends object>(whole: T, members: Readonly<Record<string, unknown>>): T {
  return new Proxy(whole, {
    get(target, key) {
      if (typeof key === "string" && Object.hasOwn(members, key)) return members[key];
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

function bytesIn(batch: WriteBatch, beside: Map<string, number>): TracedCommit {
  if (batch.kind !== "append") return [];
  const takenFrom = (name: string) => {
    const size = beside.get(name) ?? 0;
    beside.delete(name);
    return size;
  };
  const records = batch.records.map((record) =>
    Object.values(record).reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 8), 0),
  );
  return [...records, ...batch.blobs.map(({ ref, bytes }) => bytes?.length ?? takenFrom(ref.name))];
}
