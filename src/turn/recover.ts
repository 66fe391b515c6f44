import type { JournalEntry } from "../journal/prove.ts";
import type { Journal } from "../journal/journal.ts";
import type { CallId } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";

/** Seed 000's text. The second sentence, because nobody knows what the call had done when it was cut off. */
export const INTERRUPTED = "Tool execution was interrupted. Output was not received. Its effects may have happened.";

export interface Recovered {
  /** Calls that were open when the last writer ended, now closed as canceled. */
  readonly closedCalls: readonly CallId[];
  /** Sequence numbers of records that could not be proven. They are passed over, never served. */
  readonly damaged: readonly number[];
}

/**
 * Brings a reopened session to a state a model can be shown: every call closed, damage named. What is repaired is
 * journalled in one commit, so opening again finds nothing to do.
 */
export async function recover(journal: Journal): Promise<Recovered> {
  const { tail, previousWriter } = journal.opened;
  const dangling = openCallsIn(tail);
  const damaged = newDamageIn(tail);
  if (dangling.size > 0 || damaged.length > 0) {
    const drafts: RecordDraft[] = [...dangling].map(([callId, tool]) => ({
      kind: "call-closed",
      callId,
      tool,
      status: "canceled",
      reason: "interrupted",
      effects: "unknown",
      output: INTERRUPTED,
    }));
    const how = previousWriter === "none" ? "closed" : previousWriter;
    drafts.push({ kind: "session-recovered", closedCalls: [...dangling.keys()], damaged, previousWriter: how });
    await journal.append(drafts);
  }
  return { closedCalls: [...dangling.keys()], damaged };
}

/** Opened and not closed, in the order they were opened. The checkpoint that the tail starts with brings the older ones. */
export function openCallsIn(tail: readonly JournalEntry[]): ReadonlyMap<CallId, string> {
  return tail.reduce<ReadonlyMap<CallId, string>>(
    (open, entry) => (entry.kind === "damaged" || entry.kind === "dropped" ? open : followCalls(open, entry)),
    new Map(),
  );
}

export function followCalls(open: ReadonlyMap<CallId, string>, record: RecordDraft): ReadonlyMap<CallId, string> {
  switch (record.kind) {
    case "checkpoint-kept":
      // The whole truth at its place: a call it does not name was closed, even if the record that closed it is damaged.
      return new Map(record.openCalls.map(({ callId, tool }) => [callId, tool] as const));
    case "call-opened":
      return new Map([...open, [record.callId, record.tool]]);
    case "call-closed":
      return new Map([...open].filter(([callId]) => callId !== record.callId));
    default:
      return open;
  }
}

/** Damage that no earlier recovery has reported. */
function newDamageIn(tail: readonly JournalEntry[]): readonly number[] {
  const known = new Set(tail.flatMap((entry) => (entry.kind === "session-recovered" ? entry.damaged : [])));
  return tail.flatMap((entry) => (entry.kind === "damaged" && !known.has(entry.seq) ? [entry.seq] : []));
}
