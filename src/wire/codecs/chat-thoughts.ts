import { asList, type Fields, isFields } from "../../base/fields.ts";

/** The names under which servers of chat send reasoning beside the text. */
export const THOUGHT_FIELDS = ["reasoning_content", "reasoning", "reasoning_details"] as const;

/** The parts of a chat answer's content that are reasoning, as Mistral sends it. */
export function thinkingIn(content: unknown): readonly Fields[] {
  return asList(content).filter(isThinking);
}

export function isThinking(part: unknown): part is Fields {
  return isFields(part) && part["type"] === "thinking";
}

/** Whether a chat message holds reasoning, wherever it stands. */
export function isThought(message: Fields): boolean {
  return THOUGHT_FIELDS.some((field) => holds(message[field])) || thinkingIn(message["content"]).length > 0;
}

/** Whether a field says anything. */
export function holds(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

/** A thought that lost its seal, because something in it was hidden: whoever had sealed it would refuse it. */
export function isUnsealed(thought: unknown): boolean {
  return isFields(thought) && thought["signature"] === "";
}
