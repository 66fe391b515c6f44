import type { Part } from "./part.ts";
import { partOf, type SlicePart } from "./slice.ts";

/** A slice's value. A cache that is empty is computed from the slices it asks for, through the same reader. */
export function readSlice<T>(part: SlicePart<T>, read: <V>(part: Part<V>) => V): T {
  const value = read(part);
  if (part.policy !== "cache" || part.recompute === undefined || value !== part.initial) return value;
  return part.recompute((other) => readSlice(partOf(other), read));
}
