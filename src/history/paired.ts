import type { Item } from "../wire/item.ts";

declare const paired: unique symbol;

/**
 * A history in which every call has its one output, next to it. The receipt of the repair station: whoever asks for it
 * cannot be handed a raw log. The brand is a type only; at run time a valid history is the very array that came in.
 */
export type PairedHistory = readonly Item[] & { readonly [paired]: true };

/** The only maker. Called by `repair.ts`, after the last edit. */
export function asPaired(items: readonly Item[]): PairedHistory {
  return items as PairedHistory;
}
