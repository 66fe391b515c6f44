import { parseAsWritten } from "../../base/json.ts";
import type { StopReason, Usage } from "../../contracts/model.ts";
import { type Fields, fieldsOf, isFields } from "../../base/fields.ts";
import type { Item } from "../../wire/item.ts";
import { readMessages } from "../../wire/project.ts";
import { countOf, wordOf } from "../fields.ts";

/** An answer's content as items. */
export function itemsOf(content: readonly Fields[]): readonly Item[] {
  return readMessages([{ role: "assistant", content }], "ai-sdk").items;
}

/** Arguments as the value that a prompt takes. What is no object stays text, so that nothing of it is lost. */
export function inputOf(text: string): unknown {
  if (text.trim() === "") return {};
  const parsed = parseAsWritten(text);
  return parsed.ok && isFields(parsed.value) ? parsed.value : text;
}

const STOPS: Readonly<Record<string, StopReason>> = {
  stop: "stop",
  "tool-calls": "tool-calls",
  length: "length",
  "content-filter": "content-filter",
};

/** The SDK's words for a stream that ended before the provider had said why. */
const UNFINISHED: readonly string[] = ["error", "interrupted", "unknown"];

/** A word in older majors; since 6 the SDK's word and the provider's. */
export function stopOf(finish: unknown): { readonly reason: StopReason; readonly text: string } | undefined {
  const { unified = finish, raw } = fieldsOf(finish);
  const word = wordOf(unified);
  // Major 6 begins with "other" and keeps it when the stream ends early: only a provider's word makes it one.
  const unsaid = word === "other" && unified !== finish && raw === undefined;
  if (word === undefined || unsaid || UNFINISHED.includes(word)) return undefined;
  return { reason: reasonOf(word, finish, wordOf(raw)), text: wordOf(raw) ?? word };
}

/** The SDK calls a refusal a filter; only what the provider said can tell them apart. */
function reasonOf(word: string, finish: unknown, raw: string | undefined): StopReason {
  if (raw === "pause_turn" || raw === "compaction") return "paused";
  const unfiltered = raw === "refusal" || raw === "stop" || (raw === undefined && typeof finish !== "string");
  return word === "content-filter" && unfiltered ? "refusal" : (STOPS[word] ?? "other");
}

/** Counts stand flat in major 5, and by what they were spent on since 6. `metadata`: what the provider told beside them. */
export function usageOf(usage: Fields, metadata: Fields = {}): Usage {
  const input = fieldsOf(usage["inputTokens"]);
  const output = fieldsOf(usage["outputTokens"]);
  const cacheRead = countOf(input["cacheRead"]) ?? countOf(usage["cachedInputTokens"]);
  const beside = cacheBeside(usage, metadata);
  const cacheWrite = countOf(input["cacheWrite"]) ?? beside.write;
  const reasoning = countOf(output["reasoning"]) ?? countOf(usage["reasoningTokens"]);
  return {
    input: countOf(input["total"]) ?? (countOf(usage["inputTokens"]) ?? 0) + (beside.read ?? 0) + (beside.write ?? 0),
    output: countOf(output["total"]) ?? countOf(usage["outputTokens"]) ?? 0,
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
    ...(reasoning === undefined ? {} : { reasoning }),
  };
}

interface CacheBeside {
  readonly read?: number | undefined;
  readonly write?: number | undefined;
}

/** In major 5 Anthropic's input leaves out what the cache took. A flat count that is the provider's own shows it. */
function cacheBeside(usage: Fields, metadata: Fields): CacheBeside {
  const own = fieldsOf(fieldsOf(metadata["anthropic"])["usage"]);
  const input = countOf(own["input_tokens"]);
  if (input === undefined || input !== countOf(usage["inputTokens"])) return {};
  return { read: countOf(own["cache_read_input_tokens"]), write: countOf(own["cache_creation_input_tokens"]) };
}
