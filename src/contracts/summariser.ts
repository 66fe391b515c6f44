import type { Aside } from "./aside.ts";
import type { Item } from "../wire/item.ts";

/** What to summarise: the items that are about to leave the requests. */
export interface SummaryAsk {
  /** The items, in order. Every call comes with its output. */
  readonly items: readonly Item[];
  /** About how many tokens the summary may have. */
  readonly room: number;
  /** Aborts when the summary is no longer wanted. */
  readonly signal?: AbortSignal;
  /** For a summariser that asks a model: report its usage here. */
  readonly used?: Aside["used"];
}

/** A text, or the items of a provider's own compaction. Only whole answers among these are kept. */
export type Summary = { readonly text: string } | { readonly items: readonly Item[] };

/**
 * Summarises what a compaction removes from the requests. It runs once per compaction and its answer is kept in the
 * journal, so it may ask a model. If it was given too much, it throws SUMMARY_TOO_LONG and is asked again with less.
 * After any other failure nothing has changed.
 */
export interface Summariser {
  readonly name: string;
  summarise(ask: SummaryAsk): Promise<Summary>;
}
