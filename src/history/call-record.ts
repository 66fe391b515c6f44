import { isFields } from "../base/fields.ts";
import { canonicalHash } from "../base/hash.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { BodyOf, JournalRecord, OutputStatus } from "../records/kinds.ts";
import { jsonSafe } from "./json-safe.ts";

/** Who made a call. */
export type Speaker = "user" | "agent" | "tool";

/** How a call ended, without its result. */
export interface OutcomeSummary {
  readonly status: "ok" | "error";
  readonly ok: boolean;
  readonly error_type: string | null;
  readonly retriable: boolean;
  /** The JSON type of the result; `null` when the call failed. */
  readonly value_class: string | null;
  /** Where the result is kept: the record that holds it, its size in bytes, and its digest. */
  readonly value?: { readonly seq: number; readonly bytes: number; readonly digest: string };
}

/**
 * One call, as programs read it: seed 002's schema, version 1. The required fields will not change; optional fields may
 * be added, so check that one is there before you use it.
 */
export interface CallRecord {
  readonly call_id: string;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  readonly speaker: Speaker;
  readonly method_name: string;
  readonly args: readonly Json[];
  readonly kwargs: JsonObject;
  readonly outcome_summary: OutcomeSummary;
  readonly parent_call_id?: string;
  readonly depth?: number;
  readonly duration_ms?: number;
  readonly error_type?: string;
  readonly error_message?: string;
  readonly trace_id?: string;
  readonly program_source?: string;
  readonly artifact_hit?: boolean;
  /** Attempts inside this call whose result the tool's validators refused. */
  readonly attempt_failures?: readonly Json[];
  /** Paths of fields that hold another value than the one given. */
  readonly coerced?: readonly string[];
  readonly [field: string]: unknown;
}

export const REQUIRED_FIELDS = [
  "call_id",
  "timestamp",
  "speaker",
  "method_name",
  "args",
  "kwargs",
  "outcome_summary",
] as const;

type Opened = Extract<JournalRecord, { kind: "call-opened" }>;
type Closed = Extract<JournalRecord, { kind: "call-closed" }>;
type Said = Extract<JournalRecord, { kind: "user-said" }>;

/** How a call began, as far as that is known. */
export interface CallBeginning {
  /** Absent when it was cut off, or dropped. */
  readonly opened?: Opened;
  /** How many calls this one is inside of. */
  readonly depth: number;
  /** The record of what the user had said, when he had. */
  readonly turn?: number;
}

/** The record of a call, from the two that the journal has of it. A call whose opening was cut off is told without input. */
export function callRecord(closed: Closed, { opened, depth, turn }: CallBeginning): CallRecord {
  const given = opened?.args ?? {};
  const named = isFields(given);
  const place = named ? "$.kwargs" : "$.args[0]";
  const input = jsonSafe(given, undefined, place);
  const summary = outcomeOf(closed);
  const message = summary.ok ? undefined : jsonSafe(wordsOf(closed.output), undefined, "$.error_message");
  const notes = notesOf(closed);
  const before = (opened?.coerced ?? []).map((path) => path.replace(/^\$/, place));
  const coerced = [...before, ...input.coerced, ...(message?.coerced ?? []), ...notes.coerced];
  return {
    ...notes.fields,
    call_id: closed.callId,
    timestamp: closed.at,
    speaker: notes.speaker,
    method_name: closed.tool,
    args: named ? [] : [input.value],
    kwargs: named ? (input.value as JsonObject) : {},
    outcome_summary: summary,
    ...(opened?.parent === undefined ? {} : { parent_call_id: opened.parent }),
    depth,
    ...(opened === undefined ? {} : { duration_ms: Math.max(0, Date.parse(closed.at) - Date.parse(opened.at)) }),
    ...(summary.error_type === null ? {} : { error_type: summary.error_type }),
    ...(message === undefined || message.value === "" ? {} : { error_message: message.value as string }),
    ...(turn === undefined ? {} : { trace_id: traceOf(turn) }),
    ...(closed.attemptFailures === undefined ? {} : { attempt_failures: closed.attemptFailures as readonly Json[] }),
    ...(coerced.length === 0 ? {} : { coerced }),
  };
}

/** What the user said is a call of the agent: `run`, with the text. */
export function userRecord({ seq, at, text }: Said): CallRecord {
  const said = jsonSafe(text, undefined, "$.args[0]");
  return {
    call_id: `user-${seq}`,
    timestamp: at,
    speaker: "user",
    method_name: "run",
    args: [said.value],
    kwargs: {},
    outcome_summary: { status: "ok", ok: true, error_type: null, retriable: false, value_class: "string" },
    depth: 0,
    trace_id: traceOf(seq),
    ...(said.coerced.length === 0 ? {} : { coerced: said.coerced }),
  };
}

/** Stands in the place of a record that went while the history was being read, so that the others keep theirs. */
export function goneRecord(seq: number, left?: { readonly at: string; readonly reason: string }): CallRecord {
  const { at = "", reason = "It is no longer kept." } = left ?? {};
  return {
    call_id: `gone-${seq}`,
    timestamp: at,
    speaker: "tool",
    method_name: "",
    args: [],
    kwargs: {},
    outcome_summary: { status: "error", ok: false, error_type: "dropped", retriable: false, value_class: null },
    error_type: "dropped",
    error_message: reason,
  };
}

/** Everything from one word of the user's to the next is one trace. */
function traceOf(turn: number): string {
  return `turn-${turn}`;
}

/** Fields that the kernel tells by itself: no tool can tell them otherwise. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  ...REQUIRED_FIELDS,
  "parent_call_id",
  "depth",
  "duration_ms",
  "error_type",
  "error_message",
  "trace_id",
  "attempt_failures",
  "coerced",
]);

/** What the tool itself noted of the call. One that had another agent speak says so. */
function notesOf({ notes = {} }: Closed): {
  readonly fields: JsonObject;
  readonly coerced: readonly string[];
  readonly speaker: Speaker;
} {
  const safe = jsonSafe(notes);
  const fields = isFields(safe.value) ? (safe.value as JsonObject) : {};
  const kept = Object.entries(fields).filter(([name]) => !OWN_FIELDS.has(name));
  const speaker = fields["speaker"] === "agent" ? "agent" : "tool";
  return { fields: Object.fromEntries(kept), coerced: safe.coerced, speaker };
}

function outcomeOf({ seq, status, reason, output, parts, effects }: Closed): OutcomeSummary {
  if (status !== "success") {
    const error_type = reason ?? status;
    return {
      status: "error",
      ok: false,
      error_type,
      retriable: isRetriable(status, reason, effects),
      value_class: null,
    };
  }
  const value = output ?? (parts as Json | undefined) ?? null;
  const beside = (parts ?? []).reduce((sum, { blob }) => sum + (blob?.size ?? 0), 0);
  const bytes = Buffer.byteLength(JSON.stringify(value)) + beside;
  const kept =
    output === undefined && parts === undefined ? {} : { value: { seq, bytes, digest: canonicalHash(value) } };
  const value_class = parts === undefined ? kindOf(value) : "parts";
  return { status: "ok", ok: true, error_type: null, retriable: false, value_class, ...kept };
}

/** Worth another try: it was stopped or overtaken, and nothing outside was touched, or may have been. */
function isRetriable(
  status: OutputStatus,
  reason: string | undefined,
  effects: BodyOf<"call-closed">["effects"],
): boolean {
  if (effects === "happened" || effects === "unknown") return false;
  return status === "timeout" || reason === "conflict" || (status === "canceled" && reason !== "denied");
}

function wordsOf(output: Json | undefined): string {
  if (output === undefined) return "";
  return typeof output === "string" ? output : JSON.stringify(output);
}

function kindOf(value: Json): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
