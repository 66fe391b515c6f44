import type { StopReason, Usage } from "../../../contracts/model.ts";
import { isThought } from "../../../wire/codecs/chat-thoughts.ts";
import type { AssistantItem, Item } from "../../../wire/item.ts";
import { readMessages } from "../../../wire/project.ts";
import { type Fields, fieldsOf } from "../../../base/fields.ts";
import { countOf, wordOf } from "../../fields.ts";

/**
 * A chat message as items. Its reasoning, where a server sends one, is an item too, with the words that were told of it; the
 * message keeps it as it came.
 */
export function itemsOf(message: Fields, thought: string): readonly Item[] {
  const items = readMessages([message], "openai-chat").items.map((item) => spoken(item, message));
  return thought === "" ? items : [{ kind: "reasoning", text: thought }, ...items];
}

/** What stands beside an empty content: a refusal is what the model said; a thought alone, or its seal, said nothing. */
function spoken(item: Item, message: Fields): Item {
  const said = wordOf(message["refusal"]) ?? (isThought(message) ? "" : undefined);
  const silent = item.kind === "other" || (item.kind === "assistant" && saysNothing(item));
  if (!silent || said === undefined) return item;
  const { step, origin } = item;
  return {
    kind: "assistant",
    parts: [{ type: "text", text: said }],
    ...(step === undefined ? {} : { step }),
    ...(origin === undefined ? {} : { origin }),
  };
}

function saysNothing({ parts }: AssistantItem): boolean {
  return parts.every((part) => part.type === "text" && part.text === "");
}

const STOPS: Readonly<Record<string, StopReason>> = {
  stop: "stop",
  eos: "stop",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
  length: "length",
  model_length: "length",
  content_filter: "content-filter",
};

export function stopOf(finish: string, message: Fields): { readonly reason: StopReason; readonly text: string } {
  const refused = wordOf(message["refusal"]) !== undefined;
  return { reason: refused ? "refusal" : (STOPS[finish] ?? "other"), text: finish };
}

export function usageOf(usage: Fields): Usage {
  const cacheRead = countOf(fieldsOf(usage["prompt_tokens_details"])["cached_tokens"]);
  const reasoning = countOf(fieldsOf(usage["completion_tokens_details"])["reasoning_tokens"]);
  const input = countOf(usage["prompt_tokens"]) ?? 0;
  const answer = countOf(usage["completion_tokens"]) ?? 0;
  return {
    input,
    output: answer + besides(reasoning ?? 0, answer, (countOf(usage["total_tokens"]) ?? 0) - input),
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(reasoning === undefined ? {} : { reasoning }),
  };
}

/** What xAI thinks it counts beside the answer, OpenAI within it: left out, it would be spent and meet no bound. */
function besides(reasoning: number, answer: number, output: number): number {
  return reasoning > answer || output === answer + reasoning ? reasoning : 0;
}
