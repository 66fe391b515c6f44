import type { Answer, Wanted } from "../format.ts";

export function answer({ call, callId, text }: Wanted): Answer {
  const output = { type: "error-text", value: text };
  return {
    element: { role: "tool", content: [{ type: "tool-result", toolCallId: callId, toolName: call.name, output }] },
  };
}
