import { RESPONSE_CALLS, RESPONSE_OUTPUTS } from "../wire/codecs/responses-types.ts";
import { inAnswers } from "./answer-steps.ts";
import { asText, type Fields } from "../base/fields.ts";
import type { Piece, Reading } from "./format.ts";
import { assistant, called, reasoning, returned, system, user } from "./skeleton.ts";

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
  if (type === "message") return message(item);
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
  if (type === "reasoning") return { message: false, pieces: [{ item: reasoning(), path: [], ids: [] }] };
  const other: Piece = { item: { kind: "other", by: type.endsWith("_output") ? "host" : "model" }, path: [], ids: [] };
  return { message: false, pieces: [other] };
}

function message({ role, content }: Fields): Reading | undefined {
  if (role === "user") return { message: true, speaks: role, pieces: [whole(user(content))] };
  if (role === "assistant") return { message: true, speaks: role, pieces: [whole(assistant(content))] };
  return { message: true, pieces: [whole(system(content))] };
}

function whole(item: Piece["item"]): Piece {
  return { item, path: [], ids: [] };
}
