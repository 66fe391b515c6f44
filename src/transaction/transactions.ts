import { HoldfastError } from "../base/errors.ts";
import { checkOptions, FUNCTION, LIST, OBJECT, type OptionRules, oneOf, whole } from "../base/options.ts";
import { unlessAborted } from "../base/unless-aborted.ts";
import type { ExecHost } from "../exec/commands.ts";
import { ExecutionState } from "../state/execution-state.ts";
import type { CompositeSnapshot } from "../state/snapshot.ts";
import { canceled, NEVER } from "./attempt.ts";
import { BUDGET } from "./budget.ts";
import { CallIds } from "./call-ids.ts";
import { PromptEvaluationError } from "./deadline.ts";
import type { Rewindable, TakeBack } from "./call.ts";
import type { EffectReport } from "./effect.ts";
import { EffectBook } from "./effects.ts";
import { endingOfThrown } from "./ending.ts";
import { attemptUntilAccepted } from "./guardrails.ts";
import { type Ledger, NO_LEDGER } from "./ledger.ts";
import { CALL_LIMITS, type CallLimits, type CallWorld, specsOf, type ToolCall } from "./call-world.ts";
import { OpenCall } from "./open-call.ts";
import type { CallOutcome } from "./outcome.ts";
import { PendingCall } from "./pending.ts";
import type { ToolPolicy } from "./policy.ts";
import { Marks } from "./marks.ts";
import { Semaphore } from "./semaphore.ts";
import { settle } from "./settle.ts";
import { Barrier } from "./barrier.ts";
import type { Tool } from "./tool.ts";

/** Options of `Transactions`. */
export interface TransactionOptions {
  /** The tools that calls may name. Default: none. */
  readonly tools?: readonly Tool[];
  /** Where calls are written down. Default: nowhere, for state that need not outlive the process. */
  readonly ledger?: Ledger;
  /** Rules about which calls may run. Default: none. */
  readonly policies?: readonly ToolPolicy[];
  /** How many calls may run at once. Default 8. */
  readonly parallel?: number;
  /** `settle` (default): calls commit as they finish. `call`: in the order of opening, so that runs are identical. */
  readonly commitOrder?: "settle" | "call";
  /** Called with the outcome of every call. If it throws, nothing changes; see `onTelemetryFailure`. */
  readonly observe?: (outcome: CallOutcome) => unknown;
  /** Called when `observe` has failed. */
  readonly onTelemetryFailure?: (failure: TelemetryFailure) => void;
  /** Where commands run, if there is a workspace for them. */
  readonly execHost?: ExecHost;
}

/** Reports that `observe` failed for a call. The call itself is not affected. */
export interface TelemetryFailure {
  readonly event: "telemetry_publish_failed";
  readonly callId: string;
  readonly error: unknown;
}

/** Of a misspelt order every other one would be taken. */
const TRANSACTION_OPTIONS: OptionRules<TransactionOptions> = {
  tools: LIST,
  ledger: OBJECT,
  policies: LIST,
  parallel: whole(1),
  commitOrder: oneOf("settle", "call"),
  observe: FUNCTION,
  onTelemetryFailure: FUNCTION,
  execHost: OBJECT,
};

const PARALLEL = 8;
const theOneOf = new WeakMap<ExecutionState, Transactions>();

/** Runs calls on branches of one state, and settles each exactly once. */
export class Transactions {
  readonly state: ExecutionState;
  readonly effects: EffectBook;
  readonly #options: TransactionOptions;
  readonly #tools: Map<string, Tool>;
  /** Tools that a host runs and offers itself. */
  readonly #hosted = new Map<string, Tool>();
  #listed: readonly Tool[] | undefined;
  readonly #world: CallWorld;
  readonly #slots: Semaphore;
  readonly #barrier = new Barrier();
  /** The open calls, from before they are written down; those that a host will end, with the promise of what ends them. */
  readonly #open = new Map<string, Promise<PendingCall | undefined> | undefined>();
  /** Those of them whose end is not written down. */
  readonly #undecided = new Set<string>();
  #last: Promise<void> = Promise.resolve();
  /** Where calls of other states began to have this one work for them; most have none. */
  #marks: Marks | undefined;
  /** Those who wait for a call to end. */
  readonly #waiting: (() => void)[] = [];

  /** Throws TRANSACTIONS_EXIST when the state has one already: two would not know of each other's calls and effects. */
  constructor(state: ExecutionState, options: TransactionOptions = {}) {
    if (theOneOf.has(state)) throw new HoldfastError("TRANSACTIONS_EXIST");
    checkOptions(options, TRANSACTION_OPTIONS);
    const { parallel = PARALLEL, ledger = NO_LEDGER, policies = [], tools = [] } = options;
    theOneOf.set(state, this);
    this.state = state;
    const ids = new CallIds({
      waits: (id) => ledger.waits?.(id) === true,
      hasEnded: (id) => this.effects.isReliedOnBy(id) || (ledger.knows?.(id) ?? state.checkpoints.has(id)),
    });
    this.effects = new EffectBook(ledger, state.clock, ids);
    this.#options = options;
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.#slots = new Semaphore(parallel);
    const { execHost: exec } = options;
    const tool = (name: string) => this.tool(name);
    this.#world = {
      state,
      ledger,
      effects: this.effects,
      ids,
      policies,
      tool,
      decided: (callId) => void this.#undecided.delete(callId),
      // What runs in a bare state is known to its transactions, and to be stopped before it is taken back.
      childOf: (child: Rewindable) => (child instanceof ExecutionState ? Transactions.of(child) : child),
      ...(exec === undefined ? {} : { exec }),
    };
  }

  /** The transactions of a state; made if it has none. */
  static of(state: ExecutionState): Transactions {
    return theOneOf.get(state) ?? new Transactions(state);
  }

  /** Adds tools, or replaces those with the same names. */
  add(tools: readonly Tool[]): void {
    for (const tool of tools) this.#tools.set(tool.name, tool);
    this.#listed = undefined;
  }

  /**
   * Makes tools known that a host runs and offers to its model itself: their calls are written down and what they did is
   * undone like that of any tool, but they are not among `tools`, so nobody is offered them here.
   */
  addHosted(tools: readonly Tool[]): void {
    for (const tool of tools) this.#hosted.set(tool.name, tool);
  }

  /** Whether a host runs and offers it itself. */
  isHosted(tool: Tool): boolean {
    return this.#hosted.get(tool.name) === tool;
  }

  /** Removes tools by name. */
  remove(names: readonly string[]): void {
    for (const name of names) this.#tools.delete(name);
    this.#listed = undefined;
  }

  /** The tool of this name, if there is one. */
  tool(name: string): Tool | undefined {
    return this.#tools.get(name) ?? this.#hosted.get(name);
  }

  /** All tools but those that a host runs itself. The same array until one is added or removed. */
  get tools(): readonly Tool[] {
    this.#listed ??= [...this.#tools.values()];
    return this.#listed;
  }

  /** Ids of the calls that are open. */
  get pending(): readonly string[] {
    return [...this.#open.keys()];
  }

  /** Ids of the open calls that have neither committed nor been rolled back. */
  get undecided(): ReadonlySet<string> {
    return new Set(this.#undecided);
  }

  /** Resolves when none of these calls is open any more. */
  async ended(callIds: readonly string[]): Promise<void> {
    while (callIds.some((callId) => this.#open.has(callId)))
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /**
   * Opens, runs and settles a call. Whatever the tool does is returned as an outcome; it rejects only when the state or
   * the store is unusable, or when the evaluation's time is up.
   */
  async run(call: ToolCall, limits: CallLimits = {}): Promise<CallOutcome> {
    const alone = this.#tools.get(call.name)?.access === "execute";
    // Before anything is awaited: a command waits for the calls that were asked for before it.
    const { turn, leave: pass } = this.#barrier.enter(alone);
    try {
      return await this.#run(call, limits, turn);
    } finally {
      pass();
    }
  }

  async #run(call: ToolCall, limits: CallLimits, turn: Promise<unknown> | undefined): Promise<CallOutcome> {
    const { open, done } = await this.#opening(call, limits, this.#options.commitOrder === "call");
    try {
      // Whoever is no longer wanted need not wait for a turn.
      if (turn !== undefined)
        await unlessAborted(
          open.signal,
          async () => turn,
          () => undefined,
        );
      const entered = this.#slots.enter(open.signal);
      const leave = entered instanceof Promise ? await entered : entered;
      const known = call.known ?? this.#overBudget();
      const ending =
        leave === undefined ? canceled(open.signal) : (known ?? (await attemptUntilAccepted(this.#world, open)));
      // Its slot is free while it waits for its turn to commit, or a long queue would hold up calls that could run.
      leave?.();
      return this.#told(await settle(this.#world, open, ending, open.tool.retryable));
    } finally {
      done();
    }
  }

  /** Runs the calls of one answer side by side. The outcomes are in the order of the calls. */
  runAll(calls: readonly ToolCall[], limits: CallLimits = {}): Promise<readonly CallOutcome[]> {
    return Promise.all(calls.map((call) => this.run(call, limits)));
  }

  /** Opens a call for a host that runs the tool itself. It ends with `commit` or `abort`, whichever comes first. */
  async begin(call: ToolCall, limits: CallLimits = {}): Promise<PendingCall> {
    const begun = Promise.withResolvers<PendingCall | undefined>();
    try {
      const { open, done } = await this.#opening(call, limits, false, begun.promise);
      const pending = await this.#pendingOf(open, done);
      begun.resolve(pending);
      const { known } = call;
      await pending.admit(known === undefined || known.kind === "succeeded" ? this.#overBudget() : known);
      return pending;
    } finally {
      begun.resolve(undefined); // it could not be opened: whoever waits to end it has nothing to end
    }
  }

  async #pendingOf(open: OpenCall, done: () => void): Promise<PendingCall> {
    const told = (outcome: CallOutcome) => {
      done();
      return this.#told(outcome);
    };
    try {
      return new PendingCall(this.#world, open, told, done);
    } catch (error) {
      // The state was given up while its opening was written down: left open, it would be waited for by whoever closes it.
      await settle(this.#world, open, endingOfThrown(error), false).then(told).finally(done);
      throw error;
    }
  }

  /** Commits a begun call by its id. Returns "not pending" if it has ended or was never begun. */
  async commit(callId: string, result: unknown): Promise<CallOutcome | "not pending"> {
    const pending = await this.#open.get(callId);
    return pending?.commit(result) ?? "not pending";
  }

  /** Aborts a begun call by its id. Returns "not pending" if it has ended or was never begun. */
  async abort(callId: string, reason?: string): Promise<CallOutcome | "not pending"> {
    const pending = await this.#open.get(callId);
    return pending?.abort(reason) ?? "not pending";
  }

  /** Marks where the state stands; the returned function takes it back there. For a call that this state works for. */
  mark(): Promise<TakeBack> {
    const { state } = this;
    const from = () => async (kept: CompositeSnapshot, admit: () => void) =>
      void (await state.restore(kept, { admit }));
    this.#marks ??= new Marks({ state, transactions: this, from });
    return this.#marks.mark();
  }

  /** What that would find to do outside, and what of it cannot be undone here. */
  planUndo(callIds: readonly string[]): readonly EffectReport[] {
    return this.effects.planUndo(callIds, specsOf(this.#world));
  }

  /** Undoes the effects of calls that were taken back, newest first. */
  undoEffects(callIds: readonly string[]): Promise<readonly EffectReport[]> {
    return this.effects.undo(callIds, specsOf(this.#world));
  }

  /** Finishes undoing what an earlier process began to undo. */
  finishUndoing(): Promise<void> {
    return this.effects.finishUndoing(specsOf(this.#world));
  }

  async #opening(call: ToolCall, limits: CallLimits, inOrder: boolean, begun?: Promise<PendingCall | undefined>) {
    this.state.truth.gate.refuseInside();
    checkOptions(limits, CALL_LIMITS);
    this.#marks?.refuseLate();
    this.#world.ids.take(call);
    this.#open.set(call.id, begun);
    this.#undecided.add(call.id);
    const ended = inOrder ? Promise.withResolvers<void>() : undefined;
    const before = inOrder ? this.#last : AT_ONCE;
    // Taken before anything is awaited: the order of the calls is the order in which they were asked for.
    if (ended !== undefined) this.#last = before.then(() => ended.promise);
    const done = () => {
      this.#open.delete(call.id);
      this.#undecided.delete(call.id);
      this.#world.effects.forget(call.id);
      this.#world.ids.free(call.id);
      ended?.resolve();
      for (const hear of this.#waiting.splice(0)) hear();
    };
    try {
      const open = new OpenCall(this.#world, call, this.#heeding(limits), before);
      await open.announce(begun !== undefined);
      return { open, done };
    } catch (error) {
      // It may be open in the journal, where only the next opening can close it.
      if (this.#world.ledger.unsure === true) this.state.truth.poison(error);
      done();
      throw error;
    }
  }

  #heeding(limits: CallLimits): CallLimits {
    const { signal = NEVER } = limits;
    return this.#marks === undefined ? limits : { ...limits, signal: this.#marks.heard(signal) };
  }

  #overBudget() {
    const exceeded = this.state.resources.get(BUDGET, undefined)?.exceeded;
    if (exceeded === undefined) return undefined;
    return { kind: "denied", message: `The ${exceeded} budget is used up.` } as const;
  }

  /** Telemetry is best effort: the commit stands, whatever its listeners do. */
  #told(ended: CallOutcome): CallOutcome {
    const { observe, onTelemetryFailure } = this.#options;
    const outcome = this.#world.ledger.shown?.(ended) ?? ended;
    const failed = (error: unknown) => {
      try {
        onTelemetryFailure?.({ event: "telemetry_publish_failed", callId: outcome.callId, error });
      } catch {
        // The one who hears of failures has failed: there is nobody left to tell.
      }
    };
    try {
      if (observe !== undefined) Promise.resolve(observe(outcome)).catch(failed);
    } catch (error) {
      failed(error);
    }
    if (outcome.reason === "evaluation-ended") throw new PromptEvaluationError(outcome);
    return outcome;
  }
}

const AT_ONCE = Promise.resolve();
