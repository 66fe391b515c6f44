import type { Instant } from "../base/clock.ts";
import { canonicalHash } from "../base/hash.ts";
import { encodeJson, type Json, type JsonObject, parseJson } from "../base/json.ts";
import { boolean, fields, json, list, oneOf, optional, string, type TypeOf } from "../records/shape.ts";
import { stateError } from "./errors.ts";
import type { AnyPart, Root, SlicePolicy } from "./part.ts";

export const SNAPSHOT_VERSION = 1;

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

const shape = fields({
  version: json,
  snapshotId: string,
  createdAt: string,
  slices: json,
  policies: json,
  resources: json,
  parentId: optional(string),
  childrenIds: list(string),
  tags: json,
  tag: optional(string),
  toolCallId: optional(string),
  toolName: optional(string),
  phase: oneOf("pre_tool", "post_tool", "checkpoint", "manual"),
  includesLogs: optional(boolean),
});
type Flat = TypeOf<typeof shape>;

/** Portable text with version and checksum. Data only: loading it runs nothing and names no code. */
export function toJson(snapshot: CompositeSnapshot, parts: ReadonlyMap<string, AnyPart>): string {
  const { session, metadata, resources } = snapshot;
  const slices = [...session.slices].map(
    ([name, value]) => [name, parts.get(name)?.encode(value as never) ?? null] as const,
  );
  const flat = {
    version: SNAPSHOT_VERSION,
    snapshotId: snapshot.snapshotId,
    createdAt: snapshot.createdAt,
    slices: Object.fromEntries(slices),
    policies: Object.fromEntries(session.policies),
    resources: Object.fromEntries(resources),
    childrenIds: session.childrenIds,
    tags: session.tags,
    ...(session.parentId === undefined ? {} : { parentId: session.parentId }),
    ...metadata,
  };
  const encoded = encodeJson(flat);
  if (!encoded.ok) throw stateError("SNAPSHOT_MISMATCH", { path: encoded.error.path, detail: encoded.error.detail });
  return JSON.stringify({ checksum: canonicalHash(encoded.value.value), snapshot: encoded.value.value });
}

/** Refuses what is damaged, altered, newer, or not known here: all of that before anything could be changed by it. */
export function fromJson(text: string, parts: ReadonlyMap<string, AnyPart>): CompositeSnapshot {
  const flat = readFlat(text);
  const unknown = Object.keys(flat.slices as JsonObject).filter((name) => !parts.has(name));
  if (unknown.length > 0) throw stateError("SNAPSHOT_MISMATCH", { unknownSlices: unknown });
  const slices = Object.entries(flat.slices as JsonObject).map(
    ([name, data]) => [name, parts.get(name)?.decode(data as Json)] as const,
  );
  return {
    snapshotId: flat.snapshotId,
    createdAt: flat.createdAt,
    session: {
      createdAt: flat.createdAt,
      slices: new Map(slices),
      policies: new Map(Object.entries(flat.policies as Record<string, SlicePolicy>)),
      childrenIds: flat.childrenIds,
      tags: flat.tags as Record<string, string>,
      ...(flat.parentId === undefined ? {} : { parentId: flat.parentId }),
    },
    resources: new Map(Object.entries(flat.resources as JsonObject)),
    metadata: {
      phase: flat.phase,
      ...(flat.tag === undefined ? {} : { tag: flat.tag }),
      ...(flat.toolCallId === undefined ? {} : { toolCallId: flat.toolCallId }),
      ...(flat.toolName === undefined ? {} : { toolName: flat.toolName }),
    },
  };
}

function readFlat(text: string): Flat {
  const parsed = parseJson(text, { depth: 128, characters: Number.MAX_SAFE_INTEGER });
  if (!parsed.ok) throw stateError("SNAPSHOT_CORRUPT", { detail: parsed.error.detail });
  const { checksum, snapshot } = (parsed.value ?? {}) as { checksum?: Json; snapshot?: Json };
  if (snapshot === undefined || checksum !== canonicalHash(snapshot))
    throw stateError("SNAPSHOT_CORRUPT", { detail: "checksum" });
  const { version } = snapshot as { version?: Json };
  if (typeof version === "number" && version > SNAPSHOT_VERSION) throw stateError("SNAPSHOT_TOO_NEW", { version });
  const fault = shape.fault(snapshot, "");
  if (fault !== undefined) throw stateError("SNAPSHOT_CORRUPT", { detail: fault });
  return snapshot as unknown as Flat;
}

/** Which parts differ between two snapshots. Equal references are equal; others are compared as data. */
export function changedParts(a: Snapshot, b: Snapshot, parts: ReadonlyMap<string, AnyPart>): readonly string[] {
  const names = new Set([...a.slices.keys(), ...b.slices.keys()]);
  return [...names].filter((name) => {
    const [before, after] = [a.slices.get(name), b.slices.get(name)];
    if (before === after) return false;
    const part = parts.get(name);
    if (part === undefined || before === undefined || after === undefined) return true;
    return canonicalHash(part.encode(before as never)) !== canonicalHash(part.encode(after as never));
  });
}
