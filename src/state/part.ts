import type { Json } from "../base/json.ts";
import type { BlobName } from "../records/ids.ts";

/** What happens to a part when a call is discarded or a snapshot restored. */
export type SlicePolicy = "state" | "log" | "cache";

/**
 * One part of the root: a slice, the files, the transcript. State knows it by shape: an immutable value that can become
 * data and come back, and whose change between two values can, too.
 */
export interface Part<V> {
  readonly name: string;
  readonly policy: SlicePolicy;
  readonly initial: V;
  encode(value: V): Json;
  /** Throws a typed error when the data is not this part's. */
  decode(data: Json): V;
  /** The change as data, and the value as it will be read back: the two must not differ. Cost follows the change. */
  change(before: V, after: V): PartChange<V>;
  apply(value: V, delta: Json): V;
  /** Present when the data of this part names content that is kept beside it. */
  readonly contents?: PartContents<V>;
  /** For parts that hold files: `now` with these paths as they were in `then`. */
  pick?(now: V, then: V, paths: readonly string[]): V;
}

export interface PartChange<V> {
  readonly delta: Json;
  readonly value: V;
  /** Content that the delta names and the value before did not. */
  readonly contents?: readonly Content[];
}

/** Bytes under the name that says what they are. */
export interface Content {
  readonly name: BlobName;
  readonly bytes: Uint8Array;
}

export interface PartContents<V> {
  of(value: V): Iterable<Content>;
  /** Names whose bytes a decoded or applied value still lacks. */
  missing(value: V): readonly BlobName[];
  fill(value: V, bytesOf: (name: BlobName) => Uint8Array | undefined): V;
}

/** A part of whatever value: it can be asked about its own values, and what it answers is its own. */
export interface AnyPart {
  readonly name: string;
  readonly policy: SlicePolicy;
  readonly initial: unknown;
  encode(value: never): Json;
  decode(data: Json): unknown;
  change(before: never, after: never): PartChange<unknown>;
  apply(value: never, delta: Json): unknown;
  readonly contents?: {
    of(value: never): Iterable<Content>;
    missing(value: never): readonly BlobName[];
    fill(value: never, bytesOf: (name: BlobName) => Uint8Array | undefined): unknown;
  };
  pick?(now: never, then: never, paths: readonly string[]): unknown;
}

export type Parts = ReadonlyMap<string, AnyPart>;

/** The values of all parts at one moment. Immutable, so holding on to it is a snapshot. */
export type Root = ReadonlyMap<string, unknown>;

/** Changes of several parts, by name: what one commit did. */
export type RootDelta = { readonly [part: string]: Json };

/** A change that is about to become true: as data, with the content it names, and what it makes of the root. */
export interface RootChange {
  readonly root: Root;
  readonly delta: RootDelta;
  readonly contents: readonly Content[];
}

/** The difference between two roots, part by part. Equal references are never looked into. */
export function changeBetween(parts: Parts, before: Root, after: Root): RootChange {
  return changeOf(parts, before, after, parts.keys());
}

/** The same, when it is known which parts can differ. */
export function changeOf(parts: Parts, before: Root, after: Root, names: Iterable<string>): RootChange {
  let root: Map<string, unknown> | undefined;
  const delta: Record<string, Json> = {};
  const contents: Content[] = [];
  for (const name of names) {
    if (before.get(name) === after.get(name)) continue;
    const change = parts.get(name)?.change(before.get(name) as never, after.get(name) as never);
    if (change === undefined) continue;
    root ??= new Map(before);
    root.set(name, change.value);
    delta[name] = change.delta;
    contents.push(...(change.contents ?? []));
  }
  return { root: root ?? before, delta, contents };
}

/** The root that a stored change makes of an older one. Parts that are not known here are left out. */
export function applyRootDelta(parts: Parts, root: Root, delta: RootDelta): Root {
  const next = new Map(root);
  for (const [name, change] of Object.entries(delta)) {
    const part = parts.get(name);
    if (part !== undefined) next.set(name, part.apply(next.get(name) as never, change));
  }
  return next;
}
