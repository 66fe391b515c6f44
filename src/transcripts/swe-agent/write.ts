import { picked } from "../derive.ts";
import type { Answer, Wanted } from "../format.ts";

export function answer({ callId, text, element }: Wanted): Answer {
  if (!("agent" in element) && !("message_type" in element)) {
    return { element: { role: "tool", tool_call_id: callId, content: text } };
  }
  return {
    element: {
      role: "tool",
      content: text,
      ...picked(element, ["agent"]),
      message_type: "observation",
      tool_call_ids: [callId],
    },
  };
}
