import type { Json, JsonObject } from "../base/json.ts";
import { RECORD_SHAPES, type RecordDraft, type RecordKind } from "./kinds.ts";
import type { Redactor } from "./redact.ts";

/**
 * Fields by which records are found and told apart, or that name tools, paths and content: one changed letter, and a call
 * would have no end. They are ours or the program's, and are kept as they are; in everything else secrets are hidden, also
 * in fields that this version does not know. What a change of the state holds was hidden before it became true.
 */
const EXACT: Readonly<Record<RecordKind, readonly string[]>> = {
  "session-created": ["session"],
  "session-recovered": ["closedCalls", "damaged", "previousWriter", "agents"],
  "user-said": [],
  "model-said": ["model", "usage", "stop"],
  "model-failed": ["model", "usage"],
  "turn-interrupted": [],
  "turn-ended": ["status"],
  "call-opened": ["callId", "tool", "alias", "parent"],
  "call-closed": ["callId", "tool", "status", "effects"],
  "call-waiting": ["callId", "tool", "for", "definition"],
  "approval-given": ["callId"],
  "call-late": ["callId", "tool"],
  "checkpoint-kept": ["openCalls", "state"],
  "state-changed": ["delta", "cause", "callId"],
  "effect-opened": ["tool", "name", "key", "callId"],
  "effect-done": ["tool", "name", "key"],
  "effect-joined": ["tool", "name", "key", "callId"],
  "effect-left": ["tool", "name", "key", "callId"],
  "effect-undone": ["tool", "name", "key", "how"],
  "view-chosen": ["levels", "renderer"],
  "page-pinned": ["page"],
  "writeback-staged": ["page"],
  "writeback-rejected": ["page"],
  "writeback-committed": ["page"],
  "boundary-crossed": ["boundary"],
  "mode-changed": ["mode"],
  "catalog-changed": ["tools", "contentHash"],
  "history-repaired": ["fault", "callId"],
  "history-cut": [],
  "file-diverged": ["path", "callId", "kept"],
  rewound: ["scope", "callId", "side", "agents"],
  "agents-returned": ["calls"],
  forked: ["from"],
  "fault-raised": ["fault"],
};

/** What a checkpoint carries on from the records before it; the rest of it are names and numbers. */
const CARRIED = ["waiting", "effects"] as const;

/** A record as it may be kept. The same reference when there is nothing to hide. */
export function redactDraft<D extends RecordDraft>(draft: D, redactor: Redactor): D {
  // A draft that is no record is refused by somebody else.
  const known = typeof draft.kind === "string" && Object.hasOwn(EXACT, draft.kind);
  const exact = known ? EXACT[draft.kind] : [];
  const names = known ? RECORD_SHAPES[draft.kind].names : NO_NAMES;
  const fields = draft as unknown as JsonObject;
  let copy: Record<string, Json | undefined> | undefined;
  for (const key of Object.keys(fields)) {
    if (key === "kind" || key === "blobs") continue;
    const value = fields[key];
    if (!names.has(key)) {
      // A name that nobody has given a meaning may be anything, a secret too.
      const [[name, clean] = [key, value]] = Object.entries(redactor.json({ [key]: value }));
      if (name === key && clean === value) continue;
      const { [key]: _hidden, ...rest } = copy ?? fields;
      copy = { ...rest, [name]: clean };
      continue;
    }
    const clean = exact.includes(key) ? inside(key, value, redactor) : redactor.field(key, value);
    if (clean === value) continue;
    copy ??= { ...fields };
    copy[key] = clean;
  }
  return (copy ?? draft) as D;
}

const NO_NAMES: ReadonlySet<string> = new Set();

function inside(key: string, value: Json | undefined, redactor: Redactor): Json | undefined {
  if (key !== "state" || typeof value !== "object" || value === null) return value;
  const state = value as JsonObject;
  const clean = CARRIED.map((name) => [name, redactor.json(state[name])] as const);
  return clean.every(([name, data]) => data === state[name])
    ? value
    : { ...state, ...Object.fromEntries(clean.filter(([, data]) => data !== undefined)) };
}
