import { RESPONSE_CALLS, RESPONSE_OUTPUTS } from "../wire/codecs/responses-types.ts";
import { inAnswers } from "./answer-steps.ts";
import { asText, type Fields } from "../base/fields.ts";
import type { Reading } from "./format.ts";
import { called, reasoning, returned, spoken, whole } from "./skeleton.ts";

/** Responses items, as the API takes them and as Codex keeps them. */

/** What the provider runs itself: kept, never paired. */
const OWN = ["web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call"];

export const RESPONSE_TYPES: ReadonlySet<string> = new Set([
  ...RESPONSE_CALLS.keys(),
  ...RESPONSE_OUTPUTS.keys(),
  ...OWN,
  "message",
  "reasoning",
  "item_reference",
  "mcp_list_tools",
  "mcp_approval_request",
  "mcp_approval_response",
  "compaction",
]);

export function responseItems(): (item: Fields) => Reading | undefined {
  return inAnswers(readItem);
}

function readItem(item: Fields): Reading | undefined {
  const type = asText(item["type"]) ?? "message";
  if (type === "message") return spoken(item);
  const kind = RESPONSE_CALLS.get(type);
  // The output of a shell names its call as its own id.
  const field = type === "local_shell_call_output" && item["call_id"] === undefined ? "id" : "call_id";
  const ids = [[field]];
  const id = item[field];
  const server = item["execution"] === "server";
  if (server && typeof id !== "string") return { message: false, pieces: [whole({ kind: "other", by: "model" })] }; // nobody else's to pair
  if (kind !== undefined) {
    const input = kind === "custom" ? undefined : (item["arguments"] ?? item["action"] ?? item["operation"]);
    const name = item["name"] ?? type.replace(/_call$/, "");
    const call = called({ id, name, input, kind, server, partial: item["status"] === "incomplete" });
    return { message: true, pieces: [{ item: call, path: [], ids }] };
  }
  const answers = RESPONSE_OUTPUTS.get(type);
  if (answers !== undefined) {
    return { message: true, pieces: [{ item: returned({ id, kind: answers, server }), path: [], ids }] };
  }
  if (type === "reasoning") return { message: false, pieces: [whole(reasoning())] };
  return { message: false, pieces: [whole({ kind: "other", by: type.endsWith("_output") ? "host" : "model" })] };
}
