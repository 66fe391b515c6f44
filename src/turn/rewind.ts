import { HoldfastError } from "../base/errors.ts";
import { WORKSPACE_PART } from "../files/host/part.ts";
import type { CallId } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import type { RootDelta } from "../state/part.ts";
import type { RestorePlan } from "../state/restore.ts";
import type { CompositeSnapshot } from "../state/snapshot.ts";
import type { EffectReport } from "../transaction/effect.ts";
import type { Transactions } from "../transaction/transactions.ts";
import type { BoundarySide, SessionCheckpoints } from "./checkpoints.ts";
import { catalogDrafts } from "./catalog-part.ts";
import type { JournalLedger } from "./journal-ledger.ts";
import { type WaitingCall, unansweredOf } from "./waiting.ts";
import { filesReport, type RewoundFiles, type WayBack, wayBack } from "./rewind-files.ts";
import type { SessionCatalog } from "./session-catalog.ts";

export type RewindScope = "state" | "files" | "conversation";

export type RewindTarget = { readonly before: string } | { readonly after: string };

export type RewindOptions = RewindTarget & {
  /** Default `all`. */
  readonly scope?: RewindScope | "all" | readonly RewindScope[];
  /** Say exactly what would happen, and do nothing. */
  readonly dryRun?: boolean;
};

/** What a rewind did, or would do. */
export interface RewindReport {
  readonly done: boolean;
  readonly to: number;
  readonly scope: readonly RewindScope[];
  /** Changes of slices and files, as data. */
  readonly delta: RootDelta;
  /** Calls that are taken back, oldest first. */
  readonly calls: readonly CallId[];
  /** What was done outside by them, newest first, and what became of it. */
  readonly effects: readonly EffectReport[];
  /** What happens in the workspace, path by path, when the session has one. */
  readonly files?: RewoundFiles;
  /** Sub-agents that had worked for these calls. */
  readonly agents?: readonly AgentReturn[];
}

/** What became of a sub-agent's work when the call it was done for was taken back. */
export interface AgentReturn {
  readonly callId: string;
  readonly session: string;
  /** What its own rewind did, or would do; nothing when it had done nothing. */
  readonly rewound?: RewindReport;
  /** Why it could not be taken back. */
  readonly why?: string;
}

export interface RewindGround {
  readonly state: ExecutionState;
  readonly transactions: Transactions;
  readonly checkpoints: SessionCheckpoints;
  readonly ledger: JournalLedger;
  readonly catalog: SessionCatalog;
  /** Calls that wait for somebody. A conversation that is taken back asks nobody. */
  readonly waiting: readonly WaitingCall[];
}

const ALL: readonly RewindScope[] = ["state", "files", "conversation"];
const FILES: ReadonlySet<string> = new Set(["files", WORKSPACE_PART]);
/** Somebody who keeps saving while files return is met so often; then the rewind is refused, with nothing changed. */
const ATTEMPTS = 5;

/**
 * Goes back to a tool boundary. Written down first, true afterwards; the journal keeps everything and gains one record.
 * Effects outside are undone last, newest first, and what cannot be undone is reported.
 */
export async function rewind(ground: RewindGround, options: RewindOptions): Promise<RewindReport> {
  const { state, transactions, checkpoints, ledger } = ground;
  const { callId, side } = targetOf(options);
  const mayRewind = () => {
    if (transactions.pending.length > 0) throw new HoldfastError("CALLS_OPEN", { calls: [...transactions.pending] });
    return checkpoints.boundary(callId);
  };
  const boundary = mayRewind();
  const to = boundary[side];
  const scope = scopeOf(options.scope);
  const snapshot = await checkpoints.snapshot(callId, side);
  const takenBack = () =>
    checkpoints
      .list()
      .filter((one) => one.after > to && !one.rewound)
      .map((one) => one.callId);
  let calls = takenBack();
  const how = {
    slices: partsIn(state, scope),
    resources: scope.includes("state") ? resourcesFor(state, snapshot) : [],
  };
  const record: RecordDraft = { kind: "rewound", to, scope, callId: boundary.callId, side };
  const closed = scope.includes("conversation")
    ? ground.waiting.map((call) => unansweredOf(call, "The session was taken back to before this."))
    : [];
  const report = async (
    { change }: RestorePlan,
    way: WayBack,
    effects: readonly EffectReport[],
    done: boolean,
  ): Promise<RewindReport> => {
    const said = { done, to, scope, delta: change.delta, calls, effects };
    return way.plan === undefined ? said : { ...said, files: await filesReport(state, way.plan, done) };
  };
  const undoable = () => (scope.includes("state") ? calls : []);
  const back = () => (scope.includes("files") ? wayBack(state, snapshot) : Promise.resolve({ snapshot }));
  if (options.dryRun === true) {
    const way = await back();
    return report(state.planRestore(way.snapshot, how), way, transactions.effects.planUndo(undoable()), false);
  }
  for (let attempt = 1; ; attempt += 1) {
    const way = await back();
    try {
      const plan = await state.restore(way.snapshot, {
        ...how,
        // Asked again when its turn has come: another rewind, or a call, may have been faster.
        admit: () => {
          mayRewind();
          calls = takenBack();
        },
        decide: ({ change }) =>
          ledger.write([...closed, record, ...catalogDrafts(ground.catalog, change)], change, "rewound"),
      });
      return await report(plan, way, await transactions.undoEffects(undoable()), true);
    } catch (error) {
      // A file was saved between the look and the return: look again.
      if (!HoldfastError.is(error, "FILE_CONFLICT") || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Also those that were first used after the boundary, whichever process that was. */
function resourcesFor(state: ExecutionState, { resources }: CompositeSnapshot): readonly string[] {
  return [...new Set([...state.exclusive.origins.keys(), ...resources.keys()])];
}

export function targetOf(target: RewindTarget): { readonly callId: string; readonly side: BoundarySide } {
  return "before" in target ? { callId: target.before, side: "before" } : { callId: target.after, side: "after" };
}

function scopeOf(scope: RewindOptions["scope"] = "all"): readonly RewindScope[] {
  if (scope === "all") return ALL;
  return typeof scope === "string" ? [scope] : ALL.filter((one) => scope.includes(one));
}

function partsIn(state: ExecutionState, scope: readonly RewindScope[]): readonly string[] {
  return [...state.truth.parts.keys()].filter((name) => scope.includes(FILES.has(name) ? "files" : "state"));
}
