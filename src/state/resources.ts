import { HoldfastError } from "../base/errors.ts";

/** Anything of the outside that can be captured and put back. Snapshots must be plain data to leave the process. */
export interface Snapshotable<S> {
  snapshot(options?: { readonly tag?: string }): S | Promise<S>;
  restore(snapshot: S): void | Promise<void>;
}

/** A typed name for a resource. Two with the same text are the same key. */
export interface ResourceKey<T> {
  readonly key: string;
  /** Carries the type only; never present at run time. */
  readonly type?: T;
}

export function resourceKey<T>(key: string): ResourceKey<T> {
  return { key };
}

/** What a session has at hand beside its slices. Fixed when the state is created. */
export class ResourceRegistry {
  readonly #entries: ReadonlyMap<string, unknown>;

  private constructor(entries: ReadonlyMap<string, unknown>) {
    this.#entries = entries;
  }

  static build(entries: Iterable<readonly [ResourceKey<unknown>, unknown]>): ResourceRegistry {
    const map = new Map<string, unknown>();
    for (const [{ key }, value] of entries) {
      if (map.has(key)) throw new HoldfastError("SLICE_EXISTS", { name: key });
      map.set(key, value);
    }
    return new ResourceRegistry(map);
  }

  get<T>(key: ResourceKey<T>): T;
  get<T, D>(key: ResourceKey<T>, fallback: D): T | D;
  get<T>(key: ResourceKey<T>, ...fallback: readonly unknown[]): unknown {
    if (this.#entries.has(key.key)) return this.#entries.get(key.key);
    if (fallback.length > 0) return fallback[0];
    throw new HoldfastError("RESOURCE_UNKNOWN", { resource: key.key });
  }

  snapshotableResources(): ReadonlyMap<string, Snapshotable<unknown>> {
    return new Map(
      [...this.#entries].filter((entry): entry is [string, Snapshotable<unknown>] => isSnapshotable(entry[1])),
    );
  }
}

function isSnapshotable(value: unknown): value is Snapshotable<unknown> {
  const shape = value as Partial<Snapshotable<unknown>> | null;
  return (
    typeof shape === "object" &&
    shape !== null &&
    typeof shape.snapshot === "function" &&
    typeof shape.restore === "function"
  );
}
