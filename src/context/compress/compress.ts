import type { Json } from "../../base/json.ts";
import type { Compressed, Compressible, Compressor } from "../../contracts/compressor.ts";
import { contentOf, type Content } from "./content.ts";
import { grouped, head, middleCut } from "./cut.ts";
import { type FoldedLine, foldLines } from "./fold.ts";
import { jsonShape } from "./json-shape.ts";
import { looksLikeCall, weightOf } from "./weigh.ts";

/** Below this a text is its own compressed form. */
const SMALLEST = 512;
const LONGEST_LINE = 240;

/** How many characters a text is compressed to: a seventh of a long one, never more than a page. */
export function roomFor(length: number): number {
  return Math.min(3_200, Math.max(280, Math.floor(length / 7)));
}

/**
 * Compresses by kind of content, without a model, and always the same way. JSON is reduced to its shape. Of logs,
 * diffs, code, traces, tables and search results it keeps the most telling lines and both ends, in order, and counts
 * every gap.
 */
export const contentCompressor: Compressor = {
  version: "content-1",
  compress(what: Compressible): Compressed {
    const text = what.text.toWellFormed();
    if (text.length <= Math.max(what.room, SMALLEST)) return { text, leftOut: "" };
    const content = contentOf(text);
    if (content !== "json") return linesOf(text, content, what.room);
    const shape = jsonShape(JSON.parse(text) as Json, what.room);
    // Somebody else's record of a call must not be shown as one.
    if (looksLikeCall(shape)) return linesOf(shape, "json", what.room);
    return { text: shape, leftOut: `values of ${grouped(text.length)} characters of JSON` };
  },
};

function linesOf(text: string, content: Content, room: number): Compressed {
  const lines = text.split("\n");
  // In code, a diff or a list of places a number is the point.
  const folded = foldLines(lines, content === "code" || content === "diff" || content === "matches");
  const kept = choose(folded, content, room);
  const shown = written(folded, kept);
  const stood = kept.reduce((sum, at) => sum + (folded[at] as FoldedLine).times, 0);
  if (lines.length === 1) return { text: shown, leftOut: `the middle of ${grouped(text.length)} characters` };
  return { text: shown, leftOut: `${grouped(lines.length - stood)} of ${grouped(lines.length)} lines` };
}

/** Positions of the lines that stay: the weightiest first, and among equals those nearest to an end. */
function choose(folded: readonly FoldedLine[], content: Content, room: number): readonly number[] {
  const last = folded.length - 1;
  const ranked = folded
    .map(({ text }, at) => ({ at, weight: weightOf(text, content) + (at < 2 || at > last - 2 ? 3 : 0) }))
    .filter(({ weight, at }) => weight >= 0 && !looksLikeCall((folded[at] as FoldedLine).text))
    .sort((a, b) => b.weight - a.weight || Math.min(a.at, last - a.at) - Math.min(b.at, last - b.at) || a.at - b.at);
  const kept: number[] = [];
  let left = room;
  for (const { at } of ranked) {
    const cost = Math.min(LONGEST_LINE, (folded[at] as FoldedLine).text.length) + GAP_COST;
    if (cost > left) continue;
    left -= cost;
    kept.push(at);
    if (left < GAP_COST * 2) break;
  }
  return kept.sort((a, b) => a - b);
}

/** A line, its count, and the mark of the gap that may follow it. */
const GAP_COST = 14;

function written(folded: readonly FoldedLine[], kept: readonly number[]): string {
  const shown: string[] = [];
  let next = 0;
  let gap = 0;
  const closeGap = () => {
    if (gap > 0) shown.push(`[… ${grouped(gap)} …]`);
    gap = 0;
  };
  for (const at of kept) {
    for (; next < at; next += 1) gap += (folded[next] as FoldedLine).times;
    closeGap();
    const { text, times } = folded[at] as FoldedLine;
    shown.push(`${middleCut(text, LONGEST_LINE)}${times > 1 ? ` [×${grouped(times)}]` : ""}`);
    next = at + 1;
  }
  for (; next < folded.length; next += 1) gap += (folded[next] as FoldedLine).times;
  closeGap();
  return shown.length === 0 ? head("[…]", 3) : shown.join("\n");
}
