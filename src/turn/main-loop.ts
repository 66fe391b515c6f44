import { nameOfBytes } from "../records/blob-name.ts";
import { instantOf } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import type { Bytes } from "../contracts/blob-store.ts";
import type { JournalEntry } from "../journal/prove.ts";
import { type BlobName, toSessionId } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";
import { ExecutionState } from "../state/execution-state.ts";
import { closingOf } from "../transaction/outcome.ts";
import type { Tool } from "../transaction/tool.ts";
import { Transactions } from "../transaction/transactions.ts";
import { INITIAL_CATALOG } from "../catalog/state.ts";
import { Conversation } from "./conversation.ts";
import { decideIn } from "./decide.ts";
import type { RunEnd, RunEvent } from "./events.ts";
import { type Ground, grounds, refuseRunning } from "./ground.ts";
import { runTurn } from "./run.ts";
import type { RunOptions } from "./run-options.ts";
import type { UserInput } from "./said-records.ts";
import { SessionContext } from "./session-context.ts";
import { type CatalogHome, SessionCatalog } from "./session-catalog.ts";
import { Story } from "./story.ts";

/** Options of `MainLoop`: those of `session.run`, and the tools. */
export interface MainLoopOptions extends Omit<RunOptions, "signal"> {
  /** The tools offered to the model. Default: none. */
  readonly tools?: readonly Tool[];
}

/** What `MainLoop.execute` returns. */
export interface Executed {
  /** The state the turn ran on. Pass it again to go on with its conversation. */
  readonly state: ExecutionState;
  /** How the turn ended. */
  readonly end: RunEnd;
}

/**
 * The seed's loop. It runs turns on a state that need not outlive the process: the same walk as in a session, with the
 * log in memory. Given a session's own state, it runs durably, as `session.run` does.
 */
export class MainLoop {
  readonly #options: RunOptions;
  readonly #tools: readonly Tool[];

  constructor({ tools = [], ...options }: MainLoopOptions) {
    this.#options = options;
    this.#tools = tools;
  }

  /** Runs one turn on `state`, or on a new one. With a state that was used before, the conversation goes on. */
  async execute(
    input: UserInput,
    how: {
      readonly state?: ExecutionState;
      readonly signal?: AbortSignal;
      readonly onEvent?: (event: RunEvent) => void;
    } = {},
  ): Promise<Executed> {
    const { state = ExecutionState.create(), signal, onEvent } = how;
    const ground = groundOf(state);
    refuseRunning(ground);
    bring(ground, this.#tools);
    const turn = runTurn(ground, input, { ...this.#options, ...(signal === undefined ? {} : { signal }) });
    return { state, end: await finished(turn, onEvent) };
  }
}

/** Runs a turn to its end, for callers who do not iterate over it. If `onEvent` throws, the turn is stopped. */
export async function finished(
  turn: AsyncGenerator<RunEvent, RunEnd, undefined>,
  onEvent?: (event: RunEvent) => void,
): Promise<RunEnd> {
  try {
    for (;;) {
      const next = await turn.next();
      if (next.done === true) return next.value;
      onEvent?.(next.value);
    }
  } finally {
    await turn.return(undefined as never); // nothing is left to do for a turn that is over
  }
}

/** What the last loop brought to a ground, by name, and what stood there before it. */
const brought = new WeakMap<Ground, ReadonlyMap<string, { readonly tool: Tool; readonly before: Tool | undefined }>>();

/** A loop's tools are its own: those of the loop before it go first, and what they had stood in the place of comes back. */
function bring(ground: Ground, tools: readonly Tool[]): void {
  const { transactions, story } = ground;
  story.catalog.refuseReserved(tools);
  for (const [name, { tool, before }] of brought.get(ground) ?? []) {
    if (transactions.tool(name) !== tool) continue; // somebody else has changed it since
    if (before === undefined) transactions.remove([name]);
    else transactions.add([before]);
  }
  brought.set(ground, new Map(tools.map((tool) => [tool.name, { tool, before: transactions.tool(tool.name) }])));
  transactions.add(tools);
}

function groundOf(state: ExecutionState): Ground {
  const known = grounds.get(state);
  if (known !== undefined) return known;
  const ground = inMemory(state);
  grounds.set(state, ground);
  return ground;
}

const WAITING: ReadonlySet<JournalEntry["kind"]> = new Set(["call-waiting", "approval-given", "call-closed"]);

function inMemory(state: ExecutionState): Ground {
  const { clock } = state;
  const entries: JournalEntry[] = [];
  const contents = new Map<BlobName, Bytes>();
  const append = (drafts: readonly RecordDraft[]) => {
    for (const draft of drafts) entries.push({ ...draft, seq: entries.length + 1, at: instantOf(clock) });
  };
  const transactions = Transactions.of(state);
  let catalog = INITIAL_CATALOG;
  const home: CatalogHome = {
    get state() {
      return catalog;
    },
    change: async (next) => {
      const { to, drafts } = next(catalog);
      append(drafts);
      catalog = to;
    },
  };
  const decide = decideIn(state, async (drafts) => append(drafts));
  return {
    id: toSessionId(`state-${state.ids.next()}`),
    state,
    transactions,
    conversation: new Conversation(),
    context: new SessionContext(state),
    story: new Story(state, new SessionCatalog(home, transactions)),
    signal: undefined,
    get head() {
      return entries.length;
    },
    rewrittenAt: 0, // nobody else writes it, so nothing is taken back under a turn
    readOn: (from) => entries.slice(from - 1),
    stage: async (bytes) => {
      const ref = { name: nameOfBytes(bytes), size: bytes.length };
      contents.set(ref.name, Uint8Array.from(bytes));
      return { ref };
    },
    write: (drafts, events = []) => decide(() => ({ drafts, events, answer: undefined })),
    decide,
    waits: (callId) => {
      const about = entries.findLast(
        (entry) => WAITING.has(entry.kind) && "callId" in entry && entry.callId === callId,
      );
      return about?.kind === "call-waiting";
    },
    replies: new Map(),
    running: false,
    async *content(name) {
      const bytes = contents.get(name);
      if (bytes === undefined) throw new HoldfastError("BLOB_MISSING", { name });
      yield bytes;
    },
    closed: (outcome) => {
      const { contents: brought = [], ...closing } = closingOf(outcome);
      for (const { name, bytes } of brought) contents.set(name, bytes);
      append([{ kind: "call-closed", ...closing } as RecordDraft]);
    },
  };
}
