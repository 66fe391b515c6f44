import { type BlobName, type CallId, isBlobName, type SessionId } from "./ids.ts";
import {
  boolean,
  branded,
  count,
  fields,
  json,
  list,
  matching,
  oneOf,
  optional,
  type Shape,
  string,
  type TypeOf,
} from "./shape.ts";

const callId = branded<CallId>();
const sessionId = branded<SessionId>();
const blobName: Shape<BlobName> = matching("the name of content", isBlobName);

/** Content kept beside the journal, by name. */
const blobRef = fields({ name: blobName, size: count });
/** A reference to content kept beside the journal: its name and its size in bytes. */
export type BlobRef = TypeOf<typeof blobRef>;

/** A piece of a result. Text stands here; anything else is content beside the journal, and has a media type. */
const resultPart = fields({
  type: oneOf("text", "image", "audio", "file"),
  text: optional(string),
  mediaType: optional(string),
  blob: optional(blobRef),
  /** What a file is called. */
  name: optional(string),
});
export type KeptResultPart = TypeOf<typeof resultPart>;

/** Seed 000's four statuses; the reason stands beside it. */
const outputStatus = oneOf("success", "failed", "canceled", "timeout");
/** What is known of a call's effects outside the session. After a crash they are unknown, never assumed. */
const effects = oneOf("none", "happened", "unknown");

/** Every body may name blobs. Named here, they are kept as long as the record; a name elsewhere in a body is only text. */
const kind = <const F extends Record<string, Shape<unknown>>>(shapes: F) =>
  fields({ blobs: optional(list(blobRef)), ...shapes });

/** What an effect is known by. A key that was undone may run again, as the next generation. */
const effect = { tool: string, name: string, key: string, generation: count } as const;

/** Calls that sub-agents worked for: their work is to be taken back, and still there until `agents-returned` tells. */
const agents = list(callId);

const writeback = { page: string, change: json } as const;

/**
 * Everything that outlives the process, by kind. Names are noun-verb. A kind's meaning never changes: a changed
 * shape is a new schema version with a lift (lift.ts).
 */
export const RECORD_SHAPES = {
  "session-created": kind({ session: sessionId, title: optional(string) }),
  "session-recovered": kind({
    closedCalls: list(callId),
    damaged: list(count),
    previousWriter: oneOf("closed", "died", "expired"),
    /** What was wrong with the session's own entry in the store. */
    mended: optional(string),
    agents: optional(agents),
  }),
  "user-said": kind({ text: string, parts: optional(list(json)) }),
  "model-said": kind({
    text: optional(string),
    parts: optional(list(json)),
    model: optional(string),
    usage: optional(json),
    /** The answer as it came: kept items, each provider's message once. Its calls are opened in the same commit. */
    items: optional(json),
    stop: optional(string),
    /** Where programs could be run: whether the request said how to read the history. */
    historyGuidance: optional(boolean),
  }),
  /** The model was asked and did not answer: what it said so far is evidence, and no part of the conversation. */
  "model-failed": kind({
    failure: json,
    attempt: count,
    model: optional(string),
    usage: optional(json),
    items: optional(json),
    historyGuidance: optional(boolean),
  }),
  /** Somebody stopped the turn. The model reads of it, once. */
  "turn-interrupted": kind({ text: string }),
  "turn-ended": kind({ status: string, steps: count, detail: optional(json) }),
  "call-opened": kind({
    callId,
    tool: string,
    args: json,
    /** Where in the arguments something else stands than was given. */
    coerced: optional(list(string)),
    alias: optional(string),
    parent: optional(callId),
    /** Of the catalog that offered the tool, when a model asked for the call. */
    epoch: optional(count),
  }),
  "call-closed": kind({
    callId,
    tool: string,
    status: outputStatus,
    reason: optional(string),
    output: optional(json),
    /** Instead of `output`: a result that is not only text. */
    parts: optional(list(resultPart)),
    effects: optional(effects),
    /** Attempts inside this one call whose result its own checks refused: undone, and told here. */
    attemptFailures: optional(list(fields({ attempt: count, reason: string, message: string }))),
    /** What the tool noted of the call, beside what it returned: further fields of its record in conversation_history. */
    notes: optional(json),
  }),
  /** It waits for somebody to consent, or to answer. A restart leaves it open: nobody has begun it. */
  "call-waiting": kind({
    callId,
    tool: string,
    args: json,
    for: oneOf("approval", "answer"),
    /** Hash of the tool as it was: consent is for that one, and for no other under its name. */
    definition: optional(string),
  }),
  /** Somebody has: from here on it runs like any other. */
  "approval-given": kind({ callId, approved: boolean, reason: optional(string) }),
  "call-late": kind({ callId, tool: string, output: optional(json) }),
  "checkpoint-kept": kind({
    openCalls: list(fields({ callId, tool: string })),
    state: optional(json),
    tag: optional(string),
  }),
  /** Changes of the state's parts, by name: with the closing record of the call that made them, or on their own. */
  "state-changed": kind({
    delta: json,
    cause: string,
    callId: optional(callId),
    /** Slices that the journal tells of for the first time: policy and initial value, for processes that do not know them. */
    introduces: optional(json),
  }),
  "effect-opened": kind({ ...effect, callId, args: json }),
  "effect-done": kind({ ...effect, result: json }),
  "effect-joined": kind({ ...effect, callId }),
  /** Of a call that stays: it rolled back the part that had asked for it, or did without it when it ran again. */
  "effect-left": kind({ ...effect, callId }),
  /** `undoing` is written before an undo is tried: a crash may come while it is. */
  "effect-undone": kind({ ...effect, how: oneOf("undoing", "undone", "not-undone"), detail: optional(string) }),
  "view-chosen": kind({ levels: json, renderer: string }),
  "page-pinned": kind({ page: string, pinned: boolean }),
  "writeback-staged": kind({ ...writeback }),
  "writeback-rejected": kind({ ...writeback, reason: string }),
  "writeback-committed": kind({ ...writeback }),
  "boundary-crossed": kind({
    boundary: oneOf("compaction", "reset", "prune", "overflow", "mode-flip", "exit"),
    /** What it leaves of the conversation for later requests; the conversation itself stays whole. */
    cut: optional(json),
  }),
  "mode-changed": kind({ mode: oneOf("act", "plan") }),
  /** Every tool as it is offered from here on, exactly as a request says it. */
  "catalog-changed": kind({
    version: count,
    epoch: count,
    reason: string,
    tools: json,
    requestUserInputEnabled: optional(boolean),
    contentHash: optional(string),
  }),
  "history-repaired": kind({ fault: string, callId: optional(string), detail: json }),
  /** `left`: calls that ended, and words of the user's, that are still there. */
  "history-cut": kind({ through: count, records: count, reason: string, left: optional(count) }),
  "file-diverged": kind({ path: string, callId: optional(callId), kept: optional(string) }),
  rewound: kind({
    to: count,
    scope: list(oneOf("state", "files", "conversation")),
    callId: optional(callId),
    side: optional(oneOf("before", "after")),
    agents: optional(agents),
  }),
  /** What sub-agents had done for these calls is taken back, as far as it can be. */
  "agents-returned": kind({ calls: agents }),
  /** The first record of a fork says that it is not ready; another tells when its mode and its files are in place. */
  forked: kind({ from: sessionId, after: count, ready: optional(boolean) }),
  "fault-raised": kind({ fault: string, detail: json }),
} as const satisfies Record<string, Shape<unknown>>;

/** The kind of a record. */
export type RecordKind = keyof typeof RECORD_SHAPES;
/** The fields of a record of one kind. */
export type BodyOf<K extends RecordKind> = TypeOf<(typeof RECORD_SHAPES)[K]>;
/** How a call ended: `success`, `failed`, `canceled` or `timeout`. */
export type OutputStatus = TypeOf<typeof outputStatus>;
/** What is known of a call's effects outside: `none`, `happened` or `unknown`. */
export type CallEffects = TypeOf<typeof effects>;
export type UndoStage = BodyOf<"effect-undone">["how"];

/** A record to append. Sequence number, time and chain are added when it is sealed. */
export type RecordDraft = { readonly [K in RecordKind]: { readonly kind: K } & BodyOf<K> }[RecordKind];

/** A record of the journal, in today's shape whatever version wrote it. */
export type JournalRecord = { readonly seq: number; readonly at: string } & RecordDraft;

export function isRecordKind(text: string): text is RecordKind {
  return Object.hasOwn(RECORD_SHAPES, text);
}
