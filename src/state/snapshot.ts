import type { Instant } from "../base/clock.ts";
import { canonicalHash } from "../base/hash.ts";
import type { Json } from "../base/json.ts";
import type { Parts, Root, SlicePolicy } from "./part.ts";

export type SnapshotPhase = "pre_tool" | "post_tool" | "checkpoint" | "manual";

export interface SnapshotMetadata {
  readonly tag?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly phase: SnapshotPhase;
}

/** The slices at one moment, by reference: taking it costs nothing, and keeping it costs what changes afterwards. */
export interface Snapshot {
  readonly createdAt: Instant;
  readonly slices: Root;
  /** Every part that was known then, also those whose values were left out. */
  readonly policies: ReadonlyMap<string, SlicePolicy>;
  readonly parentId?: string;
  readonly childrenIds: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
}

/** Everything at one moment: slices and other parts, resources, and why it was taken. */
export interface CompositeSnapshot {
  readonly snapshotId: string;
  readonly createdAt: Instant;
  readonly session: Snapshot;
  /** What each resource answered when asked; plain data. */
  readonly resources: ReadonlyMap<string, unknown>;
  readonly metadata: SnapshotMetadata;
}

export interface SliceSelection {
  /** Which slices by policy. Default `state` only. */
  readonly policies?: readonly SlicePolicy[];
  /** Everything, logs included. */
  readonly includeAll?: boolean;
}

/** The chosen part of a root. Costs the number of parts, whatever their size. */
export function selectSlices(root: Root, parts: Parts, { policies = ["state"], includeAll }: SliceSelection): Root {
  const wanted = new Set<SlicePolicy>(includeAll === true ? ["state", "log", "cache"] : policies);
  return new Map([...root].filter(([name]) => wanted.has(parts.get(name)?.policy ?? "state")));
}

/** What differs between two snapshots: each part's change as data, and the resources by name. */
export interface SnapshotDifference {
  readonly slices: Readonly<Record<string, Json>>;
  /** In one of the two only. */
  readonly onlyBefore: readonly string[];
  readonly onlyAfter: readonly string[];
  readonly resources: readonly string[];
}

/** Equal references are equal; others are compared as data, so that a loaded snapshot compares with a living one. */
export function diffSnapshots(before: CompositeSnapshot, after: CompositeSnapshot, parts: Parts): SnapshotDifference {
  const [a, b] = [before.session.slices, after.session.slices];
  const slices: Record<string, Json> = {};
  for (const [name, part] of parts) {
    if (!a.has(name) || !b.has(name) || a.get(name) === b.get(name)) continue;
    const [then, now] = [a.get(name) as never, b.get(name) as never];
    if (canonicalHash(part.encode(then)) !== canonicalHash(part.encode(now)))
      slices[name] = part.change(then, now).delta;
  }
  const names = new Set([...before.resources.keys(), ...after.resources.keys()]);
  return {
    slices,
    onlyBefore: [...a.keys()].filter((name) => !b.has(name)),
    onlyAfter: [...b.keys()].filter((name) => !a.has(name)),
    resources: [...names].filter((name) => !sameData(before.resources.get(name), after.resources.get(name))),
  };
}

function sameData(a: unknown, b: unknown): boolean {
  if (a === undefined || b === undefined) return a === b;
  return canonicalHash(a as Json) === canonicalHash(b as Json);
}
