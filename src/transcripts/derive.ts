import { fingerprint } from "../base/fingerprint.ts";
import type { Json } from "../base/json.ts";
import type { Fields } from "../base/fields.ts";

/** Ids made from what they stand for: two runs over one file write the same bytes. */

export function derivedUuid(seed: string): string {
  const hex = fingerprint(seed);
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-",
  );
}

export function derivedHex(seed: string): string {
  return fingerprint(seed).slice(0, 8);
}

/** The named fields of an element that it has, in that order. */
export function picked(element: Fields, keys: readonly string[]): Readonly<Record<string, Json>> {
  const found: Record<string, Json> = {};
  for (const key of keys) if (Object.hasOwn(element, key)) found[key] = element[key] as Json;
  return found;
}
