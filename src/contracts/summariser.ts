import type { Aside } from "./aside.ts";
import type { Item } from "../wire/item.ts";

/** What is about to leave the requests of a session. */
export interface SummaryAsk {
  /** In their order, whole: every call with its output. */
  readonly items: readonly Item[];
  /** About how many tokens there is room for. */
  readonly room: number;
  readonly signal?: AbortSignal;
  /** For one that asks a model. */
  readonly used?: Aside["used"];
}

/** A text, or the items that a provider's own compaction answered: whole answers of them are kept, broken ones are not. */
export type Summary = { readonly text: string } | { readonly items: readonly Item[] };

/**
 * Says in short what is about to leave. It is asked once for each compaction and its answer is kept in the journal, so it may
 * well ask a model. It throws SUMMARY_TOO_LONG when it was given too much, and is asked again with less; any other failure
 * leaves everything as it was.
 */
export interface Summariser {
  readonly name: string;
  summarise(ask: SummaryAsk): Promise<Summary>;
}
