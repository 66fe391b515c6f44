import { canonicalJson } from "../base/canonical.ts";
import { canonicalHash, sha256 } from "../base/hash.ts";
import { badOption } from "../base/options.ts";
import { encodeJson, type Json, parseJson } from "../base/json.ts";
import { type BlobName, toBlobName } from "../records/ids.ts";
import { nameOfBytes } from "../records/blob-name.ts";
import { fields, json, list, oneOf, optional, string, type TypeOf } from "../records/shape.ts";
import { SnapshotMismatchError, stateError } from "./errors.ts";
import type { Content, Parts, SlicePolicy } from "./part.ts";
import { Root } from "./root.ts";
import { type CompositeSnapshot, mustBeSnapshot } from "./snapshot.ts";

/** A snapshot as text: one entry a line, each with its own checksum, so that damage is named and not only noticed. */
interface Entry {
  /** `header`, `slices/Plan`, `resources/budget`, `contents/sha256-…` */
  readonly name: string;
  readonly data: Json;
}

/** One step from an older text to the next version. */
interface SnapshotLift {
  readonly to: number;
  readonly why: string;
  readonly up: (entries: readonly Entry[]) => readonly Entry[];
}

export interface SnapshotLadder {
  readonly version: number;
  readonly lifts: readonly SnapshotLift[];
}

/** Empty while version 1 is the only one. */
const LADDER: SnapshotLadder = { version: 1, lifts: [] };

const header = fields({
  snapshotId: string,
  createdAt: string,
  policies: json,
  parentId: optional(string),
  childrenIds: list(string),
  tags: json,
  metadata: fields({
    tag: optional(string),
    toolCallId: optional(string),
    toolName: optional(string),
    phase: oneOf("pre_tool", "post_tool", "checkpoint", "manual"),
  }),
});

/** Portable text with version and checksums. Data only: loading it runs nothing and names no code. */
export function snapshotToText(snapshot: CompositeSnapshot, parts: Parts, ladder: SnapshotLadder = LADDER): string {
  mustBeSnapshot(snapshot);
  const entries = entriesOf(snapshot, parts).map(({ name, data }) => {
    const encoded = encodeJson(data);
    if (encoded.ok) return { name, data: encoded.value.value, sum: sumOf({ name, data: encoded.value.value }) };
    throw stateError("SLICE_NOT_JSON", { entry: name, path: encoded.error.path, detail: encoded.error.detail });
  });
  return textOf(ladder.version, entries);
}

interface SummedEntry extends Entry {
  readonly sum: string;
}

function textOf(version: number, entries: readonly SummedEntry[]): string {
  return `${firstLine(version, entries)}\n${entries.map(lineOf).join(",\n")}\n]}`;
}

/** Version 1 was written without it. Beyond that, a changed version would have the wrong steps lift what it holds. */
function firstLine(version: number, entries: readonly SummedEntry[]): string {
  const sums = [...(version === 1 ? [] : [`version ${version}`]), ...entries.map(({ sum }) => sum)];
  return `{"version":${version},"checksum":"${sha256(sums.join("\n"))}","entries":[`;
}

function lineOf({ name, data, sum }: SummedEntry): string {
  return `[${JSON.stringify(name)},${canonicalJson(data)},"${sum}"]`;
}

/** Refuses what is damaged, altered, newer, or not known here: all of that before anything could be changed by it. */
export function snapshotFromText(text: string, parts: Parts, ladder: SnapshotLadder = LADDER): CompositeSnapshot {
  if (typeof text !== "string") throw badOption("text", text, "the text that toJson() wrote");
  const entries = new Map(readEntries(text, ladder).map(({ name, data }) => [name, data]));
  const head = headerOf(entries.get("header"));
  const slices = named(entries, "slices/");
  const unknown = [...slices.keys()].filter((name) => !parts.has(name));
  if (unknown.length > 0) throw new SnapshotMismatchError({ snapshot: head.snapshotId, unknownSlices: unknown });
  const contents = contentsOf(named(entries, "contents/"));
  const { metadata, snapshotId, createdAt, policies, tags, ...lineage } = head;
  return {
    snapshotId,
    createdAt,
    session: {
      createdAt,
      slices: Root.of([...slices].map(([name, data]) => [name, decoded(parts, name, data, contents)])),
      policies: new Map(Object.entries(policies as Record<string, SlicePolicy>)),
      tags: tags as Record<string, string>,
      ...lineage,
    },
    resources: named(entries, "resources/"),
    metadata,
  };
}

function entriesOf(snapshot: CompositeSnapshot, parts: Parts): readonly Entry[] {
  const { session, metadata, resources, snapshotId, createdAt } = snapshot;
  const { slices, policies, createdAt: _, ...lineage } = session;
  const entries: Entry[] = [
    {
      name: "header",
      data: { snapshotId, createdAt, policies: Object.fromEntries(policies), metadata, ...lineage } as unknown as Json,
    },
  ];
  const contents = new Map<BlobName, Content>();
  for (const [name, value] of slices) {
    const part = parts.get(name);
    if (part === undefined) throw new SnapshotMismatchError({ snapshot: snapshotId, unknownSlices: [name] });
    entries.push({ name: `slices/${name}`, data: part.encode(value as never) });
    for (const content of part.contents?.of(value as never) ?? []) contents.set(content.name, content);
  }
  for (const [name, data] of resources) entries.push({ name: `resources/${name}`, data: data as Json });
  for (const { name, bytes } of contents.values())
    entries.push({ name: `contents/${name}`, data: Buffer.from(bytes).toString("base64") });
  return entries;
}

function readEntries(text: string, ladder: SnapshotLadder): readonly Entry[] {
  const parsed = parseJson(text, { depth: 128, characters: Number.MAX_SAFE_INTEGER });
  const whole = (parsed.ok ? parsed.value : null) as { version?: Json; checksum?: Json; entries?: Json } | null;
  if (!Array.isArray(whole?.entries)) throw stateError("SNAPSHOT_CORRUPT", { entry: damagedLine(text) });
  const { version } = whole;
  if (typeof version === "number" && version > ladder.version) throw stateError("SNAPSHOT_TOO_NEW", { version });
  const summed = (whole.entries as readonly Json[]).map((line, index): SummedEntry => {
    const [name, data, sum] = (Array.isArray(line) ? line : []) as readonly Json[];
    if (typeof name !== "string" || typeof sum !== "string" || data === undefined || sumOf({ name, data }) !== sum)
      throw stateError("SNAPSHOT_CORRUPT", { entry: typeof name === "string" ? name : `line ${index}` });
    return { name, data, sum };
  });
  // Byte for byte: also what reads the same was not written so.
  if (typeof version !== "number" || text !== textOf(version, summed))
    throw stateError("SNAPSHOT_CORRUPT", { entry: alteredLine(text, summed) });
  let entries: readonly Entry[] = summed;
  for (const step of ladder.lifts) if (step.to > version) entries = step.up(entries);
  return entries;
}

/** The text no longer parses. Its lines still do, all but the damaged one. */
function damagedLine(text: string): string {
  for (const [index, line] of text.split("\n").slice(1, -1).entries()) {
    const parsed = parseJson(line.replace(/,$/, ""));
    const [name, data, sum] = (parsed.ok && Array.isArray(parsed.value) ? parsed.value : []) as readonly Json[];
    if (typeof name === "string" && data !== undefined && sumOf({ name, data }) === sum) continue;
    return /^\["([^"\\]+)"/.exec(line)?.[1] ?? `line ${index}`;
  }
  return "list of entries";
}

/** Every entry is proven; one of them is written in another way, or the list of them is at fault. */
function alteredLine(text: string, entries: readonly SummedEntry[]): string {
  const lines = text.split("\n").slice(1, -1);
  if (lines.length !== entries.length) return "list of entries";
  const altered = entries.find((entry, nth) => lines[nth]?.replace(/,$/, "") !== lineOf(entry));
  return altered?.name ?? "list of entries";
}

function sumOf({ name, data }: Entry): string {
  return canonicalHash([name, data]);
}

function headerOf(data: Json | undefined): TypeOf<typeof header> {
  const fault = header.fault(data, "header");
  if (fault !== undefined) throw stateError("SNAPSHOT_CORRUPT", { entry: "header", detail: fault });
  return data as unknown as TypeOf<typeof header>;
}

function named(entries: ReadonlyMap<string, Json>, prefix: string): ReadonlyMap<string, Json> {
  return new Map(
    [...entries].filter(([name]) => name.startsWith(prefix)).map(([name, data]) => [name.slice(prefix.length), data]),
  );
}

function contentsOf(entries: ReadonlyMap<string, Json>): ReadonlyMap<BlobName, Uint8Array> {
  return new Map(
    [...entries].map(([name, data]) => {
      const bytes = Uint8Array.from(Buffer.from(typeof data === "string" ? data : "", "base64"));
      if (nameOfBytes(bytes) !== name) throw stateError("SNAPSHOT_CORRUPT", { entry: `contents/${name}` });
      return [toBlobName(name), bytes];
    }),
  );
}

function decoded(parts: Parts, name: string, data: Json, contents: ReadonlyMap<BlobName, Uint8Array>): unknown {
  const part = parts.get(name);
  const value = part?.decode(data);
  if (part?.contents === undefined) return value;
  const filled = part.contents.fill(value as never, (content) => contents.get(content));
  const [missing] = part.contents.missing(filled as never);
  if (missing !== undefined) throw stateError("SNAPSHOT_CORRUPT", { entry: `contents/${missing}` });
  return filled;
}
