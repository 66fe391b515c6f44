import type { Json } from "../base/json.ts";
import { onceEach } from "../base/once-each.ts";
import type { CheckpointNote } from "../journal/append-options.ts";
import type { Fold } from "../journal/seal-batch.ts";
import type { JournalEntry } from "../journal/prove.ts";
import type { CallId } from "../records/ids.ts";
import type { BlobRef, OutputStatus, RecordDraft, UndoStage } from "../records/kinds.ts";
import { type WaitingCall, waitingCallOf } from "./waiting.ts";
import { type EffectEntry, effectId, SOMEBODY_ELSE, type Standing } from "../transaction/effect.ts";
import {
  effectsIn,
  type FoldedEffect,
  isToPlace,
  type KeptEffects,
  keptEffectsOf,
  placed,
  type PlacedEffect,
  withoutArguments,
} from "./kept-effects.ts";

/** A tool boundary: where the state stood before a call and after it, by sequence number. */
export interface ToolBoundary {
  readonly callId: CallId;
  readonly tool: string;
  readonly status: OutputStatus;
  readonly before: number;
  readonly after: number;
  /** Taken back by a rewind: it can no longer be returned to. */
  readonly rewound: boolean;
}

/** A kept state and the changes that came after it. `base` 0 is the beginning, where every part is at its initial value. */
export interface Epoch {
  readonly base: number;
  readonly changes: readonly number[];
}

/** What travels with the chain, so that opening a session need not read further back than its newest checkpoint. */
export interface SessionFold {
  readonly openCalls: ReadonlyMap<CallId, string>;
  /** Those of them that wait for somebody: a restart leaves them open. */
  readonly waiting: ReadonlyMap<CallId, WaitingCall>;
  /** Of calls that ran inside others, the outermost: while that is open, and as long as they rely on something. */
  readonly inside: ReadonlyMap<string, CallId>;
  readonly boundaries: readonly ToolBoundary[];
  readonly effects: ReadonlyMap<string, FoldedEffect>;
  readonly epochs: readonly Epoch[];
  /** Epochs that the newest checkpoint made needless: their state may be taken out of the records. */
  readonly stale: readonly Epoch[];
  /** Slices that the journal has told of: a process without them can carry them. */
  readonly introduced: ReadonlySet<string>;
  /** The record that last made the conversation another one than a longer one: a rewind, a compaction, a reset. */
  readonly rewrittenAt: number;
  /** How long conversation_history is. Unknown after a checkpoint, or a cut, of a version that did not count. */
  readonly history?: number;
  /** Where the newest checkpoint keeps the state. While nothing changes it, the next one says the same. */
  readonly kept?: Pick<StateNote, "parts" | "blobs">;
}

/** Where a checkpoint keeps a part: a range of bytes in content of so many. */
export interface KeptPart extends Span {
  readonly policy: string;
  /** Where that can be told to a process that does not know the part. */
  readonly initial?: Json;
  /** Where it lies instead, when it is long: it never changes, and every checkpoint would say it again. */
  readonly initialAt?: Span;
}

/** A piece of content. */
export interface Span {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** Of the whole content. */
  readonly size: number;
}

/** What a checkpoint keeps: the place of every part, and the fold up to there. */
export interface KeptState extends KeptEffects {
  readonly parts: Readonly<Record<string, KeptPart>>;
  readonly waiting?: readonly WaitingCall[];
  readonly inside?: readonly (readonly [string, CallId])[];
  readonly boundaries: readonly ToolBoundary[];
  readonly epochs: readonly Epoch[];
  readonly rewrittenAt?: number;
  readonly history?: number;
}

/** How the parts of a state are handed to the record of a checkpoint. */
export interface StateNote extends CheckpointNote {
  readonly parts?: KeptState["parts"];
  readonly blobs?: readonly BlobRef[];
  readonly effects?: ReadonlyMap<string, PlacedEffect>;
  /** How long conversation_history is, where records that were counted are gone. */
  readonly history?: number;
}

/** A checkpoint after this many records keeps reopening as quick at the millionth record as at the first. */
export const RECORDS_PER_CHECKPOINT = 512;
/** Taking state out of records is a commit of its own, so it waits until it is worth one. */
const STALE_AT_ONCE = 8;

const NOTHING: SessionFold = {
  openCalls: new Map(),
  waiting: new Map(),
  inside: new Map(),
  boundaries: [],
  effects: new Map(),
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
      tail.reduce(
        (now, entry) => (entry.kind === "damaged" || entry.kind === "dropped" ? now : step(now, entry, entry.seq)),
        NOTHING,
      ),
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
  const next = sorted([...epochs, { base: Number.POSITIVE_INFINITY, changes: [] }], boundaries);
  return epochs.at(-1)?.changes.length === 0 && next.stale.length === 0 && !effects.values().some(isToPlace);
}

function checkpointOf(now: SessionFold, note: StateNote): RecordDraft {
  const { boundaries, epochs, rewrittenAt } = now;
  const { parts = {}, tag, history = now.history, effects: places = new Map<string, PlacedEffect>() } = note;
  const waiting = now.waiting.size === 0 ? {} : { waiting: [...now.waiting.values()] };
  const inside = now.inside.size === 0 ? {} : { inside: [...now.inside] };
  const effects = new Map([...now.effects].map(([id, effect]) => [id, placed(effect, places)]));
  const outside = keptEffectsOf(effectsToKeep({ ...now, effects }));
  const counted = history === undefined ? {} : { history };
  const kept: KeptState = { parts, boundaries, epochs, rewrittenAt, ...outside, ...waiting, ...inside, ...counted };
  const blobs = onceEach([...(note.blobs ?? []), ...(outside.effectContents ?? [])], ({ name }) => name);
  return {
    kind: "checkpoint-kept",
    openCalls: [...now.openCalls].map(([callId, tool]) => ({ callId, tool })),
    state: kept as unknown as Json,
    ...(tag === undefined ? {} : { tag }),
    ...(blobs.length === 0 ? {} : { blobs }),
  };
}

/**
 * Keys are kept for ever, because what was done must not be done again. An undone effect that no boundary reaches may go:
 * its key was free. One that somebody out of reach relies on can never be undone, so its arguments may go.
 */
export function effectsToKeep({ effects, boundaries, openCalls, inside }: SessionFold): readonly FoldedEffect[] {
  const reached = new Set<string>([...boundaries.map(({ callId }) => callId), ...openCalls.keys()]);
  const isReached = (owner: string) => reached.has(owner) || reached.has(inside.get(owner) ?? owner);
  return [...effects.values()].flatMap((effect): FoldedEffect[] => {
    const { standing, owners } = effect;
    if (standing.is === "undone") return owners.some(isReached) ? [effect] : [];
    const settled = standing.is === "done" || standing.is === "not-undone";
    if (!settled || owners.every(isReached)) return [effect];
    return [withoutArguments(effect)];
  });
}

/** The kept state in a checkpoint, when it is one of ours. */
export function keptState(record: JournalEntry): KeptState | undefined {
  if (record.kind !== "checkpoint-kept") return undefined;
  const state = record.state as Partial<KeptState> | undefined;
  return state?.parts === undefined || state.epochs === undefined ? undefined : (state as KeptState);
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
      effects: effectsIn(kept),
      introduced: new Set(Object.keys(kept.parts)),
      rewrittenAt: kept.rewrittenAt ?? now.rewrittenAt,
      kept: { parts: kept.parts, ...(record.blobs === undefined ? {} : { blobs: record.blobs }) },
      ...sorted([...kept.epochs, { base: seq, changes: [] }], kept.boundaries),
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
    openCalls: new Map([...now.openCalls, [callId, tool]]),
    ...(parent === undefined ? {} : { inside: new Map([...now.inside, [callId, now.inside.get(parent) ?? parent]]) }),
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
    ...(status === "success" || (status === "canceled" && reason === INTERRUPTION)
      ? {}
      : withoutOwners(now, new Set([callId]), STANDS)),
    openCalls: without(now.openCalls, callId),
    waiting: without(now.waiting, callId),
    inside: stillInside(now, callId),
    boundaries: closedTogether(now, {
      callId,
      tool,
      status,
      before: beforeClosing(now, callId, seq),
      after: seq,
      rewound: false,
    }),
  }),
  "state-changed": (now, { callId, introduces }, seq) => ({
    ...now,
    introduced: introduces === undefined ? now.introduced : now.introduced.union(new Set(namesIn(introduces))),
    epochs: now.epochs.with(-1, withChange(now.epochs.at(-1) as Epoch, seq)),
    boundaries: callId === undefined ? now.boundaries : reachingTo(now.boundaries, callId, seq),
  }),
  "boundary-crossed": (now, { cut }, seq) => (cut === undefined ? now : { ...now, rewrittenAt: seq }),
  rewound: (before, { to, scope }, seq) => {
    const now = scope.includes("conversation") ? { ...before, rewrittenAt: seq } : before;
    if (!scope.includes("state")) return now;
    const gone = new Set<string>(now.boundaries.filter(({ after }) => after > to).map(({ callId }) => callId));
    return {
      ...now,
      boundaries: now.boundaries.map((one) => (one.after > to ? { ...one, rewound: true } : one)),
      ...withoutOwners(now, gone),
    };
  },
  // A fork inherits effects and never undoes them: nobody here relies on them.
  forked: (now) => ({
    ...now,
    effects: new Map([...now.effects].map(([id, effect]) => [id, inherited(effect)])),
  }),
  "effect-opened": (now, { tool, name, key, callId, args, generation }) => {
    const entry = { tool, name, key, callId, args, generation };
    return withEffect(now, entry, () => ({ entry, standing: { is: "open" }, owners: [callId] }));
  },
  "effect-done": (now, record) =>
    withEffect(now, record, (known) => {
      const { result } = record;
      // Of one whose beginning is lost nobody knows who relies on it.
      const isWanted = known.owners.length > 0 || known.entry.callId === "";
      return { ...known, standing: isWanted ? { is: "done", result } : { is: "undoing", result, begun: false } };
    }),
  "effect-joined": (now, record) =>
    withEffect(now, record, ({ standing, owners, ...known }) => ({
      ...known,
      // A rewind had come to others first, and it is wanted again: nobody had begun to undo it.
      standing: standing.is === "undoing" && !standing.begun ? { is: "done", result: standing.result } : standing,
      owners: [...(standing.is === "done" && owners.length === 0 ? [SOMEBODY_ELSE] : owners), record.callId],
    })),
  "effect-undone": (now, record) =>
    withEffect(now, record, (known) => ({ ...known, standing: undoneStanding(known, record) })),
};

/** Why a call was closed that a crash had cut off: what it did outside is told, and nobody takes it for unwanted. */
export const INTERRUPTION = "interrupted";

function historyOf({ history }: { readonly history?: number }, more = 0): { readonly history?: number } {
  return history === undefined ? {} : { history: history + more };
}

/** What a call changed is written right after its end: its boundary, and those of calls inside it, reach there. */
function reachingTo(boundaries: readonly ToolBoundary[], callId: CallId, seq: number): readonly ToolBoundary[] {
  const found = boundaries.findLast((one) => one.callId === callId && !one.rewound);
  if (found === undefined) return boundaries;
  return boundaries.map((one) => (one.after === found.after ? { ...one, after: seq } : one));
}

/**
 * Calls inside a call happened with it, or did not. Whoever returned to between their ends would find calls that succeeded,
 * and nothing of what they changed.
 */
function closedTogether({ boundaries }: SessionFold, closed: ToolBoundary): readonly ToolBoundary[] {
  const { before, after } = closed;
  return [...boundaries.map((one) => (one.before >= before ? { ...one, before, after } : one)), closed];
}

/** Calls inside it are closed right before it: who returns to before it returns to before them. */
function beforeClosing({ boundaries, inside }: SessionFold, callId: CallId, seq: number): number {
  let before = seq - 1;
  for (const inner of boundaries.toReversed()) {
    if (inner.after !== before || inside.get(inner.callId) !== callId) break;
    before = inner.before;
  }
  return before;
}

function stillInside({ inside, effects }: SessionFold, callId: CallId): SessionFold["inside"] {
  if (!inside.values().some((outermost) => outermost === callId)) return inside;
  const owners = new Set(effects.values().flatMap((effect) => effect.owners));
  return new Map([...inside].filter(([inner, outermost]) => outermost !== callId || owners.has(inner)));
}

function without<T>(calls: ReadonlyMap<CallId, T>, callId: CallId): ReadonlyMap<CallId, T> {
  return calls.has(callId) ? new Map([...calls].filter(([open]) => open !== callId)) : calls;
}

/**
 * What the oldest boundary needs, and never less than the epoch before the newest: if the newest checkpoint is damaged,
 * the state can still be built.
 */
function sorted(epochs: readonly Epoch[], boundaries: readonly ToolBoundary[]): Pick<SessionFold, "epochs" | "stale"> {
  const oldest = boundaries.find(({ rewound }) => !rewound)?.before ?? Number.POSITIVE_INFINITY;
  const serving = epochs.findLastIndex(({ base }) => base <= oldest);
  const needless = Math.max(0, Math.min(serving, epochs.length - 2));
  const from = needless < STALE_AT_ONCE ? 0 : needless;
  return { epochs: epochs.slice(from), stale: epochs.slice(0, from) };
}

function namesIn(introduces: Json): readonly string[] {
  return Object.keys((introduces ?? {}) as object);
}

function withChange({ base, changes }: Epoch, seq: number): Epoch {
  return { base, changes: [...changes, seq] };
}

function withEffect(
  now: SessionFold,
  about: Pick<EffectEntry, "tool" | "name" | "key" | "generation">,
  change: (known: FoldedEffect) => FoldedEffect,
): SessionFold {
  const { tool, name, key, generation } = about;
  const id = effectId(about);
  const lost: FoldedEffect = {
    entry: { tool, name, key, generation, callId: "", args: null },
    standing: { is: "open" },
    owners: [],
  };
  const next = change(now.effects.get(id) ?? lost);
  // Late news of one that was undone, and done anew since, says nothing of the newer one.
  return next.entry.generation > generation ? now : { ...now, effects: new Map([...now.effects, [id, next]]) };
}

/**
 * Calls that were taken back rely on nothing. What only they relied on is as good as undone from here on: a process that
 * dies before it has done so leaves that to the next.
 */
function withoutOwners(
  { effects, inside }: SessionFold,
  gone: ReadonlySet<string>,
  which: (effect: FoldedEffect) => boolean = () => true,
): Pick<SessionFold, "effects"> {
  if (effects.size === 0) return { effects };
  return {
    effects: new Map([...effects].map(([id, effect]) => [id, which(effect) ? released(effect, gone, inside) : effect])),
  };
}

/** Done, or about to be. What was undone remembers whose it was, as long as a boundary of theirs can be returned to. */
const STANDS = ({ standing }: FoldedEffect): boolean => standing.is === "done" || standing.is === "open";

function released(effect: FoldedEffect, gone: ReadonlySet<string>, inside: SessionFold["inside"]): FoldedEffect {
  const owners = effect.owners.filter((owner) => !gone.has(owner) && !gone.has(inside.get(owner) ?? owner));
  if (owners.length === effect.owners.length) return effect;
  const { standing } = effect;
  if (owners.length > 0 || standing.is !== "done") return { ...effect, owners };
  return { ...effect, owners, standing: { is: "undoing", result: standing.result, begun: false } };
}

/** Whether the origin has undone it by now is not known here. */
function inherited(effect: FoldedEffect): FoldedEffect {
  const standing: Standing = effect.standing.is === "undoing" ? { is: "unknown" } : effect.standing;
  return { ...effect, standing, owners: [] };
}

/** Also what is told twice, because nobody knew whether the first time was written. */
function undoneStanding(
  { standing }: FoldedEffect,
  { how, detail = "" }: { readonly how: UndoStage; readonly detail?: string },
): Standing {
  if (how === "undone") return { is: "undone" };
  if (!("result" in standing)) return standing.is === "undone" ? standing : { is: "unknown" };
  const { result } = standing;
  return how === "undoing" ? { is: "undoing", result, begun: true } : { is: "not-undone", result, detail };
}
