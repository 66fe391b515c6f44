import type { Format } from "../format.ts";
import { asList, isFields } from "../../base/fields.ts";
import { at, mostly } from "../skeleton.ts";
import { readMessage } from "./read.ts";
import { answer } from "./write.ts";

/** AI SDK `ModelMessage[]`: parts; results in `tool` messages. */
export const aiSdkModel: Format = {
  id: "ai-sdk-model",
  title: "AI SDK model messages",
  profile: "ai-sdk",
  threads: (document) => {
    if (isMessages(document)) return [{ path: [] }];
    if (!isFields(document)) return [];
    const key = ["messages", "prompt"].find((name) => isMessages(document[name]));
    return key === undefined ? [] : [{ path: [key] }];
  },
  reader: () => readMessage,
  answer,
};

const OWN = new Set(["tool-call", "tool-result", "tool-approval-request", "tool-approval-response"]);

function isMessages(value: unknown): boolean {
  if (!mostly(value, (message) => typeof at(message, "role") === "string")) return false;
  return value.some((one) => asList(at(one, "content")).some((part) => OWN.has(String(at(part, "type")))));
}
