import { type CallRecord, REQUIRED_FIELDS } from "./call-record.ts";

/** One call in a line: which, and how it ended. */
export interface HistoryLine {
  readonly call_id: string;
  readonly method_name: string;
  readonly status: "ok" | "error";
}

/** What a prompt says about the call records: how many there are, and how the newest calls ended. */
export interface HistoryGlance {
  readonly size: number;
  /** Oldest first. */
  readonly newest: readonly HistoryLine[];
}

/** The glance at a list of call records. */
export function glanceOf(records: readonly CallRecord[]): HistoryGlance {
  const newest = records.slice(-SUMMARIES).map(({ call_id, method_name, outcome_summary: { status } }) => {
    return { call_id, method_name, status };
  });
  return { size: records.length, newest };
}

/** The guidance that tells a model how programs read the history. A request that contains it counts as guided. */
export const HISTORY_GUIDANCE = [
  "In programs, `context.conversation_history` holds one record for each of them, oldest first, read-only, all within reach.",
  "Filter, map and slice it directly; do not build an abstraction for what one expression says.",
  "Only these fields are always there: ask for every other one before you use it.",
].join("\n");

/** All summaries together, in bytes. */
const SUMMARY_BYTES = 300;
/** How many of the newest calls a prompt shows. */
export const SUMMARIES = 3;

/**
 * The lines about the history in the tail of a request. They are as long for a million records as for three, and show
 * no content of a record.
 */
export function historyBlock({ size, newest }: HistoryGlance): string {
  const lines = newest.slice(-SUMMARIES).map(summaryOf);
  return [
    `Earlier calls and words of the user: ${size}`,
    HISTORY_GUIDANCE,
    `Fields: ${REQUIRED_FIELDS.join(", ")}`,
    ...(lines.length === 0 ? [] : ["The newest:", ...lines]),
  ].join("\n");
}

function summaryOf({ call_id, method_name, status }: HistoryLine): string {
  const share = Math.floor(SUMMARY_BYTES / SUMMARIES) - 1;
  return cut(`- ${oneLine(call_id, 36)} ${oneLine(method_name, 36)} ${status}`, share);
}

/** Names come from strangers: nothing in one may begin a line of its own, or look like a block of the prompt. */
function oneLine(text: string, length: number): string {
  const plain = text.replace(/[\s\p{Cc}\p{Cf}[\]]+/gu, " ").trim();
  return plain.length > length ? `${plain.slice(0, length - 1).toWellFormed()}…` : plain;
}

function cut(line: string, bytes: number): string {
  let kept = line;
  while (Buffer.byteLength(kept) > bytes) kept = kept.slice(0, -1).toWellFormed();
  return kept;
}
