import type { StopReason, Usage } from "../../contracts/model.ts";
import type { Item } from "../../wire/item.ts";
import { readMessages } from "../../wire/project.ts";
import type { Fields } from "../../wire/codecs/read.ts";
import { countOf, fieldsOf } from "../fields.ts";

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

/** What this provider calls input leaves out what came from the cache and what went into it. */
export function usageOf(usage: Fields): Usage {
  const cacheRead = countOf(usage["cache_read_input_tokens"]);
  const cacheWrite = countOf(usage["cache_creation_input_tokens"]);
  const reasoning = countOf(fieldsOf(usage["output_tokens_details"])["thinking_tokens"]);
  return {
    input: (countOf(usage["input_tokens"]) ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0),
    output: countOf(usage["output_tokens"]) ?? 0,
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
    ...(reasoning === undefined ? {} : { reasoning }),
  };
}
