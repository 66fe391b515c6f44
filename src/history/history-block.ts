import { type CallRecord, REQUIRED_FIELDS } from "./call-record.ts";

/** What a program is told once, in the stable part of the prompt. */
export const HISTORY_GUIDANCE = [
  "Earlier calls of this session are in `context.conversation_history`, an array of records, oldest first.",
  "Read it with plain filter, map and slice; do not build an abstraction for what one expression says.",
  "Only the required fields are always there: ask for every other one before you use it.",
].join("\n");

/** All summaries together, in bytes. */
const SUMMARY_BYTES = 300;
const SUMMARIES = 3;

/** The lines about history in the volatile tail: as long for a million records as for three, and no record's content. */
export function historyBlock(records: readonly CallRecord[]): string {
  const lines = [
    `conversation_history: ${records.length} records`,
    `fields: ${REQUIRED_FIELDS.join(", ")}`,
    ...summaries(records),
    "All of them can be read in code: context.conversation_history",
  ];
  return lines.join("\n");
}

/** The newest calls, one line each, as many as fit. */
function summaries(records: readonly CallRecord[]): readonly string[] {
  const lines: string[] = [];
  const share = Math.floor(SUMMARY_BYTES / SUMMARIES) - 1;
  for (const { call_id, method_name, outcome_summary } of records.slice(-SUMMARIES)) {
    lines.push(cut(`- ${oneLine(call_id, 36)} ${oneLine(method_name, 36)} ${outcome_summary.status}`, share));
  }
  return lines;
}

/** Names come from strangers: nothing in one may begin a line of its own. */
function oneLine(text: string, length: number): string {
  const plain = text.replace(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim();
  return plain.length > length ? `${plain.slice(0, length - 1).toWellFormed()}…` : plain;
}

function cut(line: string, bytes: number): string {
  let kept = line;
  while (Buffer.byteLength(kept) > bytes) kept = kept.slice(0, -1).toWellFormed();
  return kept;
}
