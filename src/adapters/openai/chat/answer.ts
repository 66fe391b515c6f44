import type { StopReason, Usage } from "../../../contracts/model.ts";
import type { Item } from "../../../wire/item.ts";
import { readMessages } from "../../../wire/project.ts";
import type { Fields } from "../../../wire/codecs/read.ts";
import { countOf, fieldsOf, wordOf } from "../../fields.ts";

/** A chat message as items. Its reasoning, where a server sends one, is an item too; the message keeps it as it came. */
export function itemsOf(message: Fields): readonly Item[] {
  const items = readMessages([message], "openai-chat").items.map((item) => withRefusal(item, message));
  const thought = wordOf(message["reasoning_content"]) ?? wordOf(message["reasoning"]);
  return thought === undefined ? items : [{ kind: "reasoning", text: thought }, ...items];
}

/** A refusal stands beside an empty content; it is what the model said. */
function withRefusal(item: Item, message: Fields): Item {
  const refusal = wordOf(message["refusal"]);
  if (refusal === undefined || item.kind !== "assistant" || wordOf(message["content"]) !== undefined) return item;
  return { ...item, parts: [{ type: "text", text: refusal }] };
}

const STOPS: Readonly<Record<string, StopReason>> = {
  stop: "stop",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
  length: "length",
  content_filter: "content-filter",
};

export function stopOf(finish: string, message: Fields): { readonly reason: StopReason; readonly text: string } {
  const refused = wordOf(message["refusal"]) !== undefined;
  return { reason: refused ? "refusal" : (STOPS[finish] ?? "other"), text: finish };
}

export function usageOf(usage: Fields): Usage {
  const cacheRead = countOf(fieldsOf(usage["prompt_tokens_details"])["cached_tokens"]);
  const reasoning = countOf(fieldsOf(usage["completion_tokens_details"])["reasoning_tokens"]);
  return {
    input: countOf(usage["prompt_tokens"]) ?? 0,
    output: countOf(usage["completion_tokens"]) ?? 0,
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(reasoning === undefined ? {} : { reasoning }),
  };
}
