import { decode } from "../base/text/decode.ts";
import type { Line } from "../base/text/lines.ts";
import { mendLine } from "../base/text/mend.ts";
import { isTooDeep, mayBeJson } from "../base/text/scan.ts";
import { textFlaws, type TextFlaw } from "../base/text/flaws.ts";

/** What was wrong with a line before anything in it was understood. */
export type LineFlaw =
  | "bad-line"
  | "torn-line"
  | "glued-records"
  | "nul-run"
  | "bom"
  | "crlf"
  | "invalid-utf8"
  | TextFlaw;

/** One line of a log as it was found: the records that could be read from it, and what was wrong with it. */
export interface LogLine {
  readonly line: Line;
  /** JSON texts, one when the line was sound. None for a blank line, or one that holds nothing whole. */
  readonly records: readonly string[];
  /** What is left of records that are not whole. */
  readonly fragments: readonly string[];
  readonly flaws: readonly LineFlaw[];
  /** The one value of a sound line. */
  readonly value?: unknown;
}

export function readLine(line: Line): LogLine {
  const { text, broken, bom } = decode(line.bytes);
  const flaws: LineFlaw[] = [];
  if (bom) flaws.push("bom");
  if (line.end === "\r\n") flaws.push("crlf");
  if (text.trim() === "" && !text.includes("\0")) return { line, records: [], fragments: [], flaws };
  if (broken) flaws.push("invalid-utf8");
  const parsed = parse(text);
  if (parsed !== undefined && !broken) {
    flaws.push(...textFlaws(text));
    return { line, records: [text], fragments: [], flaws, value: parsed.value };
  }
  const mended = mendLine(text, line.end !== "");
  if (mended.nuls) flaws.push("nul-run");
  if (mended.records.length > 1) flaws.push("glued-records");
  if (mended.fragments.length > 0) flaws.push("bad-line");
  for (const record of mended.records) flaws.push(...textFlaws(record));
  return { line, records: mended.records, fragments: mended.fragments, flaws: [...new Set(flaws)] };
}

/** A record nested beyond any that is ours is carried unread: building it would cost a hundred times its size. */
function parse(text: string): { readonly value: unknown } | undefined {
  if (!mayBeJson(text)) return undefined;
  if (isTooDeep(text)) return { value: null };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** Whether strict readers take the line: it is one JSON document. */
export function isStrict({ value, flaws }: LogLine): boolean {
  return value !== undefined || flaws.every((flaw) => flaw === "bom" || flaw === "crlf");
}
