import type { Format } from "../format.ts";
import { RESPONSE_TYPES as TYPES } from "../response-items.ts";
import { asList, isFields } from "../../base/fields.ts";
import { at, mostly } from "../skeleton.ts";
import { itemReader } from "./read.ts";
import { answer } from "./write.ts";

/** OpenAI responses: a flat list of items, or a request with `input` and perhaps the `output` that came back. */
export const openaiResponses: Format = {
  id: "openai-responses",
  title: "OpenAI responses items",
  profile: "openai-responses",
  threads: (document) => {
    if (isItems(document)) return [{ path: [] }];
    if (!isFields(document)) return [];
    const key = ["input", "items"].find(
      (name) => isItems(document[name]) || (name === "input" && isKnown(document[name])),
    );
    if (key === undefined) return [];
    const output = [["output"], ["response", "output"]].find((path) => Array.isArray(at(document, ...path)));
    const continues = typeof document["previous_response_id"] === "string" || isFields(document["conversation"]);
    return [
      { path: [key], ...(output === undefined ? {} : { response: output }), ...(continues ? { continues } : {}) },
    ];
  },
  reader: itemReader,
  answer,
};

/** A request says so by its key; a bare list must hold something that no other format has. */
function isItems(value: unknown): boolean {
  return (
    isKnown(value) &&
    asList(value).some((item) => TYPES.has(String(at(item, "type"))) && at(item, "type") !== "message")
  );
}

function isKnown(value: unknown): boolean {
  return mostly(value, (item) => TYPES.has(String(at(item, "type"))) || isMessage(item));
}

function isMessage(item: unknown): boolean {
  return isFields(item) && !("type" in item) && typeof item["role"] === "string";
}
