import type { Part, WireFormat } from "../item.ts";
import { type Fields, isFields, textPart } from "./read.ts";

/** Whether a result stands in its piece as the format takes it. Tools return what they like, and hosts pass it on. */
export const isResultFormed: Readonly<Record<WireFormat, (piece: Fields) => boolean>> = {
  "openai-chat": ({ content }) => isText(content),
  "openai-responses": ({ type, output }) => type === "tool_search_output" || isText(output),
  anthropic: ({ content }) => content === undefined || isText(content),
  gemini: ({ functionResponse }) => isFields(functionResponse) && isFields(functionResponse["response"]),
  "ai-sdk": ({ output }) => isFields(output) && typeof output["type"] === "string",
};

function isText(value: unknown): boolean {
  return typeof value === "string" || (Array.isArray(value) && value.every(isFields));
}

/** What a tool returned in no form at all, as a text: nothing is lost of it but its form. */
export function looseResult(value: unknown): readonly Part[] {
  if (value === undefined || value === null) return [];
  return [textPart(typeof value === "string" ? value : JSON.stringify(value))];
}
