import type { Json } from "../base/json.ts";

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
  change(before: V, after: V): { readonly delta: Json; readonly value: V };
  apply(value: V, delta: Json): V;
}

export type AnyPart = Part<never>;

/** The values of all parts at one moment. Immutable, so holding on to it is a snapshot. */
export type Root = ReadonlyMap<string, unknown>;

/** Changes of several parts, by name: what one commit did. */
export type RootDelta = { readonly [part: string]: Json };
