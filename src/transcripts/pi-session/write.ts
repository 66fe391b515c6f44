import { picked } from "../derive.ts";
import type { Answer, Wanted } from "../format.ts";
import { fieldsOf } from "../../base/fields.ts";

export function answer({ call, callId, text, element, link }: Wanted): Answer {
  const tree = link !== undefined && "id" in element;
  return {
    element: {
      type: "message",
      ...(tree ? { id: link.id, parentId: link.parent } : {}),
      ...picked(element, ["timestamp"]),
      message: {
        role: "toolResult",
        toolCallId: callId,
        toolName: call.name,
        content: [{ type: "text", text }],
        isError: true,
        ...picked(fieldsOf(element["message"]), ["timestamp"]),
      },
    },
  };
}
