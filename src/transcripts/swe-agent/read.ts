import { readChatMessage } from "../chat-messages.ts";
import type { Fields } from "../../base/fields.ts";
import type { Reading } from "../format.ts";

/** Chat messages; a tool message may answer several calls, under `tool_call_ids`. */
export function readMessage(message: Fields, position: number): Reading | undefined {
  return readChatMessage(message, position);
}
