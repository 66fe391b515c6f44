import type { WireFormat } from "../item.ts";
import { type Fields, isFields } from "../../base/fields.ts";

/**
 * The message with a part for everything in its list that is none: hosts write a word where a part belongs, and the whole
 * request is refused for it. The same message where nothing is.
 */
export function withParts(message: Fields, format: WireFormat): Fields {
  const field = format === "gemini" ? "parts" : "content";
  const list = message[field];
  if (!Array.isArray(list) || list.every(isFields) || !isMessage(message, format)) return message;
  return { ...message, [field]: list.flatMap((piece) => partsOf(piece, message, format)) };
}

/** What a tool returned is read as a result, in whatever form; an item of responses that is no message has its own. */
function isMessage({ role, type }: Fields, format: WireFormat): boolean {
  if (format === "openai-responses") return type === undefined || type === "message";
  return role !== "tool";
}

function partsOf(piece: unknown, { role }: Fields, format: WireFormat): readonly unknown[] {
  if (isFields(piece)) return [piece];
  if (piece === undefined || piece === null) return [];
  const text = wordsOf(piece);
  if (format === "gemini") return [{ text }];
  if (format !== "openai-responses") return [{ type: "text", text }];
  return [{ type: role === "assistant" ? "output_text" : "input_text", text }];
}

function wordsOf(piece: unknown): string {
  if (!Array.isArray(piece)) return String(piece);
  try {
    return JSON.stringify(piece);
  } catch {
    return "[A list stood here that cannot be written.]"; // a circle, or a number that JSON does not know
  }
}
