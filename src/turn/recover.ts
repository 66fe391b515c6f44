import type { JournalEntry } from "../journal/prove.ts";
import { appendReserved, type Journal } from "../journal/journal.ts";
import { type EffectReport, effectWords } from "../transaction/effect.ts";
import { INTERRUPTION, type SessionFold } from "./fold.ts";
import type { CallId } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";

/** Seed 000's text. The second sentence, because nobody knows what the call had done when it was cut off. */
export const INTERRUPTED = "Tool execution was interrupted. Output was not received. Its effects may have happened.";

/** What opening a session had to repair. */
export interface Recovered {
  /** Calls that were open when the last writer ended. They are now closed as canceled. */
  readonly closedCalls: readonly CallId[];
  /** Sequence numbers of records that could not be proven. They are skipped, never served. */
  readonly damaged: readonly number[];
  /** What was wrong with the session's own entry in the store. It was mended from the records that prove it. */
  readonly mended?: string;
  /** Sequence numbers of state changes that could not be applied, because something they build on is lost. */
  readonly skippedChanges?: readonly number[];
  /** Writebacks that were staged and not committed. They have now been committed or rejected, once. */
  readonly staged?: readonly string[];
  /** What the closed calls had done outside, as far as is known. */
  readonly effects?: readonly EffectReport[];
}

/**
 * Brings a reopened session to a state a model can be shown: every call closed, damage named. What is repaired is
 * journalled in one commit, so opening again finds nothing to do.
 */
export async function recover(
  journal: Journal<SessionFold>,
  skipped: readonly number[],
  agentCalls: (calls: readonly CallId[]) => Promise<readonly CallId[]>,
): Promise<Recovered> {
  const { tail, previousWriter, mended } = journal.opened;
  const dangling = danglingIn(journal.folded);
  const effects = effectsOf(journal.folded, dangling);
  const damaged = newDamageIn(tail);
  const closedCalls = [...dangling.keys()];
  const row = mended === undefined ? {} : { mended };
  if (dangling.size > 0 || damaged.length > 0 || mended !== undefined) {
    const drafts = [...closingsOf(journal.folded)];
    const how = previousWriter === "none" ? "closed" : previousWriter;
    const agents = await agentCalls(closedCalls);
    const more = agents.length === 0 ? row : { ...row, agents };
    drafts.push({ kind: "session-recovered", closedCalls, damaged, previousWriter: how, ...more });
    await appendReserved(journal, drafts);
  }
  return {
    closedCalls,
    damaged,
    ...row,
    ...(skipped.length === 0 ? {} : { skippedChanges: skipped }),
    ...(effects.length === 0 ? {} : { effects: effects.map(({ report }) => report) }),
  };
}

/** Calls that nobody will end any more. One that waits for somebody stays open. */
export function danglingIn({
  openCalls,
  waiting,
}: Pick<SessionFold, "openCalls" | "waiting">): SessionFold["openCalls"] {
  return new Map([...openCalls].filter(([callId]) => !waiting.has(callId)));
}

/** What closes them, when the session is opened. */
export function closingsOf(folded: SessionFold): readonly RecordDraft[] {
  const effects = effectsOf(folded, folded.openCalls);
  return [...danglingIn(folded)].map(([callId, tool]) => ({
    kind: "call-closed",
    callId,
    tool,
    status: "canceled",
    reason: INTERRUPTION,
    effects: "unknown",
    output: [INTERRUPTED, ...outsideWords(effects.filter(({ by }) => by.includes(callId)))].join(" "),
  }));
}

interface LeftEffect {
  readonly by: readonly string[];
  readonly report: EffectReport;
}

/** What interrupted calls had done: done is done, and what had not ended may have happened. Nothing is undone here. */
function effectsOf({ effects }: SessionFold, calls: ReadonlyMap<string, unknown>): readonly LeftEffect[] {
  return effects.values().flatMap(({ entry: { tool, name, key }, standing, owners }): LeftEffect[] => {
    if (standing.is === "undone" || !owners.some((owner) => calls.has(owner))) return [];
    const is = standing.is === "done" ? "happened" : standing.is === "not-undone" ? "not-undone" : "unknown";
    return [{ by: owners, report: { tool, name, key, is } }];
  });
}

function outsideWords(left: readonly LeftEffect[]): readonly string[] {
  return left.length === 0 ? [] : [`Effects outside: ${left.map(({ report }) => effectWords(report)).join("; ")}.`];
}

/** Damage that no earlier recovery has reported. */
function newDamageIn(tail: readonly JournalEntry[]): readonly number[] {
  const known = new Set(tail.flatMap((entry) => (entry.kind === "session-recovered" ? entry.damaged : [])));
  return tail.flatMap((entry) => (entry.kind === "damaged" && !known.has(entry.seq) ? [entry.seq] : []));
}
