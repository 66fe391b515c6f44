import { asList, asText, type Fields, fieldsOf, isFields } from "../../base/fields.ts";
import { said, toolBlock } from "../anthropic-blocks.ts";
import type { Piece, Reading } from "../format.ts";
import { linksOf } from "../skeleton.ts";

const BLOCKS = ["message", "content"] as const;

export function readRecord(record: Fields, at: number): Reading | undefined {
  const links = linksOf(record, "uuid", "parentUuid");
  const { type, message } = record;
  if ((type !== "user" && type !== "assistant") || !isFields(message)) return { message: false, pieces: [], ...links };
  const step = asText(message["id"]) ?? `#${at}`;
  const content = message["content"];
  const blocks = asList(content);
  const pieces = Array.isArray(content) ? blocks.flatMap((block, nth) => readBlock(block, nth, type, step)) : [];
  if (typeof content === "string") pieces.push(said(type, content, ["message"], step));
  const onlyOutputs = pieces.length > 0 && blocks.every((block) => fieldsOf(block)["type"] === "tool_result");
  return {
    message: true,
    ...(onlyOutputs ? {} : { speaks: type }),
    turn: step,
    ...(record["isSidechain"] === true ? { strand: strandOf(record) } : {}),
    pieces,
    blocks: blocks.length,
    ...links,
  };
}

/** Records of sub-agents carry the agent's id; older versions only say that they are not the main chain. */
function strandOf(record: Fields): string {
  return asText(record["agentId"]) ?? "sidechain";
}

function readBlock(block: unknown, nth: number, type: "user" | "assistant", step: string): readonly Piece[] {
  const fields = fieldsOf(block);
  const path = [...BLOCKS, nth];
  const tool = toolBlock(fields, path, step);
  if (tool !== undefined) return [tool];
  // Thinking is sealed by the provider, and Claude Code itself decides what of it is sent again.
  return fields["type"] === "thinking" || fields["type"] === "redacted_thinking"
    ? []
    : [said(type, [block], path, step)];
}
