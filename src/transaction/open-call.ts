import { HoldfastError } from "../base/errors.ts";
import { OneByOne } from "../base/one-by-one.ts";
import { SeededRandom } from "../base/random.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { asName } from "../base/words.ts";
import type { ToolAccess } from "../contracts/tool-access.ts";
import { CallCommands, type ExecHost, startBackground } from "../exec/commands.ts";
import type { ExecCommand, ExecOptions, ExecResult } from "../exec/command.ts";
import { endFiles } from "../files/access.ts";
import type { Branch, Stretch } from "../state/branch.ts";
import { attempt, NEVER } from "./attempt.ts";
import { type Call, CallHandle } from "./call.ts";
import {
  asWritten,
  type CallLimits,
  type CallWorld,
  openedArgs,
  type ToolCall,
  type WrittenInput,
} from "./call-world.ts";
import { CallResources } from "./call-resources.ts";
import { CallChildren } from "./children.ts";
import { type Deadline, DEADLINE } from "./deadline.ts";
import { effectId, type EffectReport } from "./effect.ts";
import { type Ending, endingOfThrown, reasonOf } from "./ending.ts";
import { type InnerCall, InnerCalls, UNDONE_PARTLY } from "./inner-calls.ts";
import { LazySignal } from "./lazy-signal.ts";
import { LettingGo } from "./letting-go.ts";
import { type Admitted, admit, handle, readmit } from "./guard.ts";
import type { AttemptFailure } from "./validators.ts";
import { type CallOutcome, outcomeOf } from "./outcome.ts";
import type { PolicyView } from "./policy.ts";
import { absentTool, type Tool, type WaitsFor } from "./tool.ts";

type AskedInside = Parameters<Call["run"]>[0];

/** Whether the branch holds all that such a tool does. Then dropping it undoes the call, also inside another one. */
const ON_BRANCH: Readonly<Record<ToolAccess, boolean>> = { read: true, write: true, execute: false, external: false };

/** Cut off, it has done nothing anywhere. One that must not run twice says that it has. */
function isTraceless({ access, retryable }: Tool): boolean {
  return ON_BRANCH[access] && retryable;
}

/** One call between its opening and its end: it may be attempted more than once, and it is settled once. */
export class OpenCall {
  readonly call: ToolCall;
  readonly tool: Tool;
  readonly started: number;
  readonly signal: AbortSignal;
  /** Where its turn to use what cannot branch comes: at once, or after the calls before it. */
  readonly turn: Promise<unknown>;
  attempts = 0;
  /** Attempts whose result was refused. */
  readonly refused: AttemptFailure[] = [];
  /** What the handler has put out in this attempt, its newest part. */
  progress = "";
  branch: Branch;
  /** What was admitted in the last attempt: the call itself, and those that ran inside it. */
  admitted: PolicyView[] = [];
  /** Calls that ran inside this one. */
  readonly inner: InnerCalls;
  readonly children = new CallChildren();
  readonly lettingGo: LettingGo;
  /** It has ended and been written down: nobody is told any more of what those inside it do. */
  isOver = false;
  readonly #world: CallWorld;
  readonly #written: WrittenInput;
  readonly #deadline: Deadline | undefined;
  readonly #onProgress: ((text: string) => void) | undefined;
  /** What was noted of this call and of those inside it, by their ids. Most note nothing. */
  #notes: Map<string, JsonObject> | undefined;
  #handle: CallHandle | undefined;
  #commands: CallCommands | undefined;
  #doomed: Error | undefined;
  #inner: readonly CallHandle[] = [];
  #stop: LazySignal;
  #resources: CallResources | undefined;

  constructor(world: CallWorld, call: ToolCall, limits: CallLimits, turn: Promise<unknown>) {
    this.#world = world;
    this.#written = asWritten(call.input);
    this.call = { ...call, name: asName(call.name), input: this.#written.input };
    this.tool = world.tool(call.name) ?? absentTool(this.call.name);
    this.started = world.state.clock.monotonic();
    this.signal = limits.signal ?? NEVER;
    this.turn = turn;
    this.inner = new InnerCalls(world);
    const { inner, children } = this;
    this.lettingGo = new LettingGo({ world, inner, children });
    this.#onProgress = limits.onProgress;
    this.#deadline = limits.deadline ?? world.state.resources.get(DEADLINE, undefined);
    this.branch = world.state.branch();
    this.#stop = new LazySignal(this.signal);
  }

  get elapsed(): number {
    return this.#world.state.clock.monotonic() - this.started;
  }

  /**
   * Written down before anything runs. Arguments that cannot be kept are described, and will not pass. What a host runs
   * by itself, it does wherever it likes (`byHost`).
   */
  async announce(byHost: boolean): Promise<void> {
    const { id, name, alias, epoch, announced } = this.call;
    if (announced === true) return;
    const opened = {
      callId: id,
      tool: name,
      ...openedArgs(this.#written),
      ...(alias === undefined ? {} : { alias }),
      ...(epoch === undefined ? {} : { epoch }),
    };
    await this.#world.ledger.opened(opened, { traceless: !byHost && isTraceless(this.tool) });
  }

  /** One run of the handler on a branch of its own, in time. The handle is dead when this returns. */
  async attempt(): Promise<Ending> {
    let call: Call;
    try {
      const before = this.endCommands(false);
      if (before !== undefined) await before;
      call = this.begin();
    } catch (error) {
      return endingOfThrown(error); // what cannot begin, because the state was given up meanwhile, ends all the same
    }
    const { policies } = this.#world;
    const run = async (): Promise<Ending> => {
      const admitted = await this.admit();
      return admitted.ok ? handle(admitted.view, this.branch, policies, call) : admitted.ending;
    };
    const ending = await attempt(
      () => this.#world.state.truth.gate.inside(this.call.id, run),
      this.limits(),
      (late) => this.tellLate(late.kind === "succeeded" ? late.value : reasonOf(late)),
    );
    const whole = this.wholly(ending);
    this.end();
    return whole;
  }

  /** How it ends: what it has begun inside and not waited for is done by half, and half of it would be kept. */
  wholly(ending: Ending): Ending {
    if (ending.kind !== "succeeded") return ending;
    if (this.inner.areRunning) return CALL_RUNNING;
    return this.#handle?.hasHalves === true ? TRANSACTION_RUNNING : ending;
  }

  /** Arguments and policies of this call, or of one inside it: what passes is remembered, and asked about again. */
  async admit(tool = this.tool, written = this.#written, id = this.call.id): Promise<Admitted> {
    const { epoch } = this.call;
    const call = epoch === undefined ? { id } : { id, epoch };
    const { branch } = this;
    const admitted = await admit({ tool, written, call }, branch, this.#world.policies);
    if (admitted.ok && branch === this.branch) this.admitted.push(admitted.view);
    return admitted;
  }

  /** A fresh branch and a living handle on it. */
  begin(): Call {
    const { state, effects } = this.#world;
    this.end();
    this.attempts += 1;
    this.progress = "";
    this.inner.supersede("It was undone when the call it ran inside was run again.", "superseded");
    this.#doomed = undefined;
    this.#notes = undefined;
    this.admitted = [];
    endFiles(this.branch);
    this.branch = state.branch();
    this.#stop = new LazySignal(this.signal);
    this.#resources?.giveUp();
    this.#resources = new CallResources(state.exclusive, this.call.id, this.turn, this.#stop);
    effects.beginAttempt(this.call.id);
    this.lettingGo.beginAttempt();
    this.#handle = this.#openHandle(this.call.id, this.tool, this.branch.whole, this.#resources);
    return this.#handle;
  }

  /** Every later use of the handle is refused, and whoever listens to its signal hears that it is over. */
  end(): void {
    this.#handle?.close();
    for (const inner of this.#inner) inner.close();
    this.#inner = [];
    this.#stop.end(HAS_ENDED);
  }

  limits() {
    const { deadlineMs } = this.tool;
    return {
      clock: this.#world.state.clock,
      signal: this.signal,
      callLeft: deadlineMs === undefined ? undefined : deadlineMs - this.elapsed,
      evaluationLeft: this.#deadline?.left,
    };
  }

  /** Why what it did cannot be kept. */
  get doomed(): Error | undefined {
    return this.#doomed ?? this.lettingGo.refused ?? this.#commands?.doomed;
  }

  /**
   * Nothing that it started is running afterwards, and without `kept` nothing that its commands changed is left. Undefined
   * when it started none.
   */
  endCommands(kept: boolean): Promise<void> | undefined {
    return this.#commands?.end(kept).then(() => {
      this.#commands = undefined;
    });
  }

  /** Started here and nowhere else, so that whoever ends the call knows of them. */
  #exec(id: string, tool: Tool, command: ExecCommand, options: ExecOptions): Promise<ExecResult> {
    const { state } = this.#world;
    const exec = this.#execHost(id, tool, "execute");
    const stop = this.#stop;
    this.#commands ??= new CallCommands(exec, {
      id: this.call.id,
      branch: this.branch,
      clock: state.clock,
      signal: stop.signal,
      progress: (text) => {
        if (!stop.signal.aborted) this.#told(text);
      },
    });
    return this.#commands.run(command, options);
  }

  /** Where commands run, for a tool that was declared to run such ones, and may at this moment. */
  #execHost(call: string, tool: Tool, needed: ToolAccess): ExecHost {
    const { exec } = this.#world;
    if (tool.access !== needed)
      throw new HoldfastError("EXEC_NOT_ALLOWED", { tool: tool.name, access: tool.access, needed });
    if (exec === undefined) throw new HoldfastError("EXEC_UNAVAILABLE", { call });
    this.#refuseOutside(call, tool);
    return exec;
  }

  /** What was noted of a call, to be spread into what is known of it. */
  noted(id: string): { readonly notes?: JsonObject } {
    const notes = this.#notes?.get(id);
    return notes === undefined ? {} : { notes };
  }

  tellLate(output: Json): void {
    const { id, name } = this.call;
    // Best effort: the call is closed and nothing depends on this line.
    this.#world.ledger.late({ callId: id, tool: name, output }).catch(() => {});
  }

  #openHandle(id: string, tool: Tool, stretch: Stretch, resources: CallResources): CallHandle {
    const { state, effects } = this.#world;
    const { branch } = this;
    const stop = this.#stop;
    // One after the other: a resource that is put back for one would lose what a neighbour had made of it.
    const line = new OneByOne();
    return new CallHandle({
      id,
      tool: tool.name,
      branch,
      stretch,
      stop,
      clock: state.clock,
      attempt: this.attempts,
      refused: [...this.refused],
      progress: (text) => this.#told(text),
      note: (fields) => {
        this.#notes ??= new Map();
        this.#notes.set(id, { ...this.#notes.get(id), ...fields });
      },
      random: () => new SeededRandom(id),
      effect: async (name, args, key, around) => {
        this.#refuseOutside(id, tool);
        const asked = { callId: id, stretch: branch.stretch(around), effect: effectId({ tool: tool.name, name, key }) };
        return this.lettingGo.ask(asked, () => effects.run({ tool, callId: id, name, args, key, signal: stop.signal }));
      },
      run: (inner, around) => {
        const own = branch.stretch(around);
        return line.run(() => this.#runNested(id, inner, own, stop, resources));
      },
      letGo: (savepoint) => this.lettingGo.letGo(id, savepoint, this.isOver),
      child: (child, around) =>
        this.children.adopt(
          this.#world.childOf(child),
          () => branch.stretch(around()),
          () => new HoldfastError("CALL_CLOSED", { call: id, tool: tool.name, attempted: "child" }),
        ),
      exec: async (command, options) => this.#exec(id, tool, command, options),
      background: async (command, options) => {
        const host = this.#execHost(id, tool, "external");
        return startBackground(host, { branch: this.branch, clock: state.clock }, command, options);
      },
      runs: () => this.#commands?.runs ?? 0,
      resources,
      doom: (error) => this.#doom(error),
      onLate: (what) => this.tellLate(what),
    });
  }

  #doom<E extends Error>(error: E): E {
    this.#doomed ??= error;
    this.#commands?.doom(error);
    return error;
  }

  #told(text: string): void {
    this.progress = (this.progress + text).slice(-KEPT_PROGRESS).toWellFormed();
    try {
      this.#onProgress?.(text);
    } catch {
      // Whoever follows has failed, not the tool.
    }
  }

  /** What is done outside may be there to stay: whoever was admitted must still be, at this moment. */
  #refuseOutside(call: string, { name: tool }: Tool): void {
    const denied = readmit(this.admitted, this.#world.policies, () => false);
    if (denied === undefined) return;
    throw new HoldfastError("CALL_REFUSED", { call, tool, reason: denied.kind, message: denied.message });
  }

  /** On this call's branch, from a savepoint; its closing record is written with this call's. */
  async #runNested(
    parent: string,
    { name: asked, input: given }: AskedInside,
    stretch: Stretch,
    stop: LazySignal,
    resources: CallResources,
  ): Promise<CallOutcome> {
    const name = asName(asked);
    const { effects, ids, state } = this.#world;
    const { branch } = this;
    // The call around it ended meanwhile, and closes it too: a handler that began now would have a living handle.
    const refuseLate = (call: string) => {
      if (stop.signal.aborted) throw new HoldfastError("CALL_CLOSED", { call, tool: name, attempted: "run" });
    };
    refuseLate(parent);
    const started = state.clock.monotonic();
    const id = ids.takeInside(this.call.id, this.inner.next());
    const about = (reports: readonly EffectReport[]) => {
      const elapsed = state.clock.monotonic() - started;
      const { access } = this.#named(name);
      return { callId: id, tool: name, access, elapsed, attempts: 1, effects: reports, ...this.noted(id) };
    };
    const inner: InnerCall = { stretch, outcome: outcomeOf(UNFINISHED, about([])), isRunning: true };
    this.inner.add(inner);
    const written = asWritten(given);
    try {
      const opened = { callId: id, tool: name, ...openedArgs(written), parent };
      await this.inner.announce(inner, opened, { traceless: isTraceless(this.#named(name)) });
      const mark = await resources.mark(stretch);
      refuseLate(id);
      const savepoint = branch.savepoint(stretch);
      const tried = branch.isVoid(savepoint)
        ? ROLLED_BACK
        : await this.#attemptNested(id, name, written, stretch, resources);
      const ending = branch.isVoid(savepoint) ? ROLLED_BACK : tried;
      inner.outcome = outcomeOf(ending, about(effects.of(id)));
      if (ending.kind === "succeeded") return inner.outcome;
      const doom = (error: Error) => {
        if (branch === this.branch) this.#doomed ??= error; // what is around it is neither before nor after
      };
      try {
        branch.rollbackTo(savepoint);
      } catch (error) {
        doom(error as Error);
      }
      await resources.backTo(mark, stretch).catch(doom);
      const reports = await this.lettingGo.letGo(id, savepoint, this.isOver, true);
      inner.outcome = outcomeOf(ending, about(reports));
      return inner.outcome;
    } finally {
      inner.isRunning = false; // also where it could not begin, or what it did could not be undone
      resources.leave(stretch);
    }
  }

  #named(name: string): Tool {
    return this.#world.tool(name) ?? absentTool(name);
  }

  async #attemptNested(
    id: string,
    name: string,
    written: WrittenInput,
    stretch: Stretch,
    resources: CallResources,
  ): Promise<Ending> {
    const { policies } = this.#world;
    const { branch } = this;
    const tool = this.#named(name);
    if (!ON_BRANCH[tool.access])
      return { kind: "denied", message: `${name} reaches outside and cannot run inside another call.` };
    const inner = this.#openHandle(id, tool, stretch, resources);
    this.#inner = [...this.#inner, inner];
    const run = async (): Promise<Ending> => {
      const admitted = await this.admit(tool, written, id);
      if (!admitted.ok) return admitted.ending;
      const waitsFor = await tool.waitsFor(admitted.view.input);
      if (waitsFor !== undefined)
        return {
          kind: "denied",
          message: `${name} needs somebody's ${WANTED[waitsFor]}, and nobody is asked inside another call.`,
        };
      return handle(admitted.view, branch, policies, inner, stretch);
    };
    const ending = await attempt(run, this.limits(), () => {});
    inner.close();
    this.#inner = this.#inner.filter((other) => other !== inner);
    return ending.kind === "succeeded" && inner.hasHalves ? TRANSACTION_RUNNING : ending;
  }
}

const WANTED: Readonly<Record<WaitsFor, string>> = { approval: "consent", answer: "answer" };

/** Characters: enough to see where a command stood when it was stopped. */
const KEPT_PROGRESS = 16 * 1024;
const HAS_ENDED = new DOMException("The call has ended.", "AbortError");
const CALL_RUNNING: Ending = {
  kind: "failed",
  reason: "inner-call-running",
  message: "It ended while a call inside it was still running.",
};
const TRANSACTION_RUNNING: Ending = {
  kind: "failed",
  reason: "transaction-running",
  message: "It ended while a transaction inside it was still running.",
};
const ROLLED_BACK: Ending = { kind: "canceled", message: UNDONE_PARTLY };
const UNFINISHED: Ending = { kind: "canceled", message: "It had not ended when the call around it did." };
