import { isChat } from "../chat-messages.ts";
import type { Format } from "../format.ts";
import { asList, isFields } from "../../base/fields.ts";
import { at } from "../skeleton.ts";
import { readMessage } from "./read.ts";
import { answer } from "./write.ts";

/** SWE-agent `.traj` (`history`, results under `tool_call_ids`) and mini-swe-agent (`messages`). */
export const sweAgent: Format = {
  id: "swe-agent",
  title: "SWE-agent trajectory",
  profile: "openai-chat",
  threads: (document) => {
    if (!isFields(document)) return [];
    if (isChat(document["history"]) && (hasMarks(document["history"]) || "trajectory" in document)) {
      return [{ path: ["history"] }];
    }
    const mini = "trajectory_format" in document || "mini_version" in Object(at(document, "info"));
    return mini && isChat(document["messages"]) ? [{ path: ["messages"] }] : [];
  },
  reader: () => readMessage,
  answer,
};

function hasMarks(history: unknown): boolean {
  return asList(history).some((message) => isFields(message) && ("agent" in message || "message_type" in message));
}
