import { parseEnvelope } from "./envelope.ts";
import type { ParsedPatch } from "./change.ts";
import { parseUnified } from "./unified.ts";

/** Reads a patch in either of the two forms that models write: `*** Begin Patch`, or a unified diff. */
export function parsePatch(patch: string): ParsedPatch {
  const lines = withoutFence(patch.replaceAll("\r\n", "\n").split("\n"));
  const first = lines.findIndex((line) => line.trim() !== "");
  if (first === -1) return { ok: false, line: 1, why: "The patch is empty." };
  return lines[first]?.startsWith("*** ") === true ? parseEnvelope(lines) : parseUnified(lines);
}

/** A patch in a Markdown fence, as models hand it over. Lines keep their numbers. */
function withoutFence(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => line.trim() !== "");
  const last = lines.findLastIndex((line) => line.trim() !== "");
  if (lines[first]?.startsWith("```") !== true || lines[last]?.trim() !== "```" || first === last) return lines;
  return lines.map((line, at) => (at === first || at === last ? "" : line));
}
