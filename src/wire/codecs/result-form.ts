import type { Part, WireFormat } from "../item.ts";
import { type Fields, isFields } from "../../base/fields.ts";
import { textPart } from "./read.ts";

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

/** A result that says that it failed and nothing else, in a format whose providers refuse that. */
export function isSilentFailure(piece: unknown, format: WireFormat): boolean {
  if (!isFields(piece)) return false;
  if (format === "anthropic") return piece["is_error"] === true && isSilent(piece["content"]);
  if (format !== "ai-sdk" || !isFields(piece["output"])) return false;
  return piece["output"]["type"] === "error-text" && isSilent(piece["output"]["value"]);
}

function isSilent(content: unknown): boolean {
  if (typeof content === "string") return isNoWord(content);
  if (!Array.isArray(content)) return content === undefined || content === null;
  return content.every((block) => isFields(block) && block["type"] === "text" && isNoWord(block["text"]));
}

/** What is no text, a number say, is read as none. */
function isNoWord(text: unknown): boolean {
  return typeof text !== "string" || text.trim() === "";
}

/** What a tool returned in no form at all, as a text: nothing is lost of it but its form. */
export function looseResult(value: unknown): readonly Part[] {
  if (value === undefined || value === null) return [];
  return [textPart(typeof value === "string" ? value : JSON.stringify(value))];
}
