import type { JsonObject } from "../base/json.ts";
import { BOOLEAN, listOf, type OptionRules, TEXT } from "../base/options.ts";
import { RestoreFailedError, SnapshotMismatchError } from "./errors.ts";
import { type AnyPart, RootChange } from "./part.ts";
import { isSharedIn, portable, resourcesPart } from "./resources-part.ts";
import { isShared, type KnownResource, putBack, type ResourceRegistry, type Snapshotable } from "./resources.ts";
import { type CompositeSnapshot, mustBeSnapshot } from "./snapshot.ts";
import type { Truth } from "./truth.ts";

/** What to restore. Default: everything but logs. */
export interface RestoreOptions {
  /** Log slices stay as they are. Default true. */
  readonly preserveLogs?: boolean;
  /** Restores only these slices or parts, by name; resources stay unless named, too. Default: all. */
  readonly slices?: readonly string[];
  /** Restores only these resources, by key; slices stay unless named, too. Default: all. */
  readonly resources?: readonly string[];
  /** Restores only these paths, and what is below them, in parts that hold files. Default: all. */
  readonly paths?: readonly string[];
}

export const RESTORE_OPTIONS: OptionRules<RestoreOptions> = {
  preserveLogs: BOOLEAN,
  slices: listOf(TEXT),
  resources: listOf(TEXT),
  paths: listOf(TEXT),
};

/** Everything that a restore does, or would do. */
export class RestorePlan {
  /** The slices and parts that change, each with its change as data. */
  readonly change: RootChange;
  /** The resources that are put back, and to what. */
  readonly resources: ReadonlyMap<string, unknown>;
  /** Those resources that have to be made first. If one then cannot be put back, the restore is refused. */
  readonly unmade: readonly string[];

  constructor(change: RootChange, resources: ReadonlyMap<string, unknown>, unmade: readonly string[]) {
    this.change = change;
    this.resources = resources;
    this.unmade = unmade;
  }

  get slices(): readonly string[] {
    return Object.keys(this.change.delta);
  }
}

export interface RestoreGround {
  readonly truth: Pick<Truth, "root" | "parts" | "policies" | "namesBy">;
  /** Looks one up. Who only plans makes none: somebody else would hear of a dry run. */
  readonly resource: (name: string) => KnownResource | undefined;
  /** What resources were when they were first used. */
  readonly origins: ReadonlyMap<string, unknown>;
}

/** Says what would change, or refuses: unknown names are listed before anything is touched. */
export function planRestore(
  snapshot: CompositeSnapshot,
  ground: RestoreGround,
  options: RestoreOptions = {},
): RestorePlan {
  mustBeSnapshot(snapshot);
  const { parts, root: now, policies, namesBy } = ground.truth;
  const { resources, unknown: unknownResources } = chosenResources(snapshot, ground, options);
  // A snapshot of this very state shares its table of policies: then it names nothing unknown, and its values were accepted.
  const isForeign = snapshot.session.policies !== policies;
  const named = isForeign ? [...snapshot.session.slices.keys()] : [];
  const unknownSlices = [...(options.slices ?? []), ...named].filter((name) => !parts.has(name));
  if (unknownSlices.length > 0 || unknownResources.length > 0)
    throw new SnapshotMismatchError({ snapshot: snapshot.snapshotId, unknownSlices, unknownResources });
  const isChosen = (part: AnyPart) => options.slices?.includes(part.name) !== false && !stays(part, options);
  const after = new Map<string, unknown>();
  for (const [name, then] of now.unlike(snapshot.session.slices)) {
    const part = parts.get(name);
    if (part === undefined || !isChosen(part)) continue;
    const current = now.get(name);
    const to = restoredValue(snapshot, part, current, then, options.paths);
    const back = part.restored === undefined ? to : part.restored(current as never, to as never);
    const value = isForeign && part.accept !== undefined ? part.accept(current as never, back as never) : back;
    if (value !== current) after.set(name, value);
  }
  if (resources.size > 0 && parts.has(resourcesPart.name)) {
    const kept = now.get(resourcesPart.name) as JsonObject;
    const next = { ...kept, ...portable(resources, ground.origins, ground.resource) };
    // Resources hand out anything, also what must not be kept; values of slices were accepted when they came.
    const accepted = parts.get(resourcesPart.name)?.accept?.(kept as never, next as never) ?? next;
    after.set(resourcesPart.name, accepted);
  }
  // Computed from what is about to change: one that was not chosen would go on telling of what is gone.
  for (const name of after.size === 0 ? [] : namesBy.cache) {
    const part = parts.get(name);
    if (part !== undefined && !isChosen(part) && now.get(name) !== part.initial) after.set(name, part.initial);
  }
  const unmade = [...resources.keys()].filter((name) => ground.resource(name) === "unmade");
  return new RestorePlan(new RootChange(parts, now, [...after]), resources, unmade);
}

function chosenResources(
  snapshot: CompositeSnapshot,
  { truth, resource, origins }: RestoreGround,
  options: RestoreOptions,
) {
  // Only slices were asked for, so resources stay.
  const narrowed = options.slices !== undefined || options.paths !== undefined;
  // Used since, and not in the snapshot: it was as it was when it was first used.
  const all = new Map([...origins, ...snapshot.resources]);
  const wanted = options.resources ?? (narrowed ? [] : [...all.keys()]);
  const unknown = wanted.filter((name) => !all.has(name) || resource(name) === undefined);
  const resources = new Map<string, unknown>();
  for (const name of wanted) {
    const known = resource(name);
    const stays = known === "unmade" ? isSharedIn(truth.root, name) : isShared(known);
    if (!stays) resources.set(name, all.get(name));
  }
  return { resources, unknown };
}

function stays(part: AnyPart, { preserveLogs = true, slices, resources, paths }: RestoreOptions): boolean {
  if (part.policy === "log" && preserveLogs) return true;
  if (part.name === resourcesPart.name) return true; // it follows the resources themselves
  if (paths !== undefined) return part.pick === undefined;
  return resources !== undefined && slices === undefined;
}

function restoredValue(
  { session }: CompositeSnapshot,
  part: AnyPart,
  now: unknown,
  then: unknown,
  paths: RestoreOptions["paths"],
): unknown {
  if (paths !== undefined) return then === undefined ? now : part.pick?.(now as never, then as never, paths);
  if (then !== undefined) return then;
  // Computed from what is about to change: the next reader computes it again.
  if (part.policy === "cache") return part.initial;
  // Known then but left out of the snapshot: out of its scope. Unknown then: it did not exist, so it is empty again.
  return session.policies.has(part.name) ? now : part.initial;
}

/**
 * Answers what the resources were before. Puts them back, all or none: each is captured first, and if one refuses, those
 * already done are returned to where they were. `commit` runs when all are done; its failure counts as a refusal. What
 * cannot be returned either is told to `poison`.
 */
export async function restoreResources(
  targets: ReadonlyMap<string, unknown>,
  registry: ResourceRegistry,
  commit: () => Promise<void>,
  poison: (why: RestoreFailedError) => void,
): Promise<ReadonlyMap<string, unknown>> {
  const rescued = new Map<string, unknown>();
  for (const name of targets.keys()) rescued.set(name, await resourceAt(registry, name).snapshot({ tag: "rescue" }));
  const touched: string[] = [];
  try {
    for (const [name, to] of targets) {
      touched.push(name);
      await putBack(resourceAt(registry, name), to);
    }
  } catch (error) {
    throw await backOut(error, touched, rescued, registry, poison);
  }
  try {
    await commit();
  } catch (error) {
    if (touched.length === 0) throw error;
    throw await backOut(error, touched, rescued, registry, poison);
  }
  return rescued;
}

async function backOut(
  why: unknown,
  touched: readonly string[],
  rescued: ReadonlyMap<string, unknown>,
  registry: ResourceRegistry,
  poison: (why: RestoreFailedError) => void,
): Promise<RestoreFailedError> {
  const stuck: unknown[] = [];
  const halfRestored: string[] = [];
  for (const name of touched.toReversed()) {
    try {
      await putBack(resourceAt(registry, name), rescued.get(name));
    } catch (error) {
      stuck.push(error);
      halfRestored.push(name);
    }
  }
  const failure = new RestoreFailedError({ refused: touched.at(-1), halfRestored }, [why, ...stuck]);
  if (stuck.length > 0) poison(failure);
  return failure;
}

function resourceAt(registry: ResourceRegistry, name: string): Snapshotable<unknown> {
  const resource = registry.restorable(name);
  if (resource === undefined) throw new SnapshotMismatchError({ unknownResources: [name] });
  return resource;
}
