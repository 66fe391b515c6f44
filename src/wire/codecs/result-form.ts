import type { Part, WireFormat } from "../item.ts";
import { type Fields, isFields, textPart } from "./read.ts";

/** Whether a result stands in its piece as the format takes it. Tools return what they like, and hosts pass it on. */
export const isResultFormed: Readonly<Record<WireFormat, (piece: Fields) => boolean>> = {
  "openai-chat": ({ content }) => isText(content),
  "openai-responses": ({ type, output, status }) => {
    if (type === "tool_search_output") return true;
    if (type === "computer_call_output") return isFields(output);
    if (type === "shell_call_output") return Array.isArray(output) && output.every(isFields);
    if (type === "apply_patch_call_output") return status === "completed" || status === "failed";
    return isText(output);
  },
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
