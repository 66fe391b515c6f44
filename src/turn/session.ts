import type { AlignedPrompt } from "../alignment/align.ts";
import type { AlignmentCounters } from "../alignment/counters.ts";
import { HoldfastError } from "../base/errors.ts";
import { checkOptions } from "../base/options.ts";
import type { Mode } from "../catalog/tool.ts";
import type { Filesystem } from "../contracts/filesystem.ts";
import type { SentRequest } from "../contracts/model.ts";
import type { DriverChoice } from "../exec/choose.ts";
import { filesOf } from "../files/access.ts";
import type { HostPart } from "../files/host/session.ts";
import type { Workspace } from "../files/host/workspace.ts";
import type { CallRecord } from "../history/call-record.ts";
import { CallRecords, type Tombstone } from "../history/call-records.ts";
import type { PairedHistory } from "../history/paired.ts";
import type { CheckpointNote } from "../journal/append-options.ts";
import type { Appended, Journal } from "../journal/journal.ts";
import type { JournalEntry } from "../journal/prove.ts";
import type { ReadOptions } from "../journal/read.ts";
import { type CallId, callIdAt, type SessionId } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import { CALL_LIMITS, type CallLimits, type ToolCall } from "../transaction/call-world.ts";
import type { TakeBack } from "../transaction/call.ts";
import type { Marks } from "../transaction/marks.ts";
import type { CallOutcome } from "../transaction/outcome.ts";
import type { PendingCall } from "../transaction/pending.ts";
import type { Transactions } from "../transaction/transactions.ts";
import {
  compact,
  type CompactOptions,
  cross,
  type Crossed,
  flushed,
  prune,
  type PruneOptions,
  reset,
} from "./boundaries.ts";
import { SessionCheckpoints } from "./checkpoints.ts";
import { conversationOf } from "./conversation.ts";
import type { RunEnd, RunEvent } from "./events.ts";
import type { SessionFold } from "./fold.ts";
import { forkPoint } from "./fork-point.ts";
import { type Ground, grounds, refuseRunning } from "./ground.ts";
import { isDue, keepCheckpoint } from "./keep-checkpoint.ts";
import { Leaving } from "./leaving.ts";
import type { Recovered } from "./recover.ts";
import { isOpen, replyTo } from "./reply.ts";
import type { OpenAppendOptions } from "./reserved.ts";
import { rewind, type RewindOptions, type RewindReport, type RewindTarget } from "./rewind.ts";
import type { RunOptions } from "./run-options.ts";
import { runTurn } from "./run.ts";
import type { UserInput } from "./said-records.ts";
import type { SessionCatalog } from "./session-catalog.ts";
import type { SessionContext } from "./session-context.ts";
import { sessionGround } from "./session-ground.ts";
import {
  ALIGN_OPTIONS,
  CHECKPOINT_NOTE,
  CHECKPOINT_OPTIONS,
  type CheckpointOptions,
  CLOSE_OPTIONS,
  type CloseOptions,
  REPLY_OPTIONS,
} from "./session-options.ts";
import { FORK_AT_OPTIONS, type ForkOptions, type SessionCall, type SessionParts, toolCallOf } from "./session-parts.ts";
import { faultRecord, misaligned, type StoryOptions, type StoryRequest } from "./story.ts";
import type { Reply, WaitingCall } from "./waiting.ts";
import type { SessionWriteback } from "./writeback.ts";

/** One conversation with its state and its files, open for writing. Made by `holdfast.open`. */
export class Session implements AsyncDisposable {
  readonly id: SessionId;
  /** The session's records. */
  readonly journal: Journal<SessionFold>;
  /** The session's slices, resources and snapshots. */
  readonly state: ExecutionState;
  /** Runs calls and settles each exactly once. */
  readonly transactions: Transactions;
  /** The session's files, as they are committed. */
  readonly files: Filesystem;
  /** The tool boundaries that you can rewind to or fork from. */
  readonly checkpoints: SessionCheckpoints;
  /** What opening had to repair. */
  readonly recovered: Recovered;
  /** Which tools are offered, and which ones each request has offered. */
  readonly catalog: SessionCatalog;
  /** What the model sees of the conversation, and why. */
  readonly context: SessionContext;
  /** Rules, plans and preferences that must not be lost: staged, validated, committed. */
  readonly writeback: SessionWriteback;
  readonly #parts: SessionParts<Session>;
  /** Where this process's own calls begin: no earlier process can have used the place. */
  readonly #place: number;
  #calls = 0;
  readonly #ground: Ground;
  readonly #marks: Marks;
  readonly #leaving: Leaving;
  #closed: Promise<void> | undefined;

  constructor(parts: SessionParts<Session>) {
    this.#parts = parts;
    this.id = parts.journal.session;
    this.journal = parts.journal;
    this.state = parts.state;
    this.transactions = parts.transactions;
    this.files = filesOf(parts.state);
    this.checkpoints = new SessionCheckpoints(parts.journal, parts.state, parts.blobs);
    this.recovered = parts.recovered;
    this.catalog = parts.story.catalog;
    this.context = parts.context;
    this.#place = parts.journal.head.seq;
    this.#leaving = new Leaving(parts.journal.signal);
    const { ground, marks, writeback } = sessionGround(parts, this.#leaving);
    this.writeback = writeback;
    this.#marks = marks;
    this.#ground = ground;
    grounds.set(parts.state, ground);
    this.catalog.beforeFlip = async () => void (await flushed(ground, "mode-flip"));
  }

  /** The folder this session works in, if it has one. */
  get workspace(): Workspace | undefined {
    return this.#parts.files?.workspace;
  }

  /** How the session works in that folder: on the disk itself, on a layer above it, or reading only. */
  get filesPart(): HostPart | undefined {
    return this.#parts.files?.part;
  }

  /**
   * What protects the system from commands here, and why this was chosen. Undefined until the first command has run.
   */
  get protection(): DriverChoice | undefined {
    return this.#parts.exec?.drivers.chosen;
  }

  /** The current mode, `act` or `plan`. */
  get mode(): Mode {
    return this.catalog.mode;
  }

  /**
   * Sets the mode. `plan`: once this resolves, tools that could change something are neither offered nor run, and calls
   * that are still running commit no change. `act`: everything is offered again. It survives restarts; setting it twice
   * is fine.
   */
  async setMode(mode: Mode, reason?: string): Promise<void> {
    await this.catalog.setMode(mode, reason);
  }

  /**
   * For a host that asks the model itself: returns the receipt with the prompt's prefix and tail and the tools to
   * offer. Throws PROMPT_MISALIGNED when they do not agree even after they were rebuilt. Pass `aligned.catalog.epoch`
   * as `epoch` with the calls of the answer.
   */
  async align(options: StoryOptions & StoryRequest = {}): Promise<AlignedPrompt> {
    checkOptions(options, ALIGN_OPTIONS);
    const { story } = this.#parts;
    const alignment = await story.align(options);
    if (!alignment.ok) {
      await this.append(faultRecord("misaligned-request-refused", alignment.report));
      throw misaligned(alignment.report.afterRebuild);
    }
    const { drafts, events } = story.notesOf(alignment.aligned);
    if (drafts.length + events.length > 0) await this.#ground.write(drafts, events);
    return alignment.aligned;
  }

  /**
   * Call this just before sending. Throws PROMPT_MISALIGNED when the mode has changed or `sent` offers something else.
   */
  inspect(aligned: AlignedPrompt, sent?: SentRequest): void {
    this.#parts.story.inspect(aligned, sent);
  }

  /** Counts what the checks before requests have found so far. */
  get alignment(): AlignmentCounters {
    return this.#parts.story.counters;
  }

  /** Ids of the calls that are open. */
  get openCalls(): readonly CallId[] {
    return [...this.journal.folded.openCalls.keys()];
  }

  /** Runs one tool call as a transaction, durable when this resolves. It asks nobody for consent: that is up to you. */
  async runTool(call: SessionCall, limits?: CallLimits): Promise<CallOutcome> {
    const named = this.#named(call);
    return this.#kept(() => this.transactions.run(named, this.#while(limits)));
  }

  /** Runs the calls of one answer side by side. The outcomes are in the order of the calls. */
  async runTools(calls: readonly SessionCall[], limits?: CallLimits): Promise<readonly CallOutcome[]> {
    const named = calls.map((call) => this.#named(call));
    return this.#kept(() => this.transactions.runAll(named, this.#while(limits)));
  }

  /**
   * Opens a call for a host that runs the tool itself. Throws CALL_REFUSED if it may not run. If it is never committed, it
   * is rolled back.
   */
  async begin(call: SessionCall, limits?: CallLimits): Promise<PendingCall> {
    const named = this.#named(call);
    return this.#kept(() => this.transactions.begin(named, this.#while(limits)));
  }

  /**
   * Runs one turn, from the user's input to the model's final answer. Iterate over its events: if you stop iterating,
   * the turn stops. With `undefined` as input it goes on from where the session stands.
   */
  async *run(input: UserInput | undefined, options: RunOptions): AsyncGenerator<RunEvent, RunEnd, undefined> {
    this.#refuseRunning();
    this.#marks.refuseLate();
    const keeping = this.#upkeep();
    if (keeping !== undefined) {
      await keeping;
      this.#refuseRunning(); // somebody else was waiting, too
    }
    return yield* this.#leaving.following(runTurn(this.#ground, input, options));
  }

  /** Calls that wait for somebody's consent or answer, whichever process opened them. */
  get waiting(): readonly WaitingCall[] {
    return [...this.journal.folded.waiting.values()];
  }

  /**
   * Replies to a waiting call, also while a turn runs. With consent the call runs now; an answer becomes its output. If
   * the turn had ended as `waiting`, go on with `run(undefined, …)`.
   */
  async reply(callId: string, reply: Reply, limits?: CallLimits): Promise<CallOutcome> {
    checkOptions(reply, REPLY_OPTIONS);
    return this.#kept(async () => {
      const call = this.waiting.find((open) => open.callId === callId);
      if (call === undefined || !isOpen(this.#ground, call))
        throw new HoldfastError("CALL_NOT_WAITING", { call: callId });
      return replyTo(this.#ground, call, reply, this.#while(limits));
    });
  }

  /**
   * Compacts the conversation: later requests show a summary instead of everything except the newest groups and the
   * user's words. Dirty pages are committed first, rules stay word for word, and pages that leave can be recalled by
   * their handles. If it fails, nothing has changed.
   */
  async compact(options?: CompactOptions): Promise<Crossed> {
    this.#refuseRunning();
    return compact(this.#ground, options);
  }

  /**
   * Later requests start over with rules, plan, preferences and one pointer to what was said. The journal keeps it all.
   */
  async reset(): Promise<Crossed> {
    this.#refuseRunning();
    return reset(this.#ground);
  }

  /** Later requests show only the newest groups, and one pointer to the rest. The journal keeps it all. */
  async prune(options?: PruneOptions): Promise<Crossed> {
    this.#refuseRunning();
    return prune(this.#ground, options);
  }

  /** Goes back to a tool boundary, in this session. Refused while a turn runs. */
  async rewind(options: RewindOptions): Promise<RewindReport> {
    this.#refuseRunning();
    const { ledger, agents } = this.#parts;
    const agentCalls = async (to: number) => agents.workedFor(await this.#stayedAfter(to));
    const report = await rewind(
      {
        state: this.state,
        transactions: this.transactions,
        checkpoints: this.checkpoints,
        ledger,
        waiting: () => this.waiting,
        agentCalls,
        turn: this.#ground,
        catalog: this.catalog,
      },
      options,
    );
    const planned = report.done || !report.scope.includes("files") ? [] : await agentCalls(report.to);
    const returned = report.done ? await agents.takeBack(this) : await agents.plan(this, planned);
    return returned.length === 0 ? report : { ...report, agents: returned };
  }

  /** Goes on from a tool boundary in a new session, `options.as`. `before` may name a call that is still running. */
  async fork(options: RewindTarget & ForkOptions): Promise<Session> {
    checkOptions(options, FORK_AT_OPTIONS, ["as"]);
    const { openCalls } = this.journal.folded;
    const { checkpoints } = this;
    const after = await forkPoint(options, { openCalls, checkpoints, read: (how) => this.read(how) });
    const forked = await this.#parts.fork(after, options);
    // The boundary may be older than the mode: going on from it must not open anything up.
    if (this.mode === "plan") await forked.setMode("plan", "it was forked from a session in plan mode");
    return forked;
  }

  /**
   * Marks where the session stands; the returned function takes it back there. For a call that this session works for.
   */
  mark(): Promise<TakeBack> {
    return this.#marks.mark();
  }

  /** The conversation as the next request is made from it: paired, and without what a rewind took back. */
  conversation(): Promise<PairedHistory> {
    return conversationOf(this.read());
  }

  /**
   * Stays the same while the conversation only grows, and changes with a rewind, a compaction or a reset. When it
   * changes, whatever a host has kept of the conversation, such as a provider's cache, is void.
   */
  get conversationVersion(): number {
    return this.journal.folded.rewrittenAt;
  }

  /**
   * One call record for each call that ended, oldest first, read from the journal: seed 002's `conversation_history`.
   */
  async callRecords(): Promise<readonly CallRecord[]> {
    return (await this.callHistory()).records;
  }

  /** Like `callRecords`, together with the tombstones of records that retention or somebody else dropped. */
  async callHistory(): Promise<{ readonly records: readonly CallRecord[]; readonly tombstones: readonly Tombstone[] }> {
    const records = new CallRecords();
    for await (const entry of this.read()) if (entry.kind !== "damaged") records.take(entry);
    return { records: records.all, tombstones: records.tombstones };
  }

  /** Appends records of what was said or what happened. Records that belong to state, files or effects are refused. */
  async append(drafts: RecordDraft | readonly RecordDraft[], options?: OpenAppendOptions): Promise<Appended> {
    const appended = await this.journal.append(drafts, options);
    if (isDue(this.journal)) await this.checkpoint().catch(this.#parts.teller.checkpointFailed);
    return appended;
  }

  /** Writes a checkpoint with the whole state. Opening reads no further back than this, and retention may cut here. */
  async checkpoint(note: Pick<CheckpointNote, "tag"> = {}, how: CheckpointOptions = {}): Promise<Appended> {
    checkOptions(note, CHECKPOINT_NOTE);
    checkOptions(how, CHECKPOINT_OPTIONS);
    const { truth } = this.state;
    return truth.gate.run(() => {
      if (how.anew === true) for (const kept of [this.#parts.blobs, this.#parts.effectBlobs]) kept.forget();
      truth.refusePoisoned(); // its root may lack what the journal has, and a checkpoint would make that true
      const { history } = how;
      return keepCheckpoint(this.#parts, truth.root, history === undefined ? note : { ...note, history });
    });
  }

  /** Reads the session's records, oldest first unless `reverse` is set. */
  read(options?: ReadOptions): AsyncIterable<JournalEntry> {
    return this.journal.read(options);
  }

  /**
   * Closes the session: cancels what is still running, commits what is dirty, puts waiting files in place, and gives up
   * the session and its folder. Refused from inside one of its own calls. Also refused, leaving the session open, when
   * something dirty cannot be committed; with `leave: "staged"` the next opening commits it instead.
   */
  async close(options: CloseOptions = {}): Promise<void> {
    checkOptions(options, CLOSE_OPTIONS);
    this.state.truth.gate.refuseInside();
    await this.#leaving.through(async () => {
      if (this.#closed !== undefined) return;
      await this.#leaving.stopAll(this.transactions, this.state.clock);
      if (options.leave === undefined) await this.#exit();
      this.#closed = this.#close();
    });
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** A session that can write no more, or has nothing to write, just ends: what is staged is in the journal. */
  async #exit(): Promise<void> {
    if (this.writeback.pending.length === 0 || this.journal.signal.aborted || this.state.poisoned) return;
    await cross(this.#ground, "exit", () => [{ kind: "boundary-crossed", boundary: "exit" }]);
  }

  async #close(): Promise<void> {
    const { files, workspaces, journal, teller, left } = this.#parts;
    this.catalog.leave();
    teller.moment("session-closed");
    try {
      await this.#parts.exec?.backgrounds.close();
      if (files === undefined) return;
      await this.state.truth.gate.run(async () => {}); // a commit under way is let through first
      await workspaces.leave(files.workspace);
    } finally {
      await journal.close().finally(left);
    }
  }

  /** Begins something when the session is within its bounds; nearly always that is at once. */
  #kept<T>(begin: () => Promise<T>): Promise<T> {
    const keeping = this.#upkeep();
    return keeping === undefined ? begin() : keeping.then(begin);
  }

  #upkeep(): Promise<void> | undefined {
    return this.#parts.upkeep.due(() => !this.#ground.running && this.transactions.pending.length === 0);
  }

  #named(call: SessionCall): ToolCall {
    this.#calls += 1;
    return toolCallOf(call, callIdAt(this.id, `host ${this.#place}`, this.#calls));
  }

  /** A writer that has lost its lease can end no call: whoever runs for it is told at once. */
  #while(limits: CallLimits = {}): CallLimits {
    checkOptions(limits, CALL_LIMITS);
    this.#leaving.refuseLate(this.id);
    this.#marks.refuseLate();
    const signal = this.#marks.heard(this.#leaving.signal);
    return { ...limits, signal: limits.signal === undefined ? signal : AbortSignal.any([limits.signal, signal]) };
  }

  /** Calls after a record whose sub-agents' work may stand: the work of a call that failed went with it. */
  async #stayedAfter(to: number): Promise<readonly CallId[]> {
    const stayed = this.checkpoints.list().filter(({ status, after }) => status === "success" && after > to);
    const first = stayed.find(({ rewound }) => rewound);
    const gone = new Set<CallId>(); // with the files; a rewind of the state alone has left it
    if (first !== undefined)
      for await (const entry of this.read({ from: first.after }))
        if (entry.kind === "rewound" && entry.scope.includes("files"))
          for (const { callId, after, rewound } of stayed)
            if (rewound && after > entry.to && after < entry.seq) gone.add(callId);
    return stayed.flatMap(({ callId }) => (gone.has(callId) ? [] : [callId]));
  }

  #refuseRunning(): void {
    this.#leaving.refuseLate(this.id);
    refuseRunning(this.#ground);
  }
}
