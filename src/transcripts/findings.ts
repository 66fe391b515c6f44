import type { FaultKind, Severity } from "../history/faults.ts";
import type { ProfileId } from "../wire/profiles.ts";
import { WIRE_RULES } from "../wire/rules.ts";
import type { LineFlaw } from "./records.ts";

/** What can be wrong with how elements hang together. */
export type LinkFault = "duplicate-record-id" | "broken-parent" | "parent-cycle";

export type FindingCode = Exclude<FaultKind, "unknown-tool"> | LineFlaw | LinkFault | "mixed-outputs";

/** One thing that is wrong: where, why it matters, what a repair does, and whether it keeps everything. */
export interface Finding {
  readonly code: FindingCode;
  readonly severity: Severity;
  readonly line: number;
  /** Which conversation of the file, from 1; absent when the file itself is at fault. */
  readonly conversation?: number;
  readonly call?: string;
  readonly tool?: string;
  readonly message: string;
  /** What the provider, or the program that reads the file, does with it. */
  readonly why: string;
  readonly repair: string;
  /** The repaired file still holds everything the broken one said. What is not lossless is kept in the backup. */
  readonly lossless: boolean;
}

interface Kind {
  readonly message: string;
  /** The rule of the provider that it breaks, as `WIRE-n`, or what else goes wrong. */
  readonly why: string;
  readonly repair: string;
  readonly lossless: boolean;
  readonly severity: Severity;
}

/** Every code. The guide prints this table; a finding never says anything else. */
export const FINDINGS: Readonly<Record<FindingCode, Kind>> = {
  "missing-output": {
    message: "a call has no output",
    why: "WIRE-1",
    repair: "add an output that says the tool was interrupted, or not permitted to run",
    lossless: true,
    severity: "error",
  },
  "orphan-output": {
    message: "an output answers no call",
    why: "WIRE-2",
    repair: "remove the output",
    lossless: false,
    severity: "error",
  },
  "duplicate-call-id": {
    message: "a call has the id of another call",
    why: "WIRE-4",
    repair: "give the later call and its output an id of their own",
    lossless: true,
    severity: "error",
  },
  "duplicate-output": {
    message: "a call has a second output",
    why: "WIRE-3",
    repair: "keep the real output and remove the other one",
    lossless: false,
    severity: "error",
  },
  "output-before-call": {
    message: "an output comes before its call",
    why: "WIRE-2",
    repair: "move the output after its call",
    lossless: true,
    severity: "error",
  },
  "displaced-output": {
    message: "an output is separated from its call",
    why: "WIRE-1",
    repair: "move the output after its call",
    lossless: true,
    severity: "error",
  },
  "mixed-outputs": {
    message: "an output shares its message with text",
    why: "programs that convert the session put the text between the call and its output",
    repair: "split the message: outputs first, then the text",
    lossless: true,
    severity: "warning",
  },
  "invalid-id": {
    message: "a call or an output has no id",
    why: "WIRE-5",
    repair: "give the call an id; remove an output that has none",
    lossless: false,
    severity: "error",
  },
  "wrong-name": {
    message: "an output names another tool than its call",
    why: "WIRE-17",
    repair: "write the name of the call's tool",
    lossless: true,
    severity: "error",
  },
  "partial-call": {
    message: "a call ends in the middle of its arguments, so nothing ran",
    why: "WIRE-14",
    repair: "remove the call; an answer would say that it ran",
    lossless: false,
    severity: "error",
  },
  "broken-bond": {
    message: "reasoning or an approval has lost what it belongs to",
    why: "WIRE-11",
    repair: "remove it",
    lossless: false,
    severity: "error",
  },
  "bad-line": {
    message: "a line is not JSON",
    why: "strict readers stop here, others silently lose the record",
    repair: "keep every whole record of the line, remove the rest",
    lossless: false,
    severity: "error",
  },
  "torn-line": {
    message: "the file ends inside a record",
    why: "the next append continues the torn record's line, and both are lost",
    repair: "keep every whole record, remove the torn one",
    lossless: false,
    severity: "error",
  },
  "glued-records": {
    message: "several records share a line",
    why: "readers think that the line is damaged and lose all of them",
    repair: "give each record its own line",
    lossless: true,
    severity: "error",
  },
  "nul-run": {
    message: "a run of NUL bytes, left by a crash",
    why: "no JSON reader accepts it",
    repair: "remove the NUL bytes",
    lossless: true,
    severity: "error",
  },
  "invalid-utf8": {
    message: "bytes that are not UTF-8",
    why: "strict readers refuse the file",
    repair: "write U+FFFD in their place",
    lossless: false,
    severity: "error",
  },
  bom: {
    message: "a byte order mark",
    why: "JSON readers refuse the first record",
    repair: "remove it",
    lossless: true,
    severity: "warning",
  },
  crlf: {
    message: "a line ends in CR LF",
    why: "readers that compare bytes or offsets go wrong",
    repair: "end the line with LF",
    lossless: true,
    severity: "warning",
  },
  "line-separator": {
    message: "a raw U+2028 or U+2029",
    why: "some readers end a line there and lose the record",
    repair: "write it as an escape",
    lossless: true,
    severity: "warning",
  },
  "unsendable-text": {
    message: "a lone surrogate or a NUL inside a text",
    why: "WIRE-15",
    repair: "write U+FFFD in its place",
    lossless: false,
    severity: "error",
  },
  "duplicate-record-id": {
    message: "a record has the id of another record",
    why: "readers that keep records by id lose one of them",
    repair: "give the later record an id of its own",
    lossless: true,
    severity: "error",
  },
  "broken-parent": {
    message: "a record names a parent that is not in the file",
    why: "readers that follow the links lose everything before it",
    repair: "make the record before it its parent",
    lossless: false,
    severity: "error",
  },
  "parent-cycle": {
    message: "records are each other's parents, in a circle",
    why: "readers that follow the links never end, or show nothing",
    repair: "make the record before the first of them its parent",
    lossless: false,
    severity: "error",
  },
};

/** What the provider of a profile answers to it, in its own words where they are known. */
function whyOf(code: FindingCode, profile: ProfileId): string {
  const { why } = FINDINGS[code];
  const rule = WIRE_RULES.find(({ id }) => id === why);
  if (rule === undefined) return why;
  return rule.errors[profile] ?? rule.demands;
}

export function findingOf(
  code: FindingCode,
  profile: ProfileId,
  place: Pick<Finding, "line" | "conversation" | "call" | "tool">,
  severity: Severity = FINDINGS[code].severity,
): Finding {
  const { message, repair, lossless } = FINDINGS[code];
  return { code, severity, ...place, message, why: whyOf(code, profile), repair, lossless };
}
