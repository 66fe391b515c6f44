import { frozenCopy } from "../base/freeze.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { EventSource, KernelEvent } from "../contracts/event-sink.ts";
import type { RecordDraft } from "../records/kinds.ts";

/**
 * What a record is to those who only watch: whose doing it is, and which of its fields are names, ids and numbers. Every
 * other field is somebody's words, told by its size alone.
 */
const TOLD: { readonly [K in KernelEvent["kind"]]: readonly [EventSource, ...facts: readonly string[]] } = {
  "session-created": ["session"],
  "session-recovered": ["session", "closedCalls", "damaged", "previousWriter"],
  "user-said": ["user"],
  "model-said": ["model", "model", "usage", "stop", "historyGuidance"],
  "model-failed": ["model", "model", "usage", "attempt", "historyGuidance"],
  "turn-interrupted": ["user"],
  "turn-ended": ["session", "status", "steps"],
  "call-opened": ["tool", "callId", "tool", "parent", "epoch"],
  "call-closed": ["tool", "callId", "tool", "status", "reason", "effects"],
  "call-waiting": ["tool", "callId", "tool", "for"],
  "approval-given": ["user", "callId", "approved"],
  "call-late": ["tool", "callId", "tool"],
  "checkpoint-kept": ["state"],
  "state-changed": ["state", "cause", "callId"],
  "effect-opened": ["tool", "tool", "name", "callId", "generation"],
  "effect-done": ["tool", "tool", "name", "generation"],
  "effect-joined": ["tool", "tool", "name", "callId", "generation"],
  "effect-left": ["tool", "tool", "name", "callId", "generation"],
  "effect-undone": ["tool", "tool", "name", "how", "generation"],
  "view-chosen": ["context", "renderer"],
  "page-pinned": ["context", "page", "pinned"],
  "writeback-staged": ["context", "page"],
  "writeback-rejected": ["context", "page", "reason"],
  "writeback-committed": ["context", "page"],
  "boundary-crossed": ["context", "boundary"],
  "mode-changed": ["catalog", "mode"],
  "catalog-changed": ["catalog", "version", "epoch", "contentHash"],
  "history-repaired": ["session", "fault", "callId"],
  "history-cut": ["session", "through", "records"],
  "file-diverged": ["state", "callId"],
  rewound: ["session", "to", "scope", "callId", "side"],
  "agents-returned": ["session", "calls"],
  forked: ["session", "from", "after"],
  "fault-raised": ["session", "fault"],
  "session-opened": ["session"],
  "session-closed": ["session"],
  "turn-begun": ["session"],
  "turn-over": ["session"],
  "request-begun": ["model"],
  "request-over": ["model"],
  "prompt-healed": ["catalog"],
  "context-reclaimed": ["context"],
  "aside-over": ["model"],
  "call-rerun": ["tool"],
  "checkpoint-failed": ["state"],
  "upkeep-failed": ["state"],
};

const NOTHING_TOLD: (typeof TOLD)[KernelEvent["kind"]] = ["unknown"];

/** Whose doing it is, and which facts are told of it. A kind that somebody else's version wrote is told all the same. */
export function toldKind(kind: string): readonly [EventSource, ...facts: readonly string[]] {
  return KINDS.get(kind) ?? NOTHING_TOLD;
}

const KINDS: ReadonlyMap<string, (typeof TOLD)[KernelEvent["kind"]]> = new Map(Object.entries(TOLD));

/**
 * What of a record is told: an object of the caller's own, who may have more to say. What the kernel holds itself is copied:
 * whoever hears of it could write on it.
 */
export function factsOf(draft: RecordDraft): Record<string, Json | undefined> {
  const told = toldKind(draft.kind);
  const fields = draft as unknown as JsonObject;
  const facts: Record<string, Json | undefined> = {};
  for (let nth = 1; nth < told.length; nth += 1) {
    const name = told[nth] as string;
    const value = fields[name];
    if (value !== undefined) facts[name] = typeof value === "object" ? frozenCopy(value) : value;
  }
  if (draft.kind === "model-failed") facts["failure"] = failureIn(draft);
  return facts;
}

/** Everything else of it. */
export function wordsOf(draft: RecordDraft): JsonObject {
  const [, ...told] = toldKind(draft.kind);
  const all = Object.entries(draft as unknown as JsonObject);
  const words = all.filter(([name, value]) => value !== undefined && !UNTOLD.has(name) && !told.includes(name));
  return frozenCopy(Object.fromEntries(words));
}

const UNTOLD: ReadonlySet<string> = new Set(["kind", "blobs"]);

/**
 * How the history is used. The record is durable when this is told, and it is the one that the history tells of the call:
 * so one was appended. What its program read, if it was one, its tool has noted.
 */
export function addHistorySignals(
  facts: Record<string, Json | undefined>,
  { notes }: Extract<RecordDraft, { readonly kind: "call-closed" }>,
  size: number | undefined,
): void {
  const noted = (notes ?? NOTHING_NOTED) as JsonObject;
  facts["history_record_appended"] = true;
  facts["conversation_history_size"] = size ?? null;
  facts["history_access_detected"] = noted["history_access_detected"] ?? false;
  const patterns = noted["history_query_patterns"] ?? NO_PATTERNS;
  facts["history_query_patterns"] = patterns === NO_PATTERNS ? patterns : frozenCopy(patterns);
  facts["history_records_read"] = noted["history_records_read"] ?? 0;
}

const NOTHING_NOTED: JsonObject = {};
const NO_PATTERNS: readonly Json[] = Object.freeze([]);

/** Why a model did not answer is one of a few words; what it said of it is not. */
function failureIn({ failure }: Extract<RecordDraft, { readonly kind: "model-failed" }>): Json | undefined {
  return (failure as { readonly kind?: Json }).kind;
}
