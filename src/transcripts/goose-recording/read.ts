import { asList, type Fields, fieldsOf, isFields } from "../../base/fields.ts";
import type { Piece, Reading } from "../format.ts";
import { assistant, at, called, returned, user } from "../skeleton.ts";

export function readMessage(message: Fields, position: number): Reading | undefined {
  const { role } = message;
  if (role !== "user" && role !== "assistant") return undefined;
  const step = `#${position}`;
  const blocks = asList(message["content"]);
  const pieces = blocks.flatMap((block, nth) => readBlock(fieldsOf(block), nth, role, step));
  const onlyOutputs = blocks.length > 0 && blocks.every((block) => at(block, "type") === "toolResponse");
  return {
    message: true,
    ...(onlyOutputs ? {} : { speaks: role }),
    turn: step,
    pieces,
    blocks: blocks.length,
  };
}

function readBlock(block: Fields, nth: number, role: "user" | "assistant", step: string): readonly Piece[] {
  const path = ["content", nth];
  const ids = [[...path, "id"]];
  switch (block["type"]) {
    case "toolRequest":
    case "frontendToolRequest": {
      const value = fieldsOf(at(block, "toolCall", "value"));
      // A request goose could not parse was never run; it is answered with the error all the same.
      const { name, arguments: input } = value;
      return [{ item: called({ id: block["id"], name, input, step }), path, ids }];
    }
    case "toolResponse": {
      const result = fieldsOf(block["toolResult"]);
      const failed = result["status"] === "error" || at(result, "value", "isError") === true;
      return [{ item: returned({ id: block["id"], failed }), path, ids }];
    }
    case "thinking":
    case "redactedThinking":
    case "toolConfirmationRequest":
    case "actionRequired":
      return [];
    default:
      if (!isFields(block)) return [];
      return [{ item: role === "user" ? user([block]) : assistant([block], step), path, ids: [] }];
  }
}
