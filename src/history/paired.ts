import type { Item } from "../wire/item.ts";

declare const paired: unique symbol;

/**
 * A history in which every call has exactly one output, next to it. Only repair makes this type, so a function that
 * asks for it cannot be given a raw log. The brand exists only in the type: at run time a valid history is the very
 * array that came in.
 */
export type PairedHistory = readonly Item[] & { readonly [paired]: true };

/** The only maker. Called by `repair.ts`, after the last edit. */
export function asPaired(items: readonly Item[]): PairedHistory {
  return items as PairedHistory;
}
