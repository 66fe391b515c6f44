import type { Format } from "../format.ts";
import { at, isFields, listOf } from "../skeleton.ts";
import { readItem, TYPES } from "./read.ts";
import { answer } from "./write.ts";

/** OpenAI responses: a flat list of items, or a request with `input` and perhaps the `output` that came back. */
export const openaiResponses: Format = {
  id: "openai-responses",
  title: "OpenAI responses items",
  profile: "openai-responses",
  threads: (document) => {
    if (isItems(document)) return [{ path: [] }];
    if (!isFields(document)) return [];
    const key = ["input", "items"].find((name) => isItems(document[name]));
    if (key === undefined) return [];
    const output = [["output"], ["response", "output"]].find((path) => Array.isArray(at(document, ...path)));
    return [{ path: [key], ...(output === undefined ? {} : { response: output }) }];
  },
  reader: () => readItem,
  answer,
};

function isItems(value: unknown): boolean {
  const items = listOf(value);
  const known = items
    .slice(0, 50)
    .every((item) => isFields(item) && (TYPES.has(String(item["type"])) || "role" in item));
  return known && items.some((item) => TYPES.has(String(at(item, "type"))) && at(item, "type") !== "message");
}
