import { fingerprint } from "../../base/fingerprint.ts";
import type { Answer, Wanted } from "../format.ts";

export function answer({ call, callId, text, element }: Wanted): Answer {
  return {
    element: {
      ...("id" in element ? { id: fingerprint(callId).slice(0, 22) } : {}),
      content: text,
      role: "tool",
      tool_call_id: callId,
      function: call.name,
      error: { type: "unknown", message: text },
    },
  };
}
