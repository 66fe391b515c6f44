import { RestoreFailedError, SnapshotMismatchError, stateError } from "./errors.ts";
import type { AnyPart, Root } from "./part.ts";
import type { ResourceRegistry, Snapshotable } from "./resources.ts";
import type { CompositeSnapshot } from "./snapshot.ts";

export interface RestoreOptions {
  /** Log slices keep what they have. Default true. */
  readonly preserveLogs?: boolean;
  /** Only these slices or parts. */
  readonly slices?: readonly string[];
  /** Only these resources. */
  readonly resources?: readonly string[];
}

/** What a restore would do, in full, without doing it. */
export interface RestorePlan {
  readonly slices: readonly string[];
  readonly resources: readonly string[];
  readonly root: Root;
}

/** Says what would change, or refuses: unknown names are listed before anything is touched. */
export function planRestore(
  snapshot: CompositeSnapshot,
  now: Root,
  parts: ReadonlyMap<string, AnyPart>,
  registry: ResourceRegistry,
  options: RestoreOptions,
): RestorePlan {
  const known = registry.snapshotableResources();
  const wantedSlices = options.slices ?? [...parts.keys()];
  const wantedResources = options.resources ?? [...snapshot.resources.keys()];
  const unknownSlices = [...(options.slices ?? snapshot.session.slices.keys())].filter((name) => !parts.has(name));
  const unknownResources = wantedResources.filter((name) => !known.has(name) || !snapshot.resources.has(name));
  if (unknownSlices.length > 0 || unknownResources.length > 0) {
    throw new SnapshotMismatchError({ snapshot: snapshot.snapshotId, unknownSlices, unknownResources });
  }
  const root = new Map(now);
  for (const name of wantedSlices) {
    const part = parts.get(name);
    if (part !== undefined) root.set(name, restoredValue(snapshot, part, now, options.preserveLogs ?? true));
  }
  const slices = [...root.keys()].filter((name) => root.get(name) !== now.get(name));
  return { slices, resources: wantedResources, root };
}

function restoredValue(snapshot: CompositeSnapshot, part: AnyPart, now: Root, preserveLogs: boolean): unknown {
  const { slices, policies } = snapshot.session;
  const current = now.get(part.name);
  if (part.policy === "log" && preserveLogs) return current;
  if (slices.has(part.name)) return slices.get(part.name);
  // Computed from what is about to change: the next reader computes it again.
  if (part.policy === "cache") return part.initial;
  // Known then but left out of the snapshot: out of its scope. Unknown then: it did not exist, so it is empty again.
  return policies.has(part.name) ? current : part.initial;
}

/**
 * Puts resources back, all or none: each is captured first, and if one refuses, those already done are returned to
 * where they were. `commit` runs when all are done; its failure counts as a refusal.
 */
export async function restoreResources(
  snapshot: CompositeSnapshot,
  names: readonly string[],
  registry: ResourceRegistry,
  commit: () => Promise<void>,
): Promise<void> {
  const known = registry.snapshotableResources();
  const targets = names.map((name) => ({
    name,
    resource: known.get(name) as Snapshotable<unknown>,
    to: snapshot.resources.get(name),
  }));
  const rescued: { readonly name: string; readonly resource: Snapshotable<unknown>; readonly was: unknown }[] = [];
  for (const { name, resource } of targets)
    rescued.push({ name, resource, was: await resource.snapshot({ tag: "rescue" }) });
  let at = "commit";
  try {
    for (const { name, resource, to } of targets) {
      at = name;
      await resource.restore(to);
    }
    at = "commit";
    await commit();
  } catch (error) {
    const stuck: unknown[] = [];
    const names: string[] = [];
    for (const { name, resource, was } of rescued.toReversed()) {
      try {
        await resource.restore(was);
      } catch (second) {
        stuck.push(second);
        names.push(name);
      }
    }
    if (stuck.length > 0)
      throw new Poison(new RestoreFailedError({ refused: at, halfRestored: names }, [error, ...stuck]));
    if (at === "commit") throw error;
    throw new RestoreFailedError({ refused: at, halfRestored: [] }, [error]);
  }
}

/** A restore that could not be undone either: from here on the state cannot be trusted. */
export class Poison extends Error {
  readonly failure: RestoreFailedError;

  constructor(failure: RestoreFailedError) {
    super(failure.message);
    this.failure = failure;
  }
}

export function refusePoisoned(reason: RestoreFailedError | undefined): void {
  if (reason !== undefined) throw stateError("STATE_POISONED", { reason: reason.message });
}
