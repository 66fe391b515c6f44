import { copyJson } from "../base/copy-json.ts";
import { HoldfastError } from "../base/errors.ts";
import { checkJson, type Json, KEPT_LIMITS } from "../base/json.ts";

/** A resource that can be captured and put back. To survive the process, its snapshots must be plain data. */
export interface Snapshotable<S> {
  /** Captures the resource as it is now. */
  snapshot(options?: { readonly tag?: string }): S | Promise<S>;
  /** Puts the resource back to a snapshot. */
  restore(snapshot: S): unknown;
  /** True for what only grows, such as spent tokens: captured, never put back, shared by calls. Default false. */
  readonly shared?: boolean;
}

/**
 * Puts a resource back to a copy: what it goes on to make of what it was given would be another snapshot from then on. What
 * is no plain data has no copy that it would know as its own.
 */
export async function putBack(resource: Snapshotable<unknown>, to: unknown): Promise<void> {
  const isPlain = checkJson(to, KEPT_LIMITS).ok;
  await resource.restore(isPlain ? copyJson(to as Json) : to);
}

/** What is known of a resource without making it. */
export type KnownResource = Snapshotable<unknown> | "unmade";

export function isShared(resource: KnownResource | undefined): boolean {
  return typeof resource === "object" && resource.shared === true;
}

/** A typed name for a resource. Two keys with the same text are the same. */
export interface ResourceKey<T> {
  readonly key: string;
  /** Carries the type only; never present at run time. */
  readonly type?: T;
}

/** Makes the key of a resource. */
export function resourceKey<T>(key: string): ResourceKey<T> {
  return { key };
}

class Lazily<T> {
  readonly make: () => T;

  constructor(make: () => T) {
    this.make = make;
  }
}

/** Wraps a resource so that it is made when it is first asked for. */
export function lazily<T>(make: () => T): T {
  return new Lazily(make) as T;
}

/** The resources of a state, by key. The keys are fixed when the state is created. */
export class ResourceRegistry {
  readonly #entries: Map<string, unknown>;

  private constructor(entries: Map<string, unknown>) {
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
    if (this.#entries.has(key.key)) return this.#made(key.key);
    if (fallback.length > 0) return fallback[0];
    throw new HoldfastError("RESOURCE_UNKNOWN", { resource: key.key });
  }

  /** The resources that can be captured. One that was not made yet is left out: nothing has happened to it. */
  snapshotableResources(): ReadonlyMap<string, Snapshotable<unknown>> {
    return new Map(
      [...this.#entries].filter((entry): entry is [string, Snapshotable<unknown>] => isSnapshotable(entry[1])),
    );
  }

  /** A resource that can be put back, made if necessary; undefined when there is none with this key. */
  restorable(key: string): Snapshotable<unknown> | undefined {
    const value = this.#entries.has(key) ? this.#made(key) : undefined;
    return isSnapshotable(value) ? value : undefined;
  }

  /** Like `restorable`, but makes nothing: "unmade" for a resource that was not asked for yet. */
  peek(key: string): KnownResource | undefined {
    const entry = this.#entries.get(key);
    if (entry instanceof Lazily) return "unmade";
    return isSnapshotable(entry) ? entry : undefined;
  }

  /** Whether there is, or may yet be, a resource that only one call can use at a time. */
  get mayLock(): boolean {
    return [...this.#entries.values()].some(
      (entry) => entry instanceof Lazily || (isSnapshotable(entry) && entry.shared !== true),
    );
  }

  /** Names of the resources that calls share. */
  get sharedNames(): readonly string[] {
    const names: string[] = [];
    for (const [name, entry] of this.#entries) if (isSnapshotable(entry) && entry.shared === true) names.push(name);
    return names;
  }

  #made(key: string): unknown {
    const entry = this.#entries.get(key);
    if (!(entry instanceof Lazily)) return entry;
    const value: unknown = entry.make();
    this.#entries.set(key, value);
    return value;
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
