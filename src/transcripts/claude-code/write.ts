import type { Answer, Wanted } from "../format.ts";
import { picked } from "../derive.ts";

/** Fields that a record shares with the one it answers. */
const SHELL = ["isSidechain", "agentId", "userType", "cwd", "sessionId", "version", "gitBranch", "slug", "entrypoint"];

export function answer({ callId, text, element, link }: Wanted): Answer {
  const source = element["uuid"];
  return {
    element: {
      ...(link === undefined ? {} : { parentUuid: link.parent }),
      ...picked(element, SHELL),
      type: "user",
      message: {
        role: "user",
        content: [{ type: "tool_result", content: text, is_error: true, tool_use_id: callId }],
      },
      ...(link === undefined ? {} : { uuid: link.id }),
      ...picked(element, ["timestamp"]),
      toolUseResult: `Error: ${text}`,
      ...(typeof source === "string" ? { sourceToolAssistantUUID: source } : {}),
    },
  };
}
