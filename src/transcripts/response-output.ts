import type { Json } from "../base/json.ts";
import type { CallKind } from "../wire/item.ts";
import { BLANK_SCREEN } from "../history/synthetic.ts";
import type { Wanted } from "./format.ts";

const OUTPUT_TYPE: Readonly<Record<CallKind, string>> = {
  function: "function_call_output",
  shell: "function_call_output",
  custom: "custom_tool_call_output",
  search: "tool_search_output",
  computer: "computer_call_output",
  commands: "shell_call_output",
  patch: "apply_patch_call_output",
};

/** The Responses item that answers a call. */
export function outputItem({ call, callId, text }: Wanted): Readonly<Record<string, Json>> {
  const type = OUTPUT_TYPE[call.callKind];
  if (call.callKind === "search") return { type, call_id: callId, status: "completed", execution: "client", tools: [] };
  const head = { type, call_id: callId };
  if (call.callKind === "computer")
    return { ...head, output: { type: "computer_screenshot", image_url: BLANK_SCREEN } };
  if (call.callKind === "patch") return { ...head, status: "failed", output: text };
  if (call.callKind !== "commands") return { ...head, output: text };
  return { ...head, output: [{ stdout: "", stderr: text, outcome: { type: "timeout" } }] };
}
