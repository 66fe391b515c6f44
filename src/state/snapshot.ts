import type { Instant } from "../base/clock.ts";
import { isDeepStrictEqual } from "node:util";
import { canonicalJson } from "../base/canonical.ts";
import { checkJson, type Json, type JsonLimits } from "../base/json.ts";
import { badOption, BOOLEAN, listOf, type OptionRules, oneOf } from "../base/options.ts";
import { type Parts, SLICE_POLICIES, type SlicePolicy } from "./part.ts";
import { Root } from "./root.ts";

/** When a snapshot was taken: before a call, after a call, at a checkpoint, or by hand. */
export type SnapshotPhase = "pre_tool" | "post_tool" | "checkpoint" | "manual";

/** Why and when a snapshot was taken. */
export interface SnapshotMetadata {
  readonly tag?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly phase: SnapshotPhase;
}

/** The slices at one moment, by reference. Taking it costs nothing; keeping it costs only what changes afterwards. */
export interface Snapshot {
  readonly createdAt: Instant;
  readonly slices: Root;
  /** The policy of every part that was known then, also of those whose values were left out. */
  readonly policies: ReadonlyMap<string, SlicePolicy>;
  readonly parentId?: string;
  readonly childrenIds: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
}

/** Everything at one moment: slices, other parts and resources. */
export interface CompositeSnapshot {
  readonly snapshotId: string;
  readonly createdAt: Instant;
  readonly session: Snapshot;
  /** The snapshot of each resource, by key. */
  readonly resources: ReadonlyMap<string, unknown>;
  readonly metadata: SnapshotMetadata;
}

/** Which slices a snapshot holds. */
export interface SliceSelection {
  /** Slices with these policies. Default `["state"]`. */
  readonly policies?: readonly SlicePolicy[];
  /** All slices, whatever their policy. Default false. */
  readonly includeAll?: boolean;
}

export const SLICE_SELECTION: OptionRules<SliceSelection> = {
  policies: listOf(oneOf(...SLICE_POLICIES)),
  includeAll: BOOLEAN,
};

/** The parts that a snapshot does not hold. */
export function leftOut(
  namesBy: Readonly<Record<SlicePolicy, readonly string[]>>,
  { policies = ["state"], includeAll }: SliceSelection,
): readonly string[] {
  if (includeAll === true) return [];
  return SLICE_POLICIES.filter((policy) => !policies.includes(policy)).flatMap((policy) => namesBy[policy]);
}

/** What differs between two snapshots: each part's change as data, and the resources by name. */
export interface SnapshotDifference {
  readonly slices: Readonly<Record<string, Json>>;
  /** Names of slices that are only in the one before; `onlyAfter`: only in the one after. */
  readonly onlyBefore: readonly string[];
  readonly onlyAfter: readonly string[];
  readonly resources: readonly string[];
}

/** Refuses what is none, such as the promise of one or its text. */
export function mustBeSnapshot(given: Partial<CompositeSnapshot> | undefined): void {
  if (!(given?.resources instanceof Map && given.session?.slices instanceof Root))
    throw badOption("snapshot", given, "a snapshot: await snapshot(), or read its text with fromJson()");
}

/** The same for one that is of the slices alone. */
export function mustHoldSlices(given: Partial<Snapshot> | undefined): void {
  if (!(given?.slices instanceof Root))
    throw badOption("snapshot", given, "a snapshot of the slices: session.snapshot()");
}

/** Equal references are equal; others are compared as data, so that a loaded snapshot compares with a living one. */
export function diffSnapshots(before: CompositeSnapshot, after: CompositeSnapshot, parts: Parts): SnapshotDifference {
  for (const given of [before, after]) mustBeSnapshot(given);
  const [a, b] = [before.session.slices, after.session.slices];
  const slices: Record<string, Json> = {};
  for (const [name, part] of parts) {
    if (!a.has(name) || !b.has(name) || a.get(name) === b.get(name)) continue;
    const [then, now] = [a.get(name) as never, b.get(name) as never];
    const change = part.change(then, now);
    if (change !== undefined) slices[name] = change.delta;
  }
  const names = new Set([...before.resources.keys(), ...after.resources.keys()]);
  return {
    slices,
    onlyBefore: [...a.keys()].filter((name) => !b.has(name)),
    onlyAfter: [...b.keys()].filter((name) => !a.has(name)),
    resources: [...names].filter((name) => !sameData(before.resources.get(name), after.resources.get(name))),
  };
}

/** What is not plain data, and so stays in this process, is compared as it is: as text, two maps would be the same. */
function sameData(a: unknown, b: unknown): boolean {
  const [then, now] = [checkJson(a, ANY_SIZE), checkJson(b, ANY_SIZE)];
  if (then.ok && now.ok) return canonicalJson(then.value.value) === canonicalJson(now.value.value);
  return isDeepStrictEqual(a, b);
}

const ANY_SIZE: JsonLimits = { depth: 128, characters: Number.MAX_SAFE_INTEGER };
