import type { Json } from "../../base/json.ts";
import { derivedUuid, picked } from "../derive.ts";
import type { Answer, Wanted } from "../format.ts";
import { fieldsOf } from "../../base/fields.ts";

export function answer(wanted: Wanted): Answer {
  return { element: "kind" in wanted.element ? errorEvent(wanted) : errorObservation(wanted) };
}

function errorObservation({ callId, text, element }: Wanted): Json {
  const metadata = fieldsOf(element["tool_call_metadata"]);
  return {
    ...picked(element, ["timestamp"]),
    source: "environment",
    message: text,
    ...(typeof element["id"] === "number" ? { cause: element["id"] } : {}),
    tool_call_metadata: { ...picked(metadata, ["function_name"]), tool_call_id: callId },
    observation: "error",
    content: text,
    extras: { error_id: "interrupted" },
  };
}

function errorEvent({ call, callId, text, element }: Wanted): Json {
  return {
    kind: "AgentErrorEvent",
    id: derivedUuid(`answer ${callId}`),
    ...picked(element, ["timestamp"]),
    source: "agent",
    tool_name: call.name,
    tool_call_id: callId,
    error: text,
  };
}
