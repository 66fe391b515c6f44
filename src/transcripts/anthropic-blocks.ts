import type { Path } from "../base/text/edit.ts";
import { asText, type Fields } from "../base/fields.ts";
import type { Piece } from "./format.ts";
import { assistant, called, returned, user } from "./skeleton.ts";

/** A block of Anthropic's that is a call or a result, as its API takes it and as Claude Code keeps it. */
export function toolBlock(block: Fields, path: Path, step: string): Piece | undefined {
  const type = asText(block["type"]) ?? "";
  if (type === "tool_use" || type.endsWith("_tool_use")) {
    const { id, name, input } = block;
    return { item: called({ id, name, input, step, server: type !== "tool_use" }), path, ids: [[...path, "id"]] };
  }
  if (type !== "tool_result" && !type.endsWith("_tool_result")) return undefined;
  const server = type !== "tool_result";
  const item = returned({ id: block["tool_use_id"], failed: block["is_error"] === true, server });
  return { item: server ? { ...item, step } : item, path, ids: [[...path, "tool_use_id"]] };
}

/** What was said, in words or in blocks that are neither. */
export function said(role: "user" | "assistant", content: unknown, path: Path, step: string): Piece {
  return { item: role === "user" ? user(content) : assistant(content, step), path, ids: [] };
}
