import { readChatMessage } from "../chat-messages.ts";
import type { Fields } from "../../base/fields.ts";
import type { Reading } from "../format.ts";

/** Chat messages; a call names its tool as `function` and carries parsed arguments. */
export function readMessage(message: Fields, position: number): Reading | undefined {
  return readChatMessage(message, position);
}
