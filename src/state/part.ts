import type { Json } from "../base/json.ts";
import type { BlobName } from "../records/ids.ts";
import type { Root } from "./root.ts";

/** What happens to a part when a call is discarded or a snapshot restored. */
export type SlicePolicy = "state" | "log" | "cache";

export const SLICE_POLICIES: readonly SlicePolicy[] = ["state", "log", "cache"];

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
  /**
   * The change as data, and the value as it will be read back: the two must not differ. Cost follows the change. Undefined
   * when the two hold the same, though they are not the same reference.
   */
  change(before: V, after: V): PartChange<V> | undefined;
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
  change(before: never, after: never): PartChange<unknown> | undefined;
  apply(value: never, delta: Json): unknown;
  readonly contents?: {
    of(value: never): Iterable<Content>;
    missing(value: never): readonly BlobName[];
    fill(value: never, bytesOf: (name: BlobName) => Uint8Array | undefined): unknown;
  };
  pick?(now: never, then: never, paths: readonly string[]): unknown;
}

export type Parts = ReadonlyMap<string, AnyPart>;

/** Changes of several parts, by name: what one commit did. */
export type RootDelta = { readonly [part: string]: Json };

/** A change that is about to become true: as data, with the content it names, and what it makes of the root. */
export interface RootChange {
  readonly root: Root;
  readonly delta: RootDelta;
  readonly contents: readonly Content[];
}

/** What new values of parts make of a root. They are checked, part by part; equal references are never looked into. */
export function changeOf(parts: Parts, before: Root, after: Iterable<readonly [string, unknown]>): RootChange {
  const changed: (readonly [string, unknown])[] = [];
  const delta: Record<string, Json> = {};
  const contents: Content[] = [];
  for (const [name, value] of after) {
    const now = before.get(name);
    if (now === value) continue;
    const change = parts.get(name)?.change(now as never, value as never);
    if (change === undefined) continue;
    changed.push([name, change.value]);
    delta[name] = change.delta;
    for (const content of change.contents ?? []) contents.push(content);
  }
  return { root: changed.length === 0 ? before : before.with(changed), delta, contents };
}

/**
 * The way to values that were true once, such as a snapshot's. They need no check, so what differs is worked out only when
 * somebody asks, to write it down or to show it.
 */
export class ChangeTo implements RootChange {
  readonly root: Root;
  readonly #work: () => RootChange;
  #worked: RootChange | undefined;

  constructor(parts: Parts, before: Root, after: readonly (readonly [string, unknown])[]) {
    this.root = after.length === 0 ? before : before.with(after);
    this.#work = () => changeOf(parts, before, after);
  }

  get delta(): RootDelta {
    return this.#change.delta;
  }

  get contents(): readonly Content[] {
    return this.#change.contents;
  }

  get #change(): RootChange {
    this.#worked ??= this.#work();
    return this.#worked;
  }
}

/** The root that a stored change makes of an older one. Parts that are not known here are left out. */
export function applyRootDelta(parts: Parts, root: Root, delta: RootDelta): Root {
  return root.with(
    Object.entries(delta).flatMap(([name, change]): [string, unknown][] => {
      const part = parts.get(name);
      return part === undefined ? [] : [[name, part.apply(root.get(name) as never, change)]];
    }),
  );
}
