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
import { type Ground, grounds, refuseRunning } from "./ground.ts";
import { isDue, keepCheckpoint } from "./keep-checkpoint.ts";
import { Leaving } from "./leaving.ts";
import type { Recovered } from "./recover.ts";
import { isOpen, replyTo } from "./reply.ts";
import type { OpenAppendOptions } from "./reserved.ts";
import { rewind, type RewindOptions, type RewindReport, type RewindTarget, targetOf } from "./rewind.ts";
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

/** One conversation with its state and files, open for writing. */
export class Session implements AsyncDisposable {
  readonly id: SessionId;
  readonly journal: Journal<SessionFold>;
  readonly state: ExecutionState;
  readonly transactions: Transactions;
  readonly files: Filesystem;
  readonly checkpoints: SessionCheckpoints;
  /** What opening had to repair. */
  readonly recovered: Recovered;
  /** Which tools are offered, and to whom they were. */
  readonly catalog: SessionCatalog;
  /** What the model sees of the conversation, and why. */
  readonly context: SessionContext;
  /** What the session knows and must not lose: rules, plans, preferences. */
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

  /** The folder this session works in, when it has one. */
  get workspace(): Workspace | undefined {
    return this.#parts.files?.workspace;
  }

  /** How it works there: on the disk, above it, or only looking. */
  get filesPart(): HostPart | undefined {
    return this.#parts.files?.part;
  }

  /** What keeps commands from doing harm here, and why it is this; undefined before the first one ran. */
  get protection(): DriverChoice | undefined {
    return this.#parts.exec?.drivers.chosen;
  }

  get mode(): Mode {
    return this.catalog.mode;
  }

  /**
   * `plan`: from the moment this resolves, what could change something is neither offered nor run, and calls that are
   * still running commit no change. `act`: everything is offered again. Twice is once; it survives restarts.
   */
  async setMode(mode: Mode, reason?: string): Promise<void> {
    await this.catalog.setMode(mode, reason);
  }

  /**
   * For a host that asks the model itself: the receipt with the prompt's prefix and tail and the tools to offer. Throws
   * PROMPT_MISALIGNED when they do not agree, also not after they were built anew. Calls of the answer carry
   * `aligned.catalog.epoch`.
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

  /** In the moment of sending: throws PROMPT_MISALIGNED when the mode has changed, or `sent` offers something else. */
  inspect(aligned: AlignedPrompt, sent?: SentRequest): void {
    this.#parts.story.inspect(aligned, sent);
  }

  /** What the checks before requests have found so far. */
  get alignment(): AlignmentCounters {
    return this.#parts.story.counters;
  }

  get openCalls(): readonly CallId[] {
    return [...this.journal.folded.openCalls.keys()];
  }

  /** One tool call as a transaction, durable when it resolves. It asks nobody for consent: that is up to whoever calls it. */
  async runTool(call: SessionCall, limits?: CallLimits): Promise<CallOutcome> {
    const named = this.#named(call);
    return this.#kept(() => this.transactions.run(named, this.#while(limits)));
  }

  /** The calls of one answer, at once; their outcomes in the order of the calls. */
  async runTools(calls: readonly SessionCall[], limits?: CallLimits): Promise<readonly CallOutcome[]> {
    const named = calls.map((call) => this.#named(call));
    return this.#kept(() => this.transactions.runAll(named, this.#while(limits)));
  }

  /** For a host that runs the tool itself. Left without a commit, it is rolled back. */
  async begin(call: SessionCall, limits?: CallLimits): Promise<PendingCall> {
    const named = this.#named(call);
    return this.#kept(() => this.transactions.begin(named, this.#while(limits)));
  }

  /**
   * One turn: what the user says, to the model's last answer. Follow its events; without input it goes on from where
   * the session stands. Walking away from the events stops it.
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

  /** Ends a call's waiting, also while a turn runs: with consent it runs now. Afterwards `run` without input goes on. */
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
   * Later requests show a summary in place of everything but the newest groups and the user's words. What is dirty is
   * committed first, rules stay verbatim, and every page that leaves resolves. When it fails, everything is as it was.
   */
  async compact(options?: CompactOptions): Promise<Crossed> {
    this.#refuseRunning();
    return compact(this.#ground, options);
  }

  /** Later requests begin anew: with rules, plan and preferences, and one pointer to what was said. The journal keeps it all. */
  async reset(): Promise<Crossed> {
    this.#refuseRunning();
    return reset(this.#ground);
  }

  /** Later requests show the newest groups, and one pointer to the rest. */
  async prune(options?: PruneOptions): Promise<Crossed> {
    this.#refuseRunning();
    return prune(this.#ground, options);
  }

  /** Goes back to a tool boundary, here. */
  async rewind(options: RewindOptions): Promise<RewindReport> {
    this.#refuseRunning();
    const { ledger, agents } = this.#parts;
    const endings = new Map(this.checkpoints.list().map(({ callId, status }) => [callId, status]));
    const report = await rewind(
      {
        state: this.state,
        transactions: this.transactions,
        checkpoints: this.checkpoints,
        ledger,
        waiting: () => this.waiting,
        turn: this.#ground,
        catalog: this.catalog,
      },
      options,
    );
    // Only what had stayed: the work of a call that failed went with it.
    const calls = report.calls.filter((callId) => endings.get(callId) === "success");
    const returned = report.scope.includes("files") ? await agents(this, calls, options.dryRun === true) : [];
    return returned.length === 0 ? report : { ...report, agents: returned };
  }

  /** Goes on from a tool boundary in a new session. "Before" may name a call that is still running. */
  async fork(options: RewindTarget & ForkOptions): Promise<Session> {
    checkOptions(options, FORK_AT_OPTIONS, ["as"]);
    const { callId, side } = targetOf(options);
    const running = this.openCalls.find((open) => open === callId);
    if (running !== undefined && side === "after") throw new HoldfastError("CALLS_OPEN", { calls: [callId] });
    const after = running === undefined ? this.checkpoints.boundary(callId)[side] : (await this.#opening(running)) - 1;
    const forked = await this.#parts.fork(after, options);
    // The boundary may be older than the mode: going on from it must not open anything up.
    if (this.mode === "plan") await forked.setMode("plan", "it was forked from a session in plan mode");
    return forked;
  }

  /** Where the session stands; the answer takes it back there. For a call that has this session work for it. */
  mark(): Promise<TakeBack> {
    return this.#marks.mark();
  }

  /** What the next request tells: paired, without what was taken back. */
  conversation(): Promise<PairedHistory> {
    return conversationOf(this.read());
  }

  /**
   * Stays as it is while the conversation only grows, and is another when a rewind, a compaction or a reset made it another
   * one: what a host has kept of it, such as a provider's cache, is then void.
   */
  get conversationVersion(): number {
    return this.journal.folded.rewrittenAt;
  }

  /** One record for each call that ended, oldest first, read off the journal: seed 002's `conversation_history`. */
  async callRecords(): Promise<readonly CallRecord[]> {
    return (await this.callHistory()).records;
  }

  /** The same, with what is left of records that retention or somebody else dropped. */
  async callHistory(): Promise<{ readonly records: readonly CallRecord[]; readonly tombstones: readonly Tombstone[] }> {
    const records = new CallRecords();
    for await (const entry of this.read()) if (entry.kind !== "damaged") records.take(entry);
    return { records: records.all, tombstones: records.tombstones };
  }

  /** Records of what was said and what happened. What goes with state, files or effects is the kernel's to write. */
  async append(drafts: RecordDraft | readonly RecordDraft[], options?: OpenAppendOptions): Promise<Appended> {
    const appended = await this.journal.append(drafts, options);
    if (isDue(this.journal)) await this.checkpoint().catch(this.#parts.teller.checkpointFailed);
    return appended;
  }

  /**
   * Keeps a point, with the whole state, that retention may cut at and that opening need not read beyond.
   */
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

  read(options?: ReadOptions): AsyncIterable<JournalEntry> {
    return this.journal.read(options);
  }

  /**
   * Stops what runs here, which ends as canceled, commits what is dirty, puts files in place that still wait, and gives
   * session and folder free. Refused from inside a call of its own and, with the session still open, when something dirty
   * cannot be committed; `leave: "staged"` lets the next opening commit it.
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

  #refuseRunning(): void {
    this.#leaving.refuseLate(this.id);
    refuseRunning(this.#ground);
  }

  async #opening(callId: CallId): Promise<number> {
    for await (const entry of this.read({ reverse: true }))
      if (entry.kind === "call-opened" && entry.callId === callId) return entry.seq;
    throw new HoldfastError("CHECKPOINT_UNKNOWN", { call: callId });
  }
}
