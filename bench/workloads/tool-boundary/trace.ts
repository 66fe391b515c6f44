import type { BlobStore, SealedRecord, Store, WriteBatch } from "../../../src/index.ts";

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
  // Written out: this stands in the time that is measured, and a proxy would be asked for every member of every call.
  return {
    durability: store.durability,
    owner: store.owner,
    blobs,
    isDead: (owner) => store.isDead(owner),
    reading: (use) => store.reading(use),
    commit: (batch) => {
      hear(bytesIn(batch, beside));
      return store.commit(batch);
    },
    shrink: () => store.shrink(),
    close: () => store.close(),
  };
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
  const records = batch.records.map(sizeOf);
  return [...records, ...batch.blobs.map(({ ref, bytes }) => bytes?.length ?? takenFrom(ref.name))];
}

/** Texts by their length, and eight bytes for a number. */
function sizeOf({ kind, at, salt, bodyDigest, prev, hash, body }: SealedRecord): number {
  const header = kind.length + at.length + salt.length + bodyDigest.length + prev.length + hash.length;
  return header + (body?.length ?? 0) + 16;
}
