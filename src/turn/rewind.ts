import { HoldfastError } from "../base/errors.ts";
import { checkJson } from "../base/json.ts";
import {
  badOption,
  BOOLEAN,
  checkOptions,
  either,
  type OptionRule,
  type OptionRules,
  oneOf,
  TEXT,
} from "../base/options.ts";
import type { CallId } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import type { RootDelta } from "../state/part.ts";
import type { RestoreOptions, RestorePlan } from "../state/restore.ts";
import type { CompositeSnapshot } from "../state/snapshot.ts";
import type { EffectReport } from "../transaction/effect.ts";
import type { Transactions } from "../transaction/transactions.ts";
import type { BoundarySide, SessionCheckpoints } from "./checkpoints.ts";
import { catalogDrafts } from "./catalog-part.ts";
import type { JournalLedger } from "./journal-ledger.ts";
import { FILE_PARTS } from "./kernel-parts.ts";
import { type Ground, refuseRunning } from "./ground.ts";
import { withoutReply } from "./reply.ts";
import { type WaitingCall, unansweredOf } from "./waiting.ts";
import { filesReport, lookingAgain, type RewoundFiles, type WayBack, wayBack } from "./rewind-files.ts";
import type { SessionCatalog } from "./session-catalog.ts";

/** What a rewind can take back. */
export type RewindScope = "state" | "files" | "conversation";

/** A tool boundary, by the id of its call: the moment before or after it. */
export type RewindTarget = { readonly before: string } | { readonly after: string };

/** What may stand in one's place before it is looked at. */
interface AnyTarget {
  readonly before?: string;
  readonly after?: string;
}

/** Options of `session.rewind`: `before` or `after` the id of a call, and how. */
export type RewindOptions = RewindTarget & {
  /** What to take back. Default `all`. */
  readonly scope?: RewindScope | "all" | readonly RewindScope[];
  /** Reports exactly what would happen, and does nothing. Default false. */
  readonly dryRun?: boolean;
};

/** What a rewind did, or would do. */
export interface RewindReport {
  /** False for a dry run. */
  readonly done: boolean;
  /** Sequence number of the record that the session goes back to. */
  readonly to: number;
  readonly scope: readonly RewindScope[];
  /** The changes to slices and files, as data. */
  readonly delta: RootDelta;
  /** The calls that are taken back, oldest first. */
  readonly calls: readonly CallId[];
  /** What these calls did outside, newest first, and what became of it; in a dry run, with a `detail` where it cannot be undone. */
  readonly effects: readonly EffectReport[];
  /** What happens in the workspace, path by path, if the session has one. */
  readonly files?: RewoundFiles;
  /** What becomes of the work of sub-agents that worked for these calls. */
  readonly agents?: readonly AgentReturn[];
}

/** What became of a sub-agent's work when the call it worked for was taken back. */
export interface AgentReturn {
  /** The call it worked for. */
  readonly callId: string;
  /** The sub-agent's session. */
  readonly session: string;
  /** What the rewind of its session did, or would do. Absent when the sub-agent had done nothing. */
  readonly rewound?: RewindReport;
  /** Why its work could not be taken back, or not all of it. */
  readonly why?: string;
}

/** What planning a rewind needs: nothing that could write. */
export interface PlanGround {
  readonly state: ExecutionState;
  readonly transactions: Transactions;
  readonly checkpoints: SessionCheckpoints;
}

export interface RewindGround extends PlanGround {
  readonly ledger: JournalLedger;
  readonly catalog: SessionCatalog;
  /** Calls that wait for somebody. A conversation that is taken back asks nobody. */
  readonly waiting: () => readonly WaitingCall[];
  /** Calls after a record whose sub-agents' work goes with the files, whichever rewind takes the calls themselves. */
  readonly agentCalls: (to: number) => Promise<readonly CallId[]>;
  readonly turn: Pick<Ground, "id" | "running" | "waits" | "replies">;
}

const ALL: readonly RewindScope[] = ["state", "files", "conversation"];
const ONE: OptionRule = oneOf(...ALL);

/** A misspelt `dryRun` would go back, and of a misspelt scope nothing would. */
const REWIND_OPTIONS: OptionRules<AnyTarget & Omit<RewindOptions, keyof AnyTarget>> = {
  before: TEXT,
  after: TEXT,
  scope: either(oneOf(...ALL, "all"), {
    wants: `a list of ${ONE.wants}`,
    fits: (value) => Array.isArray(value) && value.length > 0,
    each: ONE,
  }),
  dryRun: BOOLEAN,
};

/** Where a rewind goes, and what goes with it. */
interface Aim {
  readonly to: number;
  readonly scope: readonly RewindScope[];
  readonly record: Extract<RecordDraft, { readonly kind: "rewound" }>;
  /** Throws when it may not happen, or not any more. */
  readonly mayRewind: () => void;
  /** Calls that are taken back, as of now. */
  readonly calls: () => readonly CallId[];
  /** Those of them whose effects go, too. */
  readonly undone: () => readonly CallId[];
  readonly back: () => Promise<WayBack>;
  readonly how: Pick<RestoreOptions, "slices" | "resources">;
}

/** What a rewind would do. It looks at the disk and changes nothing, anywhere. */
export async function planRewind(ground: PlanGround, options: RewindOptions): Promise<RewindReport> {
  checkOptions(options, REWIND_OPTIONS);
  const { state, transactions } = ground;
  const aim = await aimAt(ground, options);
  const way = await aim.back();
  const plan = state.planRestore(way.snapshot, aim.how);
  const fits = checkJson(plan.change.delta);
  if (!fits.ok && fits.error.kind === "too-large") throw tooLarge(aim);
  return reportOf(ground, aim, plan, way, transactions.planUndo(aim.undone()), false);
}

/**
 * Goes back to a tool boundary. Written down first, true afterwards; the journal keeps everything and gains one record.
 * Effects outside are undone last, newest first, and what cannot be undone is reported.
 */
export async function rewind(ground: RewindGround, options: RewindOptions): Promise<RewindReport> {
  checkOptions(options, REWIND_OPTIONS);
  if (options.dryRun === true) return planRewind(ground, options);
  const aim = await aimAt(ground, options);
  if (!aim.scope.includes("conversation")) return goBack(ground, aim, []);
  const { turn, waiting } = ground;
  // What somebody has replied to runs, or is about to.
  if (turn.replies.size > 0) throw new HoldfastError("CALLS_OPEN", { calls: [...turn.replies.keys()] });
  return withoutReply(turn, waiting(), (unanswered) => goBack(ground, aim, unanswered.map(takenBack)));
}

function takenBack(call: WaitingCall): RecordDraft {
  return unansweredOf(call, "The session was taken back to before this.");
}

async function goBack(ground: RewindGround, aim: Aim, closed: readonly RecordDraft[]): Promise<RewindReport> {
  const { state, transactions, ledger } = ground;
  let [calls, undone] = [aim.calls(), aim.undone()];
  const [plan, way] = await lookingAgain(async () => {
    const back = await aim.back();
    const restored = await state.restore(back.snapshot, {
      ...aim.how,
      // Asked again when its turn has come: another rewind, a call or a turn may have been faster.
      admit: () => {
        refuseRunning(ground.turn);
        aim.mayRewind();
        [calls, undone] = [aim.calls(), aim.undone()];
      },
      // With the record: whoever dies before their work is taken back leaves that to the next opening.
      decide: async ({ change }) => {
        const agents = aim.scope.includes("files") ? await ground.agentCalls(aim.to) : [];
        const record = agents.length === 0 ? aim.record : { ...aim.record, agents };
        const drafts = [...closed, record, ...catalogDrafts(ground.catalog, change)];
        await ledger.write(drafts, change, "rewound").catch((error: unknown) => {
          throw HoldfastError.is(error, "VALUE_TOO_LARGE") ? tooLarge(aim, error) : error;
        });
      },
    });
    return [restored, back] as const;
  });
  const then = { ...aim, calls: () => calls };
  return reportOf(ground, then, plan, way, await transactions.undoEffects(undone), true);
}

/** A change is one record, and may bring back what many calls had built up. */
function tooLarge({ to, record: { callId } }: Aim, cause?: unknown): HoldfastError {
  return new HoldfastError("REWIND_TOO_LARGE", { call: callId, to }, cause === undefined ? {} : { cause });
}

async function aimAt({ state, transactions, checkpoints }: PlanGround, options: RewindOptions): Promise<Aim> {
  const { callId, side } = targetOf(options);
  const mayRewind = () => {
    if (transactions.pending.length > 0) throw new HoldfastError("CALLS_OPEN", { calls: [...transactions.pending] });
    return checkpoints.boundary(callId);
  };
  const boundary = mayRewind();
  const to = boundary[side];
  const scope = scopeOf(options.scope);
  const snapshot = await checkpoints.snapshot(callId, side);
  const calls = () =>
    checkpoints
      .list()
      .filter((one) => one.after > to && !one.rewound)
      .map((one) => one.callId);
  return {
    to,
    scope,
    record: { kind: "rewound", to, scope, callId: boundary.callId, side },
    mayRewind,
    calls,
    undone: () => (scope.includes("state") ? calls() : []),
    back: () => (scope.includes("files") ? wayBack(state, snapshot) : Promise.resolve({ snapshot })),
    how: {
      slices: partsIn(state, scope),
      resources: scope.includes("state") ? resourcesFor(state, snapshot) : [],
    },
  };
}

async function reportOf(
  { state }: PlanGround,
  { to, scope, calls }: Aim,
  { change }: RestorePlan,
  way: WayBack,
  effects: readonly EffectReport[],
  done: boolean,
): Promise<RewindReport> {
  const said = { done, to, scope, delta: change.delta, calls: calls(), effects };
  return way.plan === undefined ? said : { ...said, files: await filesReport(state, way.plan, done) };
}

/** Also those that were first used after the boundary, whichever process that was. */
function resourcesFor(state: ExecutionState, { resources }: CompositeSnapshot): readonly string[] {
  return [...new Set([...state.exclusive.origins.keys(), ...resources.keys()])];
}

export function targetOf(target: RewindTarget): { readonly callId: string; readonly side: BoundarySide } {
  const { before, after }: AnyTarget = target;
  if (after === undefined && before !== undefined) return { callId: before, side: "before" };
  if (before === undefined && after !== undefined) return { callId: after, side: "after" };
  throw badOption("before", before, "the id of a call, either here or in after");
}

function scopeOf(scope: RewindOptions["scope"] = "all"): readonly RewindScope[] {
  if (scope === "all") return ALL;
  return typeof scope === "string" ? [scope] : ALL.filter((one) => scope.includes(one));
}

function partsIn(state: ExecutionState, scope: readonly RewindScope[]): readonly string[] {
  return [...state.truth.parts.keys()].filter((name) => scope.includes(FILE_PARTS.includes(name) ? "files" : "state"));
}
