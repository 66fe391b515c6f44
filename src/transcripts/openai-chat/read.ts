import { readChatMessage } from "../chat-messages.ts";
import type { Fields } from "../../base/fields.ts";
import type { Reading } from "../format.ts";

/** Messages as the API takes them, and as benchmarks write them down. */
export function readMessage(message: Fields, position: number): Reading | undefined {
  return readChatMessage(message, position);
}
