import type { Json } from "../base/json.ts";
import type { CallKind } from "../wire/item.ts";
import type { Wanted } from "./format.ts";

const OUTPUT_TYPE: Readonly<Record<CallKind, string>> = {
  function: "function_call_output",
  shell: "function_call_output",
  custom: "custom_tool_call_output",
  search: "tool_search_output",
};

/** The Responses item that answers a call. */
export function outputItem({ call, callId, text }: Wanted): Readonly<Record<string, Json>> {
  const type = OUTPUT_TYPE[call.callKind];
  if (call.callKind === "search") return { type, call_id: callId, status: "completed", execution: "client", tools: [] };
  return { type, call_id: callId, output: text };
}
