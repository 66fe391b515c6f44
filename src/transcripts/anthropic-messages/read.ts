import { asList, asText, type Fields, fieldsOf } from "../../base/fields.ts";
import type { Piece, Reading } from "../format.ts";
import { assistant, at, called, reasoning, returned, user } from "../skeleton.ts";

export function readMessage(message: Fields, position: number): Reading | undefined {
  const { role, content } = message;
  if (role !== "user" && role !== "assistant") return undefined;
  const step = `#${position}`;
  const blocks = asList(content);
  const pieces = Array.isArray(content)
    ? blocks.flatMap((block, nth) => readBlock(fieldsOf(block), nth, role, step))
    : [plain(role, content, [], step)];
  const onlyOutputs = blocks.length > 0 && blocks.every((block) => at(block, "type") === "tool_result");
  return { message: true, ...(onlyOutputs ? {} : { speaks: role }), turn: step, pieces, blocks: blocks.length };
}

function readBlock(block: Fields, nth: number, role: "user" | "assistant", step: string): readonly Piece[] {
  const path = ["content", nth];
  const type = asText(block["type"]) ?? "";
  if (type === "tool_use" || type.endsWith("_tool_use")) {
    const { id, name, input } = block;
    return [{ item: called({ id, name, input, step, server: type !== "tool_use" }), path, ids: [[...path, "id"]] }];
  }
  if (type === "tool_result" || type.endsWith("_tool_result")) {
    const server = type !== "tool_result";
    const item = returned({ id: block["tool_use_id"], failed: block["is_error"] === true, server });
    return [{ item: server ? { ...item, step } : item, path, ids: [[...path, "tool_use_id"]] }];
  }
  if (type === "thinking" || type === "redacted_thinking") {
    // A seal that is there but empty was lost on the way; the provider refuses the block.
    const seal = asText(type === "thinking" ? block["signature"] : block["data"]) ?? "";
    return [{ item: { ...reasoning(step), ...(seal === "" ? { signature: "" } : {}) }, path, ids: [] }];
  }
  return [plain(role, [block], path, step)];
}

function plain(role: "user" | "assistant", content: unknown, path: Piece["path"], step: string): Piece {
  return { item: role === "user" ? user(content) : assistant(content, step), path, ids: [] };
}
