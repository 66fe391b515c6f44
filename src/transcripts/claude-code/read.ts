import { asList, asText, type Fields, fieldsOf, isFields } from "../../base/fields.ts";
import type { Piece, Reading } from "../format.ts";
import { assistant, called, returned, user } from "../skeleton.ts";

const BLOCKS = ["message", "content"] as const;

export function readRecord(record: Fields, at: number): Reading | undefined {
  const links = linksOf(record);
  const { type, message } = record;
  if ((type !== "user" && type !== "assistant") || !isFields(message)) return { message: false, pieces: [], ...links };
  const step = asText(message["id"]) ?? `#${at}`;
  const content = message["content"];
  const blocks = asList(content);
  const pieces = Array.isArray(content) ? blocks.flatMap((block, nth) => readBlock(block, nth, type, step)) : [];
  if (typeof content === "string") pieces.push(plain(type, content, ["message"], step));
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

function linksOf(record: Fields): Pick<Reading, "id" | "parent"> {
  const id = asText(record["uuid"]);
  const parent = asText(record["parentUuid"]);
  return { ...(id === undefined ? {} : { id }), ...(parent === undefined ? {} : { parent }) };
}

/** Records of sub-agents carry the agent's id; older versions only say that they are not the main chain. */
function strandOf(record: Fields): string {
  return asText(record["agentId"]) ?? "sidechain";
}

function readBlock(block: unknown, nth: number, type: "user" | "assistant", step: string): readonly Piece[] {
  const fields = fieldsOf(block);
  const path = [...BLOCKS, nth];
  const kind = asText(fields["type"]) ?? "text";
  if (kind === "tool_use" || kind.endsWith("_tool_use")) {
    const { id, name, input } = fields;
    const item = called({ id, name, input, step, server: kind !== "tool_use" });
    return [{ item, path, ids: [[...path, "id"]] }];
  }
  if (kind === "tool_result" || kind.endsWith("_tool_result")) {
    const server = kind !== "tool_result";
    const item = returned({ id: fields["tool_use_id"], failed: fields["is_error"] === true, server });
    return [{ item: server ? { ...item, step } : item, path, ids: [[...path, "tool_use_id"]] }];
  }
  // Thinking is sealed by the provider, and Claude Code itself decides what of it is sent again.
  return kind === "thinking" || kind === "redacted_thinking" ? [] : [plain(type, [block], path, step)];
}

function plain(type: "user" | "assistant", content: unknown, path: Piece["path"], step: string): Piece {
  return { item: type === "user" ? user(content) : assistant(content, step), path, ids: [] };
}
