import { picked } from "../derive.ts";
import type { Answer, Wanted } from "../format.ts";

export function answer({ callId, text, element }: Wanted): Answer {
  return {
    element: {
      ...("id" in element ? { id: `msg_${callId}` } : {}),
      role: "user",
      ...picked(element, ["created"]),
      content: [{ type: "toolResponse", id: callId, toolResult: { status: "error", error: text } }],
      ...picked(element, ["metadata"]),
    },
  };
}
