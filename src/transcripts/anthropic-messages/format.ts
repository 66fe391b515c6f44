import { asList, type Fields, isFields } from "../../base/fields.ts";
import type { Format } from "../format.ts";
import { at, mostly } from "../skeleton.ts";
import { readMessage } from "./read.ts";
import { answer } from "./write.ts";

/** Anthropic messages: a list, or a request with `messages`. */
export const anthropicMessages: Format = {
  id: "anthropic-messages",
  title: "Anthropic messages",
  profile: "anthropic",
  threads: (document) => {
    if (isMessages(document)) return [{ path: [] }];
    if (!isFields(document) || !Array.isArray(document["messages"])) return [];
    const asked = isRequest(document) || isMessages(document["messages"]);
    return asked && isSpoken(document["messages"]) ? [{ path: ["messages"] }] : [];
  },
  reader: () => readMessage,
  answer,
};

const OWN = new Set(["tool_use", "tool_result", "server_tool_use", "thinking", "redacted_thinking"]);

/** Blocks that only this format has. Without any, a list of texts could be anybody's. */
function isMessages(value: unknown): boolean {
  if (!isSpoken(value)) return false;
  return asList(value).some((message) =>
    asList(at(message, "content")).some((block) => OWN.has(String(at(block, "type")))),
  );
}

function isSpoken(value: unknown): boolean {
  return mostly(value, (one) => at(one, "role") === "user" || at(one, "role") === "assistant");
}

function isRequest(document: Fields): boolean {
  const model = document["model"];
  return "max_tokens" in document && ("system" in document || (typeof model === "string" && /claude/.test(model)));
}
