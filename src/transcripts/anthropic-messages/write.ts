import type { Answer, Wanted } from "../format.ts";

export function answer({ callId, text }: Wanted): Answer {
  return {
    element: { role: "user", content: [{ type: "tool_result", tool_use_id: callId, content: text, is_error: true }] },
  };
}
