import type { Json } from "../base/json.ts";
import { onceEach } from "../base/once-each.ts";
import { SharedMap } from "../base/shared-map.ts";
import type { JournalEntry } from "../journal/prove.ts";
import type { Fold } from "../journal/seal-batch.ts";
import type { CallId } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";
import {
  effectDone,
  effectJoined,
  effectLeft,
  effectOpened,
  effectsWithin,
  effectUndone,
  inherited,
  withoutDiscarded,
  withoutOwners,
} from "./effect-fold.ts";
import { isAtRest, type SortedEpochs, sortedByNeed, withChange } from "./epochs.ts";
import { FoldedEffects } from "./folded-effects.ts";
import { effectsIn, type FoldedEffect, isToPlace, keptEffectsOf, placed, type PlacedEffect } from "./kept-effects.ts";
import { type KeptState, keptState, type StateNote } from "./kept-state.ts";
import { closingsBefore, lostEnds } from "./lost-ends.ts";
import { innerOf, type Inside, reachingTo, rewoundTo, type ToolBoundary, withClosed } from "./tool-boundaries.ts";
import { type WaitingCall, waitingCallOf } from "./waiting.ts";

/** What travels with the chain, so that opening a session need not read further back than its newest checkpoint. */
export interface SessionFold extends SortedEpochs {
  readonly openCalls: ReadonlyMap<CallId, string>;
  /** Those of them that wait for somebody: a restart leaves them open. */
  readonly waiting: ReadonlyMap<CallId, WaitingCall>;
  /** Of calls that ran inside others, the outermost: while that is open, and as long as they rely on something. */
  readonly inside: Inside;
  readonly boundaries: readonly ToolBoundary[];
  readonly effects: FoldedEffects;
  /** Calls that were taken back and whose sub-agents' work is still to follow. */
  readonly returning: readonly CallId[];
  /** Slices that the journal has told of: a process without them can carry them. */
  readonly introduced: ReadonlySet<string>;
  /** The record that last made the conversation another one than a longer one: a rewind, a compaction, a reset. */
  readonly rewrittenAt: number;
  /** How long conversation_history is. Unknown after a checkpoint, or a cut, of a version that did not count. */
  readonly history?: number;
  /** Where the newest checkpoint keeps the state. While nothing changes it, the next one says the same. */
  readonly kept?: Pick<StateNote, "parts" | "blobs">;
}

/** A checkpoint after this many records keeps reopening as quick at the millionth record as at the first. */
export const RECORDS_PER_CHECKPOINT = 512;

const NOTHING: SessionFold = {
  openCalls: new Map(),
  waiting: new Map(),
  inside: new Map(),
  boundaries: [],
  effects: FoldedEffects.of([]),
  returning: [],
  epochs: [{ base: 0, changes: [] }],
  stale: [],
  introduced: new Set(),
  rewrittenAt: 0,
  history: 0,
};

/** `limit`: how many boundaries are remembered. */
export function sessionFold(limit: number): Fold<SessionFold> {
  const step = (now: SessionFold, record: RecordDraft, seq: number): SessionFold => {
    const next = STEPS[record.kind]?.(now, record as never, seq) ?? now;
    // Not between the closings of a call and of those inside it: where it began is read from theirs.
    if (next.boundaries.length <= limit || record.kind === "call-closed") return next;
    return { ...next, boundaries: next.boundaries.slice(-limit) };
  };
  return {
    start: (tail: readonly JournalEntry[]) =>
      tail.reduce((now, entry, at) => {
        if (entry.kind === "dropped" && entry.was === "state-changed") return withLostChange(now, tail, at);
        if (entry.kind === "damaged" || entry.kind === "dropped") return now;
        const known = lostEnds(tail, at, now.openCalls).reduce(
          // What is gone no longer counts as conversation_history.
          (ending, { closed, seq }) => ({ ...step(ending, closed, seq), ...historyOf(now) }),
          now,
        );
        return step(known, entry, entry.seq);
      }, NOTHING),
    step,
    // Content must be durable before a record names it, so a checkpoint of new state is the session's to keep, and so is
    // one that lets old state go. Any other says what the last one said and joins the append that made it due.
    due: (now, since) =>
      isDueAfter(since) && now.kept !== undefined && isUnchanged(now) ? checkpointOf(now, now.kept) : undefined,
    checkpoint: checkpointOf,
  };
}

export function isDueAfter(records: number): boolean {
  return records >= RECORDS_PER_CHECKPOINT;
}

function isUnchanged({ epochs, boundaries, effects }: SessionFold): boolean {
  return isAtRest(epochs, boundaries) && !effects.values().some(isToPlace);
}

function checkpointOf(now: SessionFold, note: StateNote): RecordDraft {
  const { boundaries, epochs, rewrittenAt } = now;
  const { parts = {}, tag, history = now.history, effects: places = new Map<string, PlacedEffect>() } = note;
  const waiting = now.waiting.size === 0 ? {} : { waiting: [...now.waiting.values()] };
  const reached = reachedBy(now);
  // Of a call that nothing can take back any more, nobody asks what ran inside it.
  const within = [...now.inside].filter(([, outermost]) => reached.has(outermost));
  const inside = within.length === 0 ? {} : { inside: within };
  const effects = now.effects.values().map((effect) => placed(effect, places));
  const outside = keptEffectsOf(effectsWithin(effects, reached, now.inside));
  const returning = now.returning.length === 0 ? {} : { returning: now.returning };
  const counted = history === undefined ? {} : { history };
  const kept: KeptState = {
    parts,
    boundaries,
    epochs,
    rewrittenAt,
    ...outside,
    ...waiting,
    ...inside,
    ...returning,
    ...counted,
  };
  const blobs = onceEach([...(note.blobs ?? []), ...(outside.effectContents ?? [])], ({ name }) => name);
  return {
    kind: "checkpoint-kept",
    openCalls: [...now.openCalls].map(([callId, tool]) => ({ callId, tool })),
    state: kept as unknown as Json,
    ...(tag === undefined ? {} : { tag }),
    ...(blobs.length === 0 ? {} : { blobs }),
  };
}

/** What the next checkpoint says of effects. */
export function effectsToKeep(now: SessionFold): readonly FoldedEffect[] {
  return effectsWithin(now.effects.values(), reachedBy(now), now.inside);
}

/** Calls that are open, or can be returned to. */
function reachedBy({ boundaries, openCalls }: SessionFold): ReadonlySet<string> {
  return new Set<string>([...boundaries.map(({ callId }) => callId), ...openCalls.keys()]);
}

type Step<K extends RecordDraft["kind"]> = (
  now: SessionFold,
  record: Extract<RecordDraft, { readonly kind: K }>,
  seq: number,
) => SessionFold;

/** Only kinds that the fold hears of. */
const STEPS: { readonly [K in RecordDraft["kind"]]?: Step<K> } = {
  "checkpoint-kept": (now, record, seq) => {
    const kept = keptState({ ...record, seq, at: "" });
    const openCalls = new Map(record.openCalls.map(({ callId, tool }) => [callId, tool]));
    if (kept === undefined) {
      const { history: _unknown, ...rest } = now; // it says nothing of what came before it
      return { ...rest, openCalls };
    }
    return {
      openCalls,
      waiting: new Map((kept.waiting ?? []).map((call) => [call.callId, call])),
      inside: new Map(kept.inside ?? []),
      boundaries: kept.boundaries,
      ...historyOf(kept),
      effects: FoldedEffects.of(effectsIn(kept)),
      returning: kept.returning ?? [],
      introduced: new Set(Object.keys(kept.parts)),
      rewrittenAt: kept.rewrittenAt ?? now.rewrittenAt,
      kept: { parts: kept.parts, ...(record.blobs === undefined ? {} : { blobs: record.blobs }) },
      ...sortedByNeed([...kept.epochs, { base: seq, changes: [] }], kept.boundaries),
    };
  },
  "user-said": (now) => ({ ...now, ...historyOf(now, 1) }),
  "history-cut": ({ history: _history, ...now }, { through, left }) => ({
    ...now,
    ...(left === undefined ? {} : { history: left }), // counted when it was decided what goes
    boundaries: now.boundaries.filter(({ after }) => after > through),
    epochs: now.epochs.filter(({ base }, at) => base > through || at === now.epochs.length - 1),
  }),
  "call-opened": (now, { callId, tool, parent }) => ({
    ...now,
    openCalls: SharedMap.of(now.openCalls).with([[callId, tool]]),
    ...(parent === undefined
      ? {}
      : { inside: SharedMap.of(now.inside).with([[callId, now.inside.get(parent) ?? parent]]) }),
  }),
  "call-waiting": (now, record) => ({
    ...now,
    waiting: new Map([...now.waiting, [record.callId, waitingCallOf(record)]]),
  }),
  "approval-given": (now, { callId }) => ({ ...now, waiting: without(now.waiting, callId) }),
  "call-closed": (now, { callId, tool, status, reason }, seq) => ({
    ...now,
    ...historyOf(now, 1),
    // What a discarded call did is undone before it is closed, or when it is done at last: by the next process, if need be.
    effects:
      status === "success" || (status === "canceled" && reason === INTERRUPTION)
        ? now.effects
        : withoutDiscarded(now.effects, callId, now.inside),
    openCalls: SharedMap.of(now.openCalls).without(callId),
    waiting: without(now.waiting, callId),
    inside: stillInside(now, callId),
    boundaries: withClosed(now.boundaries, now.inside, { callId, tool, status }, seq),
  }),
  "state-changed": (now, { callId, introduces }, seq) => ({
    ...now,
    introduced: introduces === undefined ? now.introduced : now.introduced.union(new Set(namesIn(introduces))),
    epochs: withChange(now.epochs, seq),
    boundaries: callId === undefined ? now.boundaries : reachingTo(now.boundaries, now.inside, callId, seq),
  }),
  "boundary-crossed": (now, { cut }, seq) => (cut === undefined ? now : { ...now, rewrittenAt: seq }),
  "session-recovered": (now, { agents }) => withReturning(now, agents),
  "agents-returned": (now, { calls }) => ({
    ...now,
    returning: now.returning.filter((callId) => !calls.includes(callId)),
  }),
  rewound: (before, { to, scope, agents }, seq) => {
    const rewritten = scope.includes("conversation") ? { ...before, rewrittenAt: seq } : before;
    const now = withReturning(rewritten, agents);
    if (!scope.includes("state")) return now;
    const gone = new Set<string>(now.boundaries.filter(({ after }) => after > to).map(({ callId }) => callId));
    return {
      ...now,
      boundaries: rewoundTo(now.boundaries, to),
      effects: withoutOwners(now.effects, gone, now.inside),
    };
  },
  // Sub-agents worked for the origin's calls: they are its own to take back.
  forked: (now) => ({ ...now, effects: inherited(now.effects), returning: [] }),
  "effect-opened": (now, record) => ({ ...now, effects: effectOpened(now.effects, record) }),
  "effect-done": (now, record) => ({ ...now, effects: effectDone(now.effects, record) }),
  "effect-joined": (now, record) => ({ ...now, effects: effectJoined(now.effects, record) }),
  "effect-left": (now, record) => ({ ...now, effects: effectLeft(now.effects, record) }),
  "effect-undone": (now, record) => ({ ...now, effects: effectUndone(now.effects, record) }),
};

/** A state that needs a change which was dropped is told as gone, as that of the calls it belongs to is: it never was. */
function withLostChange(now: SessionFold, tail: readonly JournalEntry[], at: number): SessionFold {
  const seq = tail[at]?.seq ?? 0;
  const from = seq - closingsBefore(tail, at).length;
  const boundaries = now.boundaries.map((one) => (one.after >= from ? { ...one, after: seq } : one));
  return { ...now, epochs: withChange(now.epochs, seq), boundaries };
}

/** Why a call was closed that a crash had cut off: what it did outside is told, and nobody takes it for unwanted. */
export const INTERRUPTION = "interrupted";

function historyOf({ history }: { readonly history?: number }, more = 0): { readonly history?: number } {
  return history === undefined ? {} : { history: history + more };
}

function withReturning(now: SessionFold, agents: readonly CallId[] = []): SessionFold {
  return agents.length === 0 ? now : { ...now, returning: [...new Set([...now.returning, ...agents])] };
}

function stillInside({ inside, effects }: SessionFold, callId: CallId): SessionFold["inside"] {
  const within = new Set(innerOf(new Set([callId]), inside));
  if (within.size === 0) return inside;
  const relying = new Set<string>(effects.ownedBy(within).flatMap(({ owners }) => owners));
  return new Map([...inside].filter(([inner]) => !within.has(inner) || relying.has(inner)));
}

function without<T>(calls: ReadonlyMap<CallId, T>, callId: CallId): ReadonlyMap<CallId, T> {
  return calls.has(callId) ? new Map([...calls].filter(([open]) => open !== callId)) : calls;
}

function namesIn(introduces: Json): readonly string[] {
  return Object.keys((introduces ?? {}) as object);
}
