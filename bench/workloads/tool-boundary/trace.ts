import type { Store, WriteBatch } from "../../../src/index.ts";

/** One commit: how long each text was that it wrote. */
export type TracedCommit = readonly number[];

/** A store that is heard: every commit that goes through is told by the bytes it was handed, headers and all. */
export function heard(store: Store, hear: (commit: TracedCommit) => void): Store {
  return new Proxy(store, {
    get(target, key) {
      if (key === "commit")
        return (batch: WriteBatch) => {
          hear(bytesIn(batch));
          return target.commit(batch);
        };
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

function bytesIn(batch: WriteBatch): TracedCommit {
  if (batch.kind !== "append") return [];
  const records = batch.records.map((record) =>
    Object.values(record).reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 8), 0),
  );
  return [...records, ...batch.blobs.map(({ bytes }) => bytes?.length ?? 0)];
}
