import type { Json } from "../../base/json.ts";
import type { CallKind } from "../../wire/item.ts";
import { BLANK_SCREEN } from "../../history/synthetic.ts";
import type { Answer, Wanted } from "../format.ts";

function called({ call, callId, text }: Wanted): Json {
  return {
    type: "function_call_result",
    name: call.name,
    callId,
    status: "incomplete",
    output: { type: "text", text },
  };
}

/** What calls are answered with that are no functions. */
const RESULT: Readonly<Partial<Record<CallKind, (wanted: Wanted) => Json>>> = {
  commands: ({ callId, text }) => ({
    type: "shell_call_output",
    callId,
    output: [{ stdout: "", stderr: text, outcome: { type: "timeout" } }],
  }),
  computer: ({ callId }) => ({
    type: "computer_call_result",
    callId,
    output: { type: "computer_screenshot", data: BLANK_SCREEN },
  }),
  patch: ({ callId, text }) => ({ type: "apply_patch_call_output", callId, status: "failed", output: text }),
};

export function answer(wanted: Wanted): Answer {
  return { element: (RESULT[wanted.call.callKind] ?? called)(wanted) };
}
