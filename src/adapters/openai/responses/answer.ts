import type { StopReason, Usage } from "../../../contracts/model.ts";
import type { Item } from "../../../wire/item.ts";
import { readMessages } from "../../../wire/project.ts";
import { asList, type Fields, fieldsOf } from "../../../base/fields.ts";
import { countOf, wordOf } from "../../fields.ts";

export function itemsOf(output: readonly unknown[]): readonly Item[] {
  return readMessages(output, "openai-responses").items;
}

const INCOMPLETE: Readonly<Record<string, StopReason>> = {
  max_output_tokens: "length",
  content_filter: "content-filter",
};

/** Why a finished response stopped. */
export function stopOf(
  response: Fields,
  output: readonly unknown[],
): { readonly reason: StopReason; readonly text: string } {
  const status = wordOf(response["status"]) ?? "completed";
  const why = wordOf(fieldsOf(response["incomplete_details"])["reason"]);
  if (status === "incomplete") return { reason: INCOMPLETE[why ?? ""] ?? "other", text: why ?? status };
  if (status !== "completed") return { reason: "other", text: status };
  return { reason: output.some(isRefusal) ? "refusal" : "stop", text: status };
}

function isRefusal(item: unknown): boolean {
  return asList(fieldsOf(item)["content"]).some((part) => fieldsOf(part)["type"] === "refusal");
}

export function usageOf(usage: Fields): Usage {
  const cacheRead = countOf(fieldsOf(usage["input_tokens_details"])["cached_tokens"]);
  const reasoning = countOf(fieldsOf(usage["output_tokens_details"])["reasoning_tokens"]);
  return {
    input: countOf(usage["input_tokens"]) ?? 0,
    output: countOf(usage["output_tokens"]) ?? 0,
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(reasoning === undefined ? {} : { reasoning }),
  };
}
