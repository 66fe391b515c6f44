import type { Adjustment } from "./adjustment.ts";
import { isSilentFailure } from "./codecs/result-form.ts";
import { type Item, type OutputItem, resultParts, isBlankText } from "./item.ts";
import type { WireProfile } from "./profiles.ts";
import type { OutputStatus } from "./status.ts";

/** What the model reads of a call that did not succeed and left no word. */
const WORDS: Readonly<Record<Exclude<OutputStatus, "success">, string>> = {
  failed: "The tool failed and said nothing.",
  canceled: "The call was canceled and said nothing.",
  timeout: "The call ran out of time and said nothing.",
};

/**
 * Results that failed without a word. Anthropic refuses one, in this request and in every later one; where a result cannot
 * say that it failed, an empty one reads as a success.
 */
export function tellSilentFailures(items: readonly Item[], profile: WireProfile, told: Adjustment[]): readonly Item[] {
  let copy: Item[] | undefined;
  for (const [at, item] of items.entries()) {
    if (item.kind !== "output" || item.status === "success" || !isToBeTold(item, profile)) continue;
    told.push({ kind: "blank-filled", at });
    (copy ??= items.slice())[at] = { ...item, parts: [{ type: "text", text: WORDS[item.status] }] };
  }
  return copy ?? items;
}

function isToBeTold(output: OutputItem, { format }: WireProfile): boolean {
  const { origin, server, callKind } = output;
  if (server === true || !resultParts(output).every(isBlankText)) return false;
  if (origin?.format === format) return isSilentFailure(origin.pieces[0], format);
  // There a search is answered with the tools it found: words would be taken for one.
  return callKind !== "search" || format !== "openai-responses";
}
