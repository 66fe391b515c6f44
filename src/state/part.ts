import type { Json } from "../base/json.ts";
import type { BlobName } from "../records/ids.ts";
import type { Root } from "./root.ts";

/** What happens to a part when a call is discarded or a snapshot restored: see `SliceDefinition.policy`. */
export type SlicePolicy = "state" | "log" | "cache";

export const SLICE_POLICIES: readonly SlicePolicy[] = ["state", "log", "cache"];

/**
 * One part of the root: a slice, the files, the catalog, or yours. It is an immutable value that can be turned into
 * data and back, and so can the change between two of its values.
 */
export interface Part<V> {
  readonly name: string;
  readonly policy: SlicePolicy;
  readonly initial: V;
  /**
   * Its changes are differences of its data, so a process that does not know the part can carry it along and rewind it.
   */
  readonly plain?: true;
  /** The value as data. */
  encode(value: V): Json;
  /** The value from data. Throws a typed error when the data is not this part's. */
  decode(data: Json): V;
  /**
   * Returns a new value as it will be read back, or throws a typed error. What it shares with the value before need not
   * be checked. Without it, every value is accepted as it is.
   */
  accept?(before: V, after: V): V;
  /**
   * The change from one accepted value to another; undefined when they are equal. Its cost should follow the change.
   */
  change(before: V, after: V): PartChange | undefined;
  /** Applies a change's delta to a value. */
  apply(value: V, delta: Json): V;
  /** Present when this part's data names content that is kept beside it. */
  readonly contents?: PartContents<V>;
  /** For parts that hold files: returns `now` with these paths as they were in `then`. */
  pick?(now: V, then: V, paths: readonly string[]): V;
  /** For parts that only go forward: what `now` becomes when you go back to `then`. Default: `then`. */
  restored?(now: V, then: V): V;
  /** Every byte counts: no secret is hidden in it. */
  readonly exact?: true;
  /** For the kernel's own parts: a call changes it only through what its handle offers for it. */
  readonly reserved?: true;
}

/** A change of a part, as data. */
export interface PartChange {
  readonly delta: Json;
  /** Content that the delta names and the value before did not. */
  readonly contents?: readonly Content[];
}

/** Content, and the name that its digest gives it. */
export interface Content {
  readonly name: BlobName;
  readonly bytes: Uint8Array;
}

/** The content that a part's data names. */
export interface PartContents<V> {
  /** All content of a value. */
  of(value: V): Iterable<Content>;
  /** Names of content that a decoded or changed value still lacks. */
  missing(value: V): readonly BlobName[];
  /** The value with its missing content filled in. */
  fill(value: V, bytesOf: (name: BlobName) => Uint8Array | undefined): V;
}

/** A part with any value, e.g. in a list of parts. */
export interface AnyPart {
  readonly name: string;
  readonly policy: SlicePolicy;
  readonly initial: unknown;
  readonly plain?: true;
  encode(value: never): Json;
  decode(data: Json): unknown;
  accept?(before: never, after: never): unknown;
  change(before: never, after: never): PartChange | undefined;
  apply(value: never, delta: Json): unknown;
  readonly contents?: {
    of(value: never): Iterable<Content>;
    missing(value: never): readonly BlobName[];
    fill(value: never, bytesOf: (name: BlobName) => Uint8Array | undefined): unknown;
  };
  pick?(now: never, then: never, paths: readonly string[]): unknown;
  restored?(now: never, then: never): unknown;
  readonly exact?: true;
  readonly reserved?: true;
}

export type Parts = ReadonlyMap<string, AnyPart>;

/** The changes that one commit made, by part name. */
export type RootDelta = { readonly [part: string]: Json };

/** What new values of parts make of a root. Whatever its part does not accept is refused here. */
export function changeOf(parts: Parts, before: Root, after: Iterable<readonly [string, unknown]>): RootChange {
  const accepted: (readonly [string, unknown])[] = [];
  for (const [name, value] of after) {
    const now = before.get(name);
    if (now === value) continue;
    const part = parts.get(name);
    accepted.push([name, part?.accept === undefined ? value : part.accept(now as never, value as never)]);
  }
  return new RootChange(parts, before, accepted);
}

/**
 * A change that is about to become true: the root that it leads to, and the change itself as data, with the content it
 * names. The data is worked out only when it is asked for, to be written down or shown.
 */
export class RootChange {
  readonly root: Root;
  readonly #parts: Parts;
  readonly #before: Root;
  readonly #after: readonly (readonly [string, unknown])[];
  #worked: Worked | undefined;

  /** `after`: values that their parts have accepted, such as those of a snapshot. */
  constructor(parts: Parts, before: Root, after: readonly (readonly [string, unknown])[]) {
    this.root = after.length === 0 ? before : before.with(after);
    this.#parts = parts;
    this.#before = before;
    this.#after = after;
  }

  get delta(): RootDelta {
    return this.#workedOut().delta;
  }

  get contents(): readonly Content[] {
    return this.#workedOut().contents;
  }

  #workedOut(): Worked {
    this.#worked ??= workOut(this.#parts, this.#before, this.#after);
    return this.#worked;
  }
}

interface Worked {
  readonly delta: RootDelta;
  readonly contents: readonly Content[];
}

function workOut(parts: Parts, before: Root, after: readonly (readonly [string, unknown])[]): Worked {
  const delta: Record<string, Json> = {};
  const contents: Content[] = [];
  for (const [name, value] of after) {
    const change = parts.get(name)?.change(before.get(name) as never, value as never);
    if (change === undefined) continue;
    delta[name] = change.delta;
    for (const content of change.contents ?? []) contents.push(content);
  }
  return { delta, contents };
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
