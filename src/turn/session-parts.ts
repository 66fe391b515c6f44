import { badOption, type OptionRules, TEXT } from "../base/options.ts";
import type { Store } from "../contracts/store.ts";
import type { ExecHost } from "../exec/commands.ts";
import type { Journal } from "../journal/journal.ts";
import type { CallId } from "../records/ids.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import type { ToolCall } from "../transaction/call-world.ts";
import type { Transactions } from "../transaction/transactions.ts";
import type { EffectBlobs } from "./effect-blobs.ts";
import type { SessionFold } from "./fold.ts";
import type { ForkWorkspace } from "./fork-files.ts";
import type { JournalLedger } from "./journal-ledger.ts";
import type { PartBlobs } from "./part-blobs.ts";
import type { Recovered } from "./recover.ts";
import type { AgentReturn } from "./rewind.ts";
import type { SessionContext } from "./session-context.ts";
import type { SessionFiles } from "./session-files.ts";
import type { Shelves } from "./shelves.ts";
import type { Story } from "./story.ts";
import type { Teller } from "./teller.ts";
import type { Upkeep } from "./upkeep.ts";
import type { Workspaces } from "./workspaces.ts";
import type { WritebackOptions } from "./writeback.ts";

/** The work of sub-agents, for when the calls that they worked for are taken back. */
export interface AgentsOf<S> {
  /** Those of these calls that sub-agents have worked for. */
  workedFor(calls: readonly CallId[]): Promise<readonly CallId[]>;
  /** What taking back their work would do. */
  plan(session: S, calls: readonly CallId[]): Promise<readonly AgentReturn[]>;
  /** Takes back all that is still to follow the calls it was done for. What is stuck is told, and not tried again. */
  takeBack(session: S): Promise<readonly AgentReturn[]>;
}

/** What a session is made of, once it is open; `S` is the session. */
export interface SessionParts<S = unknown> {
  readonly store: Store;
  readonly journal: Journal<SessionFold>;
  readonly blobs: PartBlobs;
  readonly effectBlobs: EffectBlobs;
  readonly ledger: JournalLedger;
  readonly state: ExecutionState;
  readonly transactions: Transactions;
  readonly recovered: Recovered;
  readonly story: Story;
  readonly context: SessionContext;
  readonly workspaces: Workspaces;
  /** The durable pages that sessions share. */
  readonly shelves: Shelves;
  readonly writebackOptions?: WritebackOptions;
  readonly agents: AgentsOf<S>;
  readonly teller: Teller;
  readonly upkeep: Upkeep;
  /** Present when the session works in a folder of the system. */
  readonly files?: SessionFiles;
  /** Where its commands run, when they can. */
  readonly exec?: ExecHost;
  /** Opens a session that shares this one's records up to `after`. */
  readonly fork: (after: number, options: ForkOptions) => Promise<S>;
  /** Tells whoever opened it that it was closed. */
  readonly left: () => void;
}

/** Options of a fork. */
export interface ForkOptions {
  /** The id of the new session. */
  readonly as: string;
  /** Where the fork's files live. Without it, the fork can read the workspace but not change it. */
  readonly workspace?: ForkWorkspace;
}

/** Of a fork that begins at a tool boundary. */
export const FORK_AT_OPTIONS: OptionRules<ForkOptions & { readonly before: string; readonly after: string }> = {
  before: TEXT,
  after: TEXT,
  as: TEXT,
  workspace: TEXT,
};

/** A call to run in a session. */
export interface SessionCall {
  /** The name of the tool. */
  readonly name: string;
  /** The arguments. */
  readonly input: unknown;
  /** The provider's id for the call. */
  readonly alias?: string;
  /** The epoch of the catalog that offered the tool to the model: `aligned.catalog.epoch`, see `session.align`. */
  readonly epoch?: number;
  /** Holdfast's id for the call, if your loop has made one: see `callIdAt`. Default: a new one. */
  readonly id?: CallId;
  /** Set it to refuse the call: why it may not run, in words for the model. The call is closed as denied. */
  readonly denied?: string;
}

/** Field by field: whatever else a host's object holds is not for it to say, such as that its opening is written down. */
export function toolCallOf(call: SessionCall, made: CallId): ToolCall {
  const { id, name, input, alias, epoch, denied } = Object(call) as SessionCall;
  // A bare name would be a call of a tool that is not there, and the caller's mistake the model's.
  if (!TEXT.fits(name)) throw badOption("call.name", name, "the name of a tool, as in { name, input }");
  return {
    ...(id === undefined ? { id: made, isNew: true } : { id }),
    name,
    input,
    ...(alias === undefined ? {} : { alias }),
    ...(epoch === undefined ? {} : { epoch }),
    ...(denied === undefined ? {} : { known: { kind: "denied", message: denied } }),
  };
}
