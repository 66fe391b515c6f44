import type { Json } from "../../base/json.ts";
import type { CallKind } from "../../wire/item.ts";
import type { Answer, Wanted } from "../format.ts";

/** What each kind of call is answered with. */
const RESULT: Readonly<Record<CallKind, (wanted: Wanted) => Json>> = {
  function: ({ call, callId, text }) => ({
    type: "function_call_result",
    name: call.name,
    callId,
    status: "incomplete",
    output: { type: "text", text },
  }),
  shell: ({ callId, text }) => ({
    type: "shell_call_output",
    callId,
    output: [{ stdout: "", stderr: text, outcome: { type: "timeout" } }],
  }),
  custom: ({ callId }) => ({
    type: "computer_call_result",
    callId,
    output: { type: "computer_screenshot", data: "" },
  }),
  search: ({ callId, text }) => ({ type: "apply_patch_call_output", callId, status: "failed", output: text }),
};

export function answer(wanted: Wanted): Answer {
  return { element: RESULT[wanted.call.callKind](wanted) };
}
