import { HoldfastError } from "../base/errors.ts";
import type { AppendOptions } from "../journal/append-options.ts";
import type { CallId } from "../records/ids.ts";
import type { RecordDraft, RecordKind } from "../records/kinds.ts";
import type { SessionFold } from "./fold.ts";
import { keptItemsFault } from "../wire/kept-shape.ts";
import { partFault } from "./said-part.ts";
import { levelsFault, noteIn, usageFault } from "./told-shapes.ts";

/**
 * Who may write a record of each kind into a session's journal: anybody, for what was said and what went wrong; or only the
 * kernel, where the record is one half of something whose other half is state, files, effects, a lease or an anchor. Such
 * a record alone would tell of a change that never happened, and every later opening would believe it.
 */
const WRITER: Readonly<Record<RecordKind, "anybody" | "kernel">> = {
  "session-created": "kernel",
  "session-recovered": "kernel",
  "user-said": "anybody",
  "model-said": "anybody",
  "model-failed": "anybody",
  "turn-interrupted": "anybody",
  "turn-ended": "anybody",
  "call-opened": "anybody",
  "call-closed": "anybody",
  "call-waiting": "kernel",
  "approval-given": "kernel",
  "call-late": "anybody",
  "checkpoint-kept": "kernel",
  "state-changed": "kernel",
  "effect-opened": "kernel",
  "effect-done": "kernel",
  "effect-joined": "kernel",
  "effect-left": "kernel",
  "effect-undone": "kernel",
  "view-chosen": "anybody",
  "page-pinned": "anybody",
  "writeback-staged": "kernel",
  "writeback-rejected": "kernel",
  "writeback-committed": "kernel",
  "boundary-crossed": "anybody",
  "mode-changed": "kernel",
  "catalog-changed": "kernel",
  "history-repaired": "anybody",
  "history-cut": "kernel",
  "file-diverged": "kernel",
  rewound: "kernel",
  "agents-returned": "kernel",
  forked: "kernel",
  "fault-raised": "anybody",
};

/** What an append may be told by the kernel alone. */
const OWN_OPTIONS = ["anchor", "checkpoint", "checked", "unsynced"] as const satisfies readonly (keyof AppendOptions)[];
export type OpenAppendOptions = Omit<AppendOptions, (typeof OWN_OPTIONS)[number]>;

/** Refuses what a caller of `session.append` may not write, where the session stands at that moment. */
export function refuseReserved(
  { openCalls, effects }: SessionFold,
  drafts: readonly { readonly draft: RecordDraft }[],
  options: AppendOptions,
  running: readonly string[],
): void {
  const own = OWN_OPTIONS.find((name) => options[name] !== undefined);
  if (own !== undefined) throw new HoldfastError("RECORD_RESERVED", { option: own });
  const opened = new Set<CallId>();
  const closed = new Set<CallId>();
  const isOpen = (id: CallId) => opened.has(id) || (openCalls.has(id) && !closed.has(id));
  for (const { draft } of drafts) {
    const { kind } = draft;
    if (WRITER[kind] === "kernel") throw new HoldfastError("RECORD_RESERVED", { kind });
    refuseUnreadable(draft);
    if (kind === "call-opened") {
      if (isOpen(draft.callId)) throw new HoldfastError("CALL_OPEN", { call: draft.callId });
      // Closed as failed, it would have the effects undone of a call of ours that has succeeded.
      if (effects.ownedBy(new Set([draft.callId])).length > 0)
        throw new HoldfastError("RECORD_RESERVED", { kind, call: draft.callId });
      opened.add(draft.callId);
    }
    if (kind !== "call-closed") continue;
    // The only way a call ends: a second ending would tell another story of what the model was shown.
    if (running.includes(draft.callId)) throw new HoldfastError("RECORD_RESERVED", { kind, call: draft.callId });
    if (!isOpen(draft.callId)) throw new HoldfastError("CALL_CLOSED", { call: draft.callId });
    opened.delete(draft.callId);
    closed.add(draft.callId);
  }
}

/** The shapes of records let more pass than a turn can read, for those that earlier versions wrote. */
function refuseUnreadable(draft: RecordDraft): void {
  const { kind } = draft;
  const fault = unreadable(draft);
  if (fault !== undefined) throw new HoldfastError("RECORD_MALFORMED", { kind, fault });
  const field = ownField(draft);
  if (field !== undefined) throw new HoldfastError("RECORD_RESERVED", { kind, field });
}

/** What decides what later requests show, in a record that anybody may write. */
function ownField(draft: RecordDraft): string | undefined {
  if (draft.kind === "boundary-crossed" && draft.cut !== undefined) return "cut";
  return draft.kind === "view-chosen" ? noteIn(draft.levels) : undefined;
}

function unreadable(draft: RecordDraft): string | undefined {
  if (draft.kind === "view-chosen") return levelsFault(draft.levels);
  if (draft.kind === "model-said") {
    const { items, usage } = draft;
    const fault = items === undefined ? undefined : keptItemsFault(items, "items");
    return fault ?? (usage === undefined ? undefined : usageFault(usage));
  }
  if (draft.kind !== "user-said") return undefined;
  for (const [nth, part] of (draft.parts ?? []).entries()) {
    const fault = partFault(part, `parts[${nth}]`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
