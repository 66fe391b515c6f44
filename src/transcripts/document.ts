import { sumTotals } from "./counts.ts";
import { type Detected, detectDocument } from "./detect.ts";
import type { Format, FormatId } from "./format.ts";
import { FORMATS } from "./formats.ts";
import { FirstBytes, type Head } from "./head.ts";
import type { LineFlaw } from "./records.ts";
import { decodeAll } from "../base/text/decode.ts";
import { textFlaws } from "../base/text/flaws.ts";
import { mendDocument } from "../base/text/mend-document.ts";
import { isTooDeep, mayBeJson } from "../base/text/scan.ts";
import type { Source } from "../base/text/source.ts";
import { countStrict, threadsIn, threadsOf } from "./threads.ts";
import { type FlawedLine, NO_LINES, type Transcript, type Unrecognised } from "./transcript.ts";

/** A file that is no document of any format that was asked for. */
export interface NoDocument {
  /** What is to be said of it, unless it is something else. */
  readonly otherwise: Transcript | Unrecognised;
  /** What it holds, where nothing is wrong with it as JSON: that may be a record. */
  readonly value?: unknown;
}

/** Reads a file that is one JSON document. */
export async function readDocument(
  source: Source,
  head: Head,
  only: FormatId | undefined,
): Promise<Transcript | NoDocument> {
  const { text: whole, broken, bom } = await decodeAll(source);
  const nothing = (unrecognised: "empty" | "unknown") =>
    only === undefined ? { unrecognised } : nothingOf(FORMATS[only]);
  if (whole.trim() === "") return { otherwise: nothing("empty") };
  const flaws: LineFlaw[] = [...(bom ? (["bom"] as const) : []), ...(broken ? (["invalid-utf8"] as const) : [])];
  const known = head.sound && !head.several && !broken ? head.records[0] : undefined; // parsed once is enough
  const { text, value } = known === undefined ? understood(whole, flaws) : { text: whole, value: known };
  if (value === undefined) return { otherwise: { unrecognised: head.records.length > 0 ? "unknown" : "not-json" } };
  flaws.push(...textFlaws(text).filter((flaw) => flaw !== "line-separator"));
  const detected = detectDocument(value, only);
  const bad = text !== whole || broken;
  if (detected === undefined) return { otherwise: nothing("unknown"), ...(bad ? {} : { value }) };
  return transcriptOf(detected, { text, value, flaws, bad });
}

/** A log is not read whole to find that it is none: a longer one with a damaged first line is taken for a log. */
const LONGEST = 64 * 1024 * 1024;

/** Whether the lines of a file are together one document. */
export async function isOneDocument(source: Source): Promise<boolean> {
  const part = new FirstBytes(source, LONGEST);
  const { text, broken } = await decodeAll(part);
  return !part.cut && !broken && parsed(text) !== undefined;
}

/** A file that holds nothing of the format the user named: a session without a word in it. */
function nothingOf(format: Format): Transcript {
  return {
    format,
    layout: "log",
    conversations: [],
    flawed: [],
    totals: sumTotals([], NO_LINES),
    records: 0,
  };
}

interface Understood {
  readonly text: string;
  readonly value: unknown;
  readonly flaws: readonly LineFlaw[];
  readonly bad: boolean;
}

function transcriptOf({ format, layout }: Detected, { text, value, flaws, bad }: Understood): Transcript {
  const place = { record: 0, line: 1, strict: !bad };
  const conversations = threadsOf(format, value, place, threadsIn(format, value));
  const flawed: readonly FlawedLine[] = flaws.length === 0 ? [] : [{ line: 1, flaws, fragments: 0 }];
  return {
    format,
    layout,
    conversations,
    flawed,
    totals: sumTotals(conversations.map(countStrict), NO_LINES),
    records: 1,
    text,
  };
}

/** The document, and its text as it could be read: without NUL, and closed where it was torn. */
function understood(whole: string, flaws: LineFlaw[]): { readonly text: string; readonly value: unknown } {
  const value = parsed(whole);
  if (value !== undefined) return { text: whole, value };
  const text = whole.replace(/\0+/g, " ");
  if (text !== whole) flaws.push("nul-run");
  const mended = mendDocument(text);
  if (mended === undefined) return { text, value: parsed(text) };
  if (mended.torn) flaws.push("torn-line");
  return { text: mended.text, value: parsed(mended.text) };
}

function parsed(text: string): unknown {
  if (!mayBeJson(text) || isTooDeep(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
