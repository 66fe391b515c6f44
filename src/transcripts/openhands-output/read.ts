import type { Item } from "../../wire/item.ts";
import { asText, type Fields, fieldsOf, isFields } from "../../base/fields.ts";
import type { Reading } from "../format.ts";
import { assistant, at, called, returned, system, user, whole } from "../skeleton.ts";

/** Events of the runtime, which no model reads. */
const SILENT = new Set([
  "recall",
  "agent_state_changed",
  "change_agent_state",
  "null",
  "loop_recovery",
  "condensation",
]);

export function readEvent(event: Fields, position: number): Reading | undefined {
  return typeof event["kind"] === "string" ? readSdkEvent(event, position) : readAction(event, position);
}

function readAction(event: Fields, position: number): Reading {
  const metadata = event["tool_call_metadata"];
  const kind = asText(event["action"]) ?? asText(event["observation"]) ?? "";
  if (isFields(metadata)) {
    const { tool_call_id: id, function_name: name } = metadata;
    const place = { path: [], ids: [["tool_call_metadata", "tool_call_id"]] };
    if ("observation" in event) {
      const item = returned({ id, failed: event["observation"] === "error" });
      return { message: true, pieces: [{ item, ...place }] };
    }
    // Calls of one response carry its id: they are one answer.
    const turn = asText(at(metadata, "model_response", "id")) ?? `#${position}`;
    return { message: true, speaks: "assistant", turn, pieces: [{ item: called({ id, name, step: turn }), ...place }] };
  }
  if (kind === "system") return { message: true, pieces: [whole(system(at(event, "args", "content")))] };
  if ("observation" in event || SILENT.has(kind)) return { message: false, pieces: [] };
  const content = at(event, "args", "content") ?? event["message"];
  const speaks = event["source"] === "user" ? "user" : "assistant";
  const item: Item = speaks === "user" ? user(content) : assistant(content, `#${position}`);
  return { message: true, speaks, turn: `#${position}`, pieces: [whole(item)] };
}

function readSdkEvent(event: Fields, position: number): Reading {
  const { kind, tool_call_id: id, tool_name: name } = event;
  const place = { path: [], ids: [["tool_call_id"]] };
  if (kind === "ActionEvent") {
    const turn = asText(event["llm_response_id"]) ?? `#${position}`;
    const ids = [...place.ids, ...("id" in fieldsOf(event["tool_call"]) ? [["tool_call", "id"]] : [])];
    const item = called({ id, name, input: at(event, "tool_call", "arguments"), step: turn });
    return { message: true, speaks: "assistant", turn, pieces: [{ item, path: [], ids }] };
  }
  if (kind === "ObservationEvent" || kind === "UserRejectObservation" || kind === "AgentErrorEvent") {
    if (typeof id !== "string") return { message: false, pieces: [] };
    const item = returned({ id, failed: kind !== "ObservationEvent" });
    return { message: true, pieces: [{ item, ...place }] };
  }
  if (kind === "SystemPromptEvent") return { message: true, pieces: [whole(system(event["system_prompt"]))] };
  if (kind !== "MessageEvent") return { message: false, pieces: [] };
  const content = at(event, "llm_message", "content");
  const speaks = at(event, "llm_message", "role") === "assistant" ? "assistant" : "user";
  const item = speaks === "user" ? user(content) : assistant(content, `#${position}`);
  return { message: true, speaks, turn: `#${position}`, pieces: [whole(item)] };
}
