import type { Format } from "../format.ts";
import { isFields } from "../../base/fields.ts";
import { at, mostly } from "../skeleton.ts";
import { itemReader } from "./read.ts";
import { answer } from "./write.ts";

/** OpenAI Agents items: `callId`, `function_call_result`; as a session keeps them or as a run's `history`. */
export const openaiAgents: Format = {
  id: "openai-agents",
  title: "OpenAI Agents items",
  profile: "openai-responses",
  threads: (document) => {
    if (isItems(document)) return [{ path: [] }];
    if (!isFields(document)) return [];
    const key = ["items", "history", "input", "originalInput"].find((name) => isItems(document[name]));
    return key === undefined ? [] : [{ path: [key] }];
  },
  reader: itemReader,
  answer,
};

function isItems(value: unknown): boolean {
  if (!mostly(value, (item) => isFields(item) && ("type" in item || "role" in item))) return false;
  return value.some((item) => typeof at(item, "callId") === "string" && typeof at(item, "type") === "string");
}
