import type { Json } from "../base/json.ts";
import type { CheckpointNote, Fold } from "../journal/journal.ts";
import type { JournalEntry } from "../journal/prove.ts";
import type { CallId } from "../records/ids.ts";
import type { BlobRef, OutputStatus, RecordDraft, UndoStage } from "../records/kinds.ts";
import { type EffectEntry, effectId, type Standing } from "../transaction/effect.ts";

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

interface FoldedEffect {
  readonly entry: EffectEntry;
  readonly standing: Standing;
  readonly owners: readonly string[];
}

/** A kept state and the changes that came after it. `base` 0 is the beginning, where every part is at its initial value. */
export interface Epoch {
  readonly base: number;
  readonly changes: readonly number[];
}

/** What travels with the chain, so that opening a session need not read further back than its newest checkpoint. */
export interface SessionFold {
  readonly openCalls: ReadonlyMap<CallId, string>;
  readonly boundaries: readonly ToolBoundary[];
  readonly effects: ReadonlyMap<string, FoldedEffect>;
  readonly epochs: readonly Epoch[];
  /** Epochs that the newest checkpoint made needless: their state may be taken out of the records. */
  readonly stale: readonly Epoch[];
}

/** What a checkpoint keeps: every part as the name of its content, and the fold up to there. */
export interface KeptState {
  readonly parts: Readonly<Record<string, { readonly name: string; readonly policy: string }>>;
  readonly boundaries: readonly ToolBoundary[];
  readonly effects: readonly FoldedEffect[];
  readonly epochs: readonly Epoch[];
}

/** How the parts of a state are handed to the record of a checkpoint. */
export interface StateNote extends CheckpointNote {
  readonly parts?: KeptState["parts"];
  readonly blobs?: readonly BlobRef[];
}

const NOTHING: SessionFold = {
  openCalls: new Map(),
  boundaries: [],
  effects: new Map(),
  epochs: [{ base: 0, changes: [] }],
  stale: [],
};

/** `limit`: how many boundaries are remembered. */
export function sessionFold(limit: number): Fold<SessionFold> {
  const step = (now: SessionFold, record: RecordDraft, seq: number): SessionFold => {
    const next = STEPS[record.kind]?.(now, record as never, seq) ?? now;
    return next.boundaries.length <= limit ? next : { ...next, boundaries: next.boundaries.slice(-limit) };
  };
  return {
    start: (tail: readonly JournalEntry[]) =>
      tail.reduce(
        (now, entry) => (entry.kind === "damaged" || entry.kind === "dropped" ? now : step(now, entry, entry.seq)),
        NOTHING,
      ),
    step,
    // A checkpoint must hold the state, and content must be durable before a record names it: the session keeps them.
    due: () => undefined,
    checkpoint: (now, note: StateNote) => {
      const { parts = {}, blobs, tag } = note;
      const { boundaries, epochs } = now;
      const kept: KeptState = { parts, boundaries, epochs, effects: [...now.effects.values()] };
      return {
        kind: "checkpoint-kept",
        openCalls: [...now.openCalls].map(([callId, tool]) => ({ callId, tool })),
        state: kept as unknown as Json,
        ...(tag === undefined ? {} : { tag }),
        ...(blobs === undefined ? {} : { blobs }),
      };
    },
  };
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
    if (kept === undefined) return { ...now, openCalls };
    return {
      openCalls,
      boundaries: kept.boundaries,
      effects: new Map(kept.effects.map((effect) => [effectId(effect.entry), effect])),
      ...sorted([...kept.epochs, { base: seq, changes: [] }], kept.boundaries),
    };
  },
  "call-opened": (now, { callId, tool }) => ({ ...now, openCalls: new Map([...now.openCalls, [callId, tool]]) }),
  "call-closed": (now, { callId, tool, status }, seq) => ({
    ...now,
    openCalls: new Map([...now.openCalls].filter(([open]) => open !== callId)),
    boundaries: [...now.boundaries, { callId, tool, status, before: seq - 1, after: seq, rewound: false }],
  }),
  "state-changed": (now, { callId }, seq) => ({
    ...now,
    epochs: now.epochs.with(-1, withChange(now.epochs.at(-1), seq)),
    boundaries: now.boundaries.map((one) => (one.callId === callId && !one.rewound ? { ...one, after: seq } : one)),
  }),
  rewound: (now, { to, scope }) => {
    if (!scope.includes("state")) return now;
    const gone = new Set<string>(now.boundaries.filter(({ after }) => after > to).map(({ callId }) => callId));
    return {
      ...now,
      boundaries: now.boundaries.map((one) => (one.after > to ? { ...one, rewound: true } : one)),
      effects: new Map([...now.effects].map(([id, effect]) => [id, without(effect, gone)])),
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
    withEffect(now, record, (known) => ({ ...known, standing: { is: "done", result: record.result } })),
  "effect-joined": (now, record) =>
    withEffect(now, record, (known) => ({ ...known, owners: [...known.owners, record.callId] })),
  "effect-undone": (now, record) =>
    withEffect(now, record, (known) => ({ ...known, standing: undoneStanding(known, record) })),
};

/**
 * What the oldest boundary needs, and never less than the epoch before the newest: if the newest checkpoint is damaged,
 * the state can still be built.
 */
function sorted(epochs: readonly Epoch[], boundaries: readonly ToolBoundary[]): Pick<SessionFold, "epochs" | "stale"> {
  const oldest = boundaries.find(({ rewound }) => !rewound)?.before ?? Number.POSITIVE_INFINITY;
  const serving = epochs.findLastIndex(({ base }) => base <= oldest);
  const from = Math.max(0, Math.min(serving, epochs.length - 2));
  return { epochs: epochs.slice(from), stale: epochs.slice(0, from) };
}

function withChange(epoch: Epoch | undefined, seq: number): Epoch {
  return { base: epoch?.base ?? 0, changes: [...(epoch?.changes ?? []), seq] };
}

function withEffect(
  now: SessionFold,
  about: Pick<EffectEntry, "tool" | "name" | "key">,
  change: (known: FoldedEffect) => FoldedEffect,
): SessionFold {
  const id = effectId(about);
  const known = now.effects.get(id) ?? {
    entry: { ...about, callId: "", args: null, generation: 0 },
    standing: { is: "open" },
    owners: [],
  };
  return { ...now, effects: new Map([...now.effects, [id, change(known as FoldedEffect)]]) };
}

/**
 * Calls that were taken back rely on nothing. What only they relied on is as good as undone from here on: a process that
 * dies before it has done so leaves that to the next.
 */
function without(effect: FoldedEffect, gone: ReadonlySet<string>): FoldedEffect {
  const owners = effect.owners.filter((owner) => !gone.has(owner));
  if (owners.length === effect.owners.length) return effect;
  const { standing } = effect;
  if (owners.length > 0 || standing.is !== "done") return { ...effect, owners };
  return { ...effect, owners, standing: { is: "undoing", result: standing.result } };
}

/** Whether the origin has undone it by now is not known here. */
function inherited(effect: FoldedEffect): FoldedEffect {
  const standing: Standing = effect.standing.is === "undoing" ? { is: "unknown" } : effect.standing;
  return { ...effect, standing, owners: [] };
}

function undoneStanding(
  { standing }: FoldedEffect,
  { how, detail = "" }: { readonly how: UndoStage; readonly detail?: string },
): Standing {
  if (how === "undone" || (standing.is !== "done" && standing.is !== "undoing")) return { is: "undone" };
  if (how === "undoing") return { is: "undoing", result: standing.result };
  return { is: "not-undone", result: standing.result, detail };
}
