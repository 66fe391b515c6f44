import { asList, asText, type Fields, fieldsOf } from "../../base/fields.ts";
import { said, toolBlock } from "../anthropic-blocks.ts";
import type { Piece, Reading } from "../format.ts";
import { at, reasoning } from "../skeleton.ts";

export function readMessage(message: Fields, position: number): Reading | undefined {
  const { role, content } = message;
  if (role !== "user" && role !== "assistant") return undefined;
  const step = `#${position}`;
  const blocks = asList(content);
  const pieces = Array.isArray(content)
    ? blocks.flatMap((block, nth) => readBlock(fieldsOf(block), nth, role, step))
    : [said(role, content, [], step)];
  const onlyOutputs = blocks.length > 0 && blocks.every((block) => at(block, "type") === "tool_result");
  return { message: true, ...(onlyOutputs ? {} : { speaks: role }), turn: step, pieces, blocks: blocks.length };
}

function readBlock(block: Fields, nth: number, role: "user" | "assistant", step: string): readonly Piece[] {
  const path = ["content", nth];
  const tool = toolBlock(block, path, step);
  if (tool !== undefined) return [tool];
  const { type } = block;
  if (type === "thinking" || type === "redacted_thinking") {
    // A seal that is there but empty was lost on the way; the provider refuses the block.
    const seal = asText(type === "thinking" ? block["signature"] : block["data"]) ?? "";
    return [{ item: { ...reasoning(step), ...(seal === "" ? { signature: "" } : {}) }, path, ids: [] }];
  }
  return [said(role, [block], path, step)];
}
