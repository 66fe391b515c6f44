import type { StopReason, Usage } from "../../contracts/model.ts";
import type { Item } from "../../wire/item.ts";
import { readMessages } from "../../wire/project.ts";
import { asList, type Fields, fieldsOf } from "../../base/fields.ts";
import { countOf } from "../fields.ts";

/** The blocks of an answer as items. Only what a request may carry back goes into the message: role and content. */
export function itemsOf(blocks: readonly unknown[]): readonly Item[] {
  return readMessages([{ role: "assistant", content: blocks }], "anthropic").items;
}

const STOPS: Readonly<Record<string, StopReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool-calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "refusal",
  pause_turn: "paused",
  compaction: "paused", // as who asks to see its summary is told: taken for an end, the answer would never come
};

export function stopOf(reason: string): { readonly reason: StopReason; readonly text: string } {
  return { reason: STOPS[reason] ?? "other", text: reason };
}

/**
 * What this provider calls input leaves out what came from the cache and what went into it; and its sums leave out what a
 * compaction or an advisor used, and what a later sampling read again: each sampling tells its own.
 */
export function usageOf(usage: Fields): Usage {
  const samplings = asList(usage["iterations"]).map(fieldsOf);
  const count = (field: string) => total(usage, samplings, field);
  const cacheRead = count("cache_read_input_tokens");
  const cacheWrite = count("cache_creation_input_tokens");
  const reasoning = countOf(fieldsOf(usage["output_tokens_details"])["thinking_tokens"]);
  return {
    input: (count("input_tokens") ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0),
    output: count("output_tokens") ?? 0,
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(samplings.length > 1 ? { samplings: samplings.length } : {}),
  };
}

/** The larger of the two: added up, what both tell of would count twice, and either may have been told too early. */
function total(usage: Fields, samplings: readonly Fields[], field: string): number | undefined {
  const told = [countOf(usage[field]), ...samplings.map((sampling) => countOf(sampling[field]))];
  if (told.every((count) => count === undefined)) return undefined;
  const [own = 0, ...each] = told;
  return Math.max(
    own,
    each.reduce<number>((sum, count = 0) => sum + count, 0),
  );
}
