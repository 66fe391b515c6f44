import type { Item } from "../wire/item.ts";
import { asList, asText, type Fields, fieldsOf, isFields } from "../base/fields.ts";
import type { Piece, Reading } from "./format.ts";
import { assistant, at, called, mostly, returned, system, user, whole } from "./skeleton.ts";

/**
 * Chat-completions messages and their dialects: `tool_calls` on an assistant message, a `tool` message for each.
 * Benchmarks write calls flat (`{id, name, arguments}`) or with the name as `function`, and results under `id` or
 * `tool_call_ids`; they all mean the same.
 */

const ROLES = new Set(["system", "developer", "user", "assistant", "tool", "function"]);

export function isChat(value: unknown): boolean {
  return mostly(value, (message) => ROLES.has(String(at(message, "role"))));
}

export function readChatMessage(message: Fields, position: number): Reading | undefined {
  const { role, content } = message;
  switch (role) {
    case "system":
    case "developer":
      return { message: true, pieces: [whole(system(content))] };
    case "tool":
    case "function":
      return { message: true, pieces: outputs(message) };
    case "user":
    case "assistant":
      return speaker(message, role, `#${position}`);
    default:
      return undefined;
  }
}

function speaker(message: Fields, role: "user" | "assistant", step: string): Reading {
  const calls = asList(message["tool_calls"]);
  const { content } = message;
  const said: Item = role === "user" ? user(content) : assistant(content, step);
  const pieces: Piece[] = calls.length === 0 || content ? [whole(said)] : [];
  for (const [nth, call] of calls.entries()) {
    if (!isFields(call)) continue;
    const body = isFields(call["function"]) ? call["function"] : fieldsOf(call["custom"]);
    const name = body["name"] ?? asText(call["function"]) ?? call["name"];
    const input = body["arguments"] ?? call["arguments"];
    const path = ["tool_calls", nth];
    pieces.push({ item: called({ id: call["id"], name, input, step }), path, ids: [[...path, "id"]] });
  }
  return { message: true, speaks: role, turn: step, pieces, blocks: calls.length };
}

function outputs(message: Fields): readonly Piece[] {
  const several = asList(message["tool_call_ids"]);
  if (several.length > 0) {
    return several.map((id, nth) => ({
      item: returned({ id }),
      path: several.length === 1 ? [] : ["tool_call_ids", nth],
      ids: [["tool_call_ids", nth]],
    }));
  }
  const nested = asList(message["tool_messages"]);
  if (nested.length > 0) {
    return nested.map((one, nth) => {
      const path = ["tool_messages", nth];
      return { item: returned({ id: at(one, "id") }), path, ids: [[...path, "id"]] };
    });
  }
  // Functions, as they were before tools, answer the message before them and have no ids.
  if (message["role"] === "function" && !("tool_call_id" in message) && !("id" in message))
    return [whole({ kind: "other", by: "host" })];
  const key = "tool_call_id" in message || !("id" in message) ? "tool_call_id" : "id";
  const failed = message["error"] === true || isFields(message["error"]);
  return [{ item: returned({ id: message[key], failed }), path: [], ids: [[key]] }];
}
