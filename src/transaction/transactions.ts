import { HoldfastError } from "../base/errors.ts";
import { encodeJson, type Json } from "../base/json.ts";
import { SeededRandom } from "../base/random.ts";
import type { CallEffects, OutputStatus } from "../records/kinds.ts";
import type { Branch } from "../state/branch.ts";
import { RestoreFailedError } from "../state/errors.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import type { AnyPart } from "../state/part.ts";
import { attempt } from "./attempt.ts";
import { type Call, openHandle } from "./call.ts";
import { EffectBook, type EffectReport } from "./effects.ts";
import { type Ending, endingOfThrown, reasonOf, STATUS, type VisibilityExpansionRequired } from "./ending.ts";
import { ExclusiveResources } from "./exclusive.ts";
import { type Ledger, NO_LEDGER } from "./ledger.ts";
import type { ToolPolicy } from "./policy.ts";
import { Semaphore } from "./semaphore.ts";
import type { Tool } from "./tool.ts";

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly parent?: string;
}

/** How a call ended: what the model is told, and what a person can check. */
export interface CallOutcome {
  readonly callId: string;
  readonly tool: string;
  readonly ok: boolean;
  readonly status: OutputStatus;
  readonly reason: string;
  /** The result, or the words for the model when there is none. */
  readonly output: Json;
  readonly elapsed: number;
  /** More than one when another call changed what this one had read. */
  readonly attempts: number;
  readonly effects: readonly EffectReport[];
  readonly expansion?: VisibilityExpansionRequired;
}

export interface TransactionOptions {
  readonly tools: readonly Tool[];
  readonly ledger?: Ledger;
  readonly policies?: readonly ToolPolicy[];
  /** Calls that run at once. Default 8. */
  readonly parallel?: number;
  /** `settle` (default): in the order they finish. `call`: in the order they were opened, for identical runs. */
  readonly commitOrder?: "settle" | "call";
  readonly onTelemetryFailure?: (error: unknown) => void;
}

interface OpenCall {
  readonly call: ToolCall;
  readonly tool: Tool;
  readonly started: number;
  readonly before: Promise<unknown>;
}

/** Runs calls on branches of one state and settles each exactly once. */
export class Transactions {
  readonly state: ExecutionState;
  readonly effects: EffectBook;
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #ledger: Ledger;
  readonly #policies: readonly ToolPolicy[];
  readonly #slots: Semaphore;
  readonly #inOrder: boolean;
  readonly #exclusive: ExclusiveResources;
  readonly #open = new Set<string>();
  #lastSettled: Promise<unknown> = Promise.resolve();

  constructor(state: ExecutionState, options: TransactionOptions) {
    this.state = state;
    this.#tools = new Map(options.tools.map((tool) => [tool.name, tool]));
    this.#ledger = options.ledger ?? NO_LEDGER;
    this.effects = new EffectBook(this.#ledger);
    this.#policies = options.policies ?? [];
    this.#slots = new Semaphore(options.parallel ?? 8);
    this.#inOrder = options.commitOrder === "call";
    this.#exclusive = new ExclusiveResources(state.resources);
  }

  get pending(): readonly string[] {
    return [...this.#open];
  }

  /** Opens, runs and settles a call. Never rejects for what the tool does; only for a state or store that is unusable. */
  async run(
    call: ToolCall,
    options: { readonly signal?: AbortSignal; readonly deadlineAt?: number } = {},
  ): Promise<CallOutcome> {
    const opened = await this.#openCall(call);
    const turn = this.#slots.use(() => this.#runOpened(opened, options));
    this.#lastSettled = turn.catch(() => {});
    return turn;
  }

  async #openCall(call: ToolCall): Promise<OpenCall> {
    if (this.#open.has(call.id)) throw new HoldfastError("CALL_OPEN", { call: call.id });
    this.#open.add(call.id);
    const before = this.#lastSettled;
    try {
      const args = encodeJson(call.input ?? null);
      await this.#ledger.opened({
        callId: call.id,
        tool: call.name,
        args: args.ok ? args.value.value : null,
        ...(call.parent === undefined ? {} : { parent: call.parent }),
      });
    } catch (error) {
      this.#open.delete(call.id);
      throw error;
    }
    const tool = this.#tools.get(call.name) ?? unknownTool(call.name);
    return { call, tool, started: this.state.clock.monotonic(), before };
  }

  async #runOpened(
    opened: OpenCall,
    options: { readonly signal?: AbortSignal; readonly deadlineAt?: number },
  ): Promise<CallOutcome> {
    const { call, tool } = opened;
    let attempts = 1;
    try {
      let ran = await this.#attempt(opened, options);
      if (this.#inOrder) await opened.before;
      return await this.state.gate.run(async () => {
        if (ran.ending.kind === "succeeded") {
          const conflicts = ran.branch.conflictsWith(this.state.root);
          if (conflicts.length > 0 && tool.retryable) {
            // Again, from the newest root, inside the gate: nobody else commits meanwhile, so once is enough.
            await this.#exclusive.settle(call.id, false);
            attempts += 1;
            ran = await this.#attempt(opened, options);
          } else if (conflicts.length > 0) {
            ran = { ...ran, ending: conflictOn(conflicts) };
          }
        }
        return this.#settle(opened, ran, attempts);
      });
    } finally {
      this.#open.delete(call.id);
    }
  }

  /** One run of the handler on a branch of its own. The handle is dead when this returns. */
  async #attempt(
    opened: OpenCall,
    options: { readonly signal?: AbortSignal; readonly deadlineAt?: number },
  ): Promise<Ran> {
    const { call, tool } = opened;
    const { clock } = this.state;
    const branch = this.state.branch();
    const stop = new AbortController();
    const handle = openHandle({
      id: call.id,
      tool: call.name,
      branch,
      signal: options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal]),
      clock,
      random: new SeededRandom(call.id),
      acquire: (key) => this.#exclusive.acquire(call.id, key, stop.signal),
      effect: (name, args, key) => this.effects.run(tool, call.id, name, args, key, stop.signal),
      onLate: (what) => this.#late(call, what),
    });
    const limits = {
      clock,
      signal: options.signal ?? NEVER,
      timeLeft: this.#timeLeft(opened, options.deadlineAt),
      stop,
    };
    const late = (ending: Ending) => this.#late(call, ending.kind === "succeeded" ? ending.value : reasonOf(ending));
    const ending = await attempt(() => this.#guarded(tool, call, branch, handle.call), limits, late);
    handle.close();
    return { branch, ending };
  }

  /** Arguments, then policies, then the handler: what fails earlier keeps the later from running. */
  async #guarded(tool: Tool, call: ToolCall, branch: Branch, handle: Call): Promise<unknown> {
    const parsed = await tool.parse(call.input);
    if (!parsed.ok) return { ok: false, code: "bad-arguments", message: parsed.message };
    const view = { tool, input: parsed.input, get: <T>(slice: Parameters<Branch["get"]>[0]) => branch.get(slice) as T };
    for (const policy of this.#policies) {
      const denial = policy.check(view as never);
      if (denial !== undefined) return { ok: false, code: "denied", message: denial };
    }
    const result = await tool.run(parsed.input, handle);
    const failed = typeof result === "object" && result !== null && (result as { ok?: unknown }).ok === false;
    if (failed) return result;
    for (const policy of this.#policies) {
      for (const event of policy.onResult?.(view as never, result as Json) ?? []) branch.dispatch(event);
    }
    return result;
  }

  /** The one exit. Durable first, true afterwards, and exactly one closing record whatever happened. */
  async #settle(opened: OpenCall, ran: Ran, attempts: number): Promise<CallOutcome> {
    const { call, tool } = opened;
    const pre = this.state.snapshotSlices();
    let { ending } = ran;
    let next = commitOrLogs(ran.branch, ending, this.state);
    if (!next.ok) {
      ending = next.ending;
      next = commitOrLogs(ran.branch, ending, this.state);
      if (!next.ok) throw new HoldfastError("REDUCER_FAILED", { call: call.id });
    }
    const committed = ending.kind === "succeeded";
    try {
      await this.#exclusive.settle(call.id, committed);
    } catch (error) {
      if (error instanceof RestoreFailedError) this.state.poison(error);
      ending = endingOfThrown(error);
    }
    const reports = committed
      ? this.effects.of(call.id)
      : await this.effects.undo(call.id, (toolName, name) => this.#tools.get(toolName)?.effects[name]);
    const outcome = outcomeOf(opened, ending, reports, attempts, this.state.clock.monotonic() - opened.started);
    await this.#ledger.closed({
      callId: call.id,
      tool: tool.name,
      status: outcome.status,
      ...(ending.kind === "succeeded" ? {} : { reason: outcome.reason }),
      output: outcome.output,
      effects: effectsOf(reports),
      delta: next.delta,
    });
    if (!this.state.poisoned) this.state.swap(next.root);
    this.#checkpoint(outcome, pre);
    return outcome;
  }

  #checkpoint(outcome: CallOutcome, pre: ReturnType<ExecutionState["snapshotSlices"]>): void {
    const { callId: toolCallId, tool: toolName } = outcome;
    const at = (phase: "pre_tool" | "post_tool") => ({
      tag: `${phase === "pre_tool" ? "pre" : "post"}:${toolCallId}`,
      metadata: { phase, toolCallId, toolName },
    });
    const nothing = new Map<string, unknown>();
    this.state.checkpoints.record({
      toolCallId,
      toolName,
      preSnapshot: this.state.composite(pre, nothing, at("pre_tool")),
      postSnapshot: this.state.composite(this.state.snapshotSlices(), nothing, at("post_tool")),
      resultSummary: String(typeof outcome.output === "string" ? outcome.output : JSON.stringify(outcome.output)).slice(
        0,
        200,
      ),
      success: outcome.ok,
      elapsed: outcome.elapsed,
      recordedAt: pre.createdAt,
    });
  }

  #late(call: ToolCall, what: Json): void {
    // Best effort: the call is closed and nothing depends on this line.
    this.#ledger.late({ callId: call.id, tool: call.name, output: what }).catch(() => {});
  }

  #timeLeft(opened: OpenCall, deadlineAt: number | undefined): number | undefined {
    const { clock } = this.state;
    const own =
      opened.tool.deadlineMs === undefined ? undefined : opened.tool.deadlineMs - (clock.monotonic() - opened.started);
    const run = deadlineAt === undefined ? undefined : deadlineAt - clock.now();
    if (own === undefined || run === undefined) return own ?? run;
    return Math.min(own, run);
  }
}

interface Ran {
  readonly branch: Branch;
  readonly ending: Ending;
}

const NEVER = new AbortController().signal;

/** A success commits everything; any other ending commits what it logged and drops the rest. */
function commitOrLogs(branch: Branch, ending: Ending, state: ExecutionState) {
  try {
    const logs = (part: AnyPart) => part.policy === "log";
    return { ok: true as const, ...branch.onto(state.root, ending.kind === "succeeded" ? undefined : logs) };
  } catch (error) {
    return { ok: false as const, ending: endingOfThrown(error) };
  }
}

function conflictOn(what: readonly string[]): Ending {
  return {
    kind: "conflict",
    message: `Another call changed ${what.join(", ")} after this one had read it. Nothing was changed; read again and retry.`,
  };
}

function unknownTool(name: string): Tool {
  return {
    name,
    description: "",
    access: "read",
    retryable: false,
    effects: {},
    parse: async () => ({ ok: false, message: `There is no tool named ${name}.` }),
    run: () => undefined,
  };
}

function outcomeOf(
  opened: OpenCall,
  ending: Ending,
  effects: readonly EffectReport[],
  attempts: number,
  elapsed: number,
): CallOutcome {
  const denied = ending.kind === "failed" && ending.reason === "denied";
  return {
    callId: opened.call.id,
    tool: opened.call.name,
    ok: ending.kind === "succeeded",
    status: STATUS[ending.kind],
    reason: denied ? "denied" : reasonOf(ending),
    output: outputOf(ending, effects),
    elapsed,
    attempts,
    effects,
    ...(ending.kind === "expansion" ? { expansion: ending.request } : {}),
  };
}

/** What the model reads. A failure says that nothing of it remains, and what could not be taken back. */
function outputOf(ending: Ending, effects: readonly EffectReport[]): Json {
  if (ending.kind === "succeeded") return ending.value;
  const words =
    ending.kind === "expansion"
      ? `More of the prompt was needed first: ${ending.request.sections.join(", ")}.`
      : ending.message;
  const stuck = effects
    .filter((effect) => effect.is !== "undone")
    .map(
      (effect) =>
        `${effect.name} (${effect.key}): ${effect.is === "unknown" ? "may have happened" : "happened and was not undone"}`,
    );
  return [words, "Its changes were undone.", ...(stuck.length === 0 ? [] : [`Outside: ${stuck.join("; ")}.`])].join(
    " ",
  );
}

function effectsOf(reports: readonly EffectReport[]): CallEffects {
  if (reports.some((report) => report.is === "unknown")) return "unknown";
  return reports.some((report) => report.is !== "undone") ? "happened" : "none";
}
