import { picked } from "../derive.ts";
import type { Answer, Wanted } from "../format.ts";
import { fieldsOf } from "../../base/fields.ts";

export function answer({ callId, text, element, link }: Wanted): Answer {
  const data = fieldsOf(element["data"]);
  return {
    element: {
      type: "tool.execution_complete",
      data: {
        ...picked(data, ["parentToolCallId"]),
        toolCallId: callId,
        ...picked(data, ["model", "interactionId", "turnId"]),
        success: false,
        result: { content: text, detailedContent: text },
        error: { message: text, code: "interrupted" },
      },
      ...(link === undefined ? {} : { id: link.id }),
      ...picked(element, ["timestamp"]),
      ...(link === undefined ? {} : { parentId: link.parent }),
    },
  };
}
