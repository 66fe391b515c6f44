import { HoldfastError } from "../base/errors.ts";
import type { Usage } from "../contracts/model.ts";
import { amountsOf, BUDGET, type BudgetTracker } from "../transaction/budget.ts";
import { Deadline } from "../transaction/deadline.ts";
import type { ExecutionState } from "../state/execution-state.ts";

/**
 * Bounds on one run. A run that reaches one stops before the next request; calls that the model already asked for are
 * still answered. Bounds without a default are off.
 */
export interface RunLimits {
  /** Model answers. Default 100, so that a model going in circles is stopped. */
  readonly steps?: number;
  /** Tokens read and written, together. */
  readonly tokens?: number;
  /** Tokens read. */
  readonly inputTokens?: number;
  /** Tokens written. */
  readonly outputTokens?: number;
  /** How often tools may ask to see more of the prompt. Default 10. */
  readonly expansions?: number;
  /** Milliseconds. Whatever is still running when they are over is stopped. */
  readonly timeMs?: number;
  /** In the currency of `price`, which is required with it. */
  readonly cost?: number;
  /**
   * What an answer cost, in your currency. If it throws or returns no amount, the cost is unknown: that counts as
   * reaching `cost`, and is reported as `price-failed`.
   */
  readonly price?: (usage: Usage, model: string) => number;
}

/** Which bound a run reached. `budget`: the `BudgetTracker` among the resources is used up. */
export type LimitKind =
  | "steps"
  | "tokens"
  | "inputTokens"
  | "outputTokens"
  | "timeMs"
  | "cost"
  | "budget"
  | "expansions";

/** What a run has used so far, including failed attempts. */
export interface Spent {
  /** Model answers. */
  readonly steps: number;
  /** Tokens read. */
  readonly input: number;
  /** Tokens written. */
  readonly output: number;
  /** In the currency of `price`; 0 without prices. Answers for which `price` failed are not included. */
  readonly cost: number;
}

const STEPS = 100;
const EXPANSIONS = 10;

/** What a run has spent, and which of its bounds it has met. Spent is spent: neither a retry nor a rewind gives it back. */
export class RunBudget {
  readonly deadline: Deadline | undefined;
  readonly #limits: RunLimits;
  readonly #shared: BudgetTracker | undefined;
  readonly #within: RunBudget | undefined;
  /** Of the turn, with all that works for it: sessions of one name, one after the other, may share a budget. */
  readonly #name: string;
  #steps = 0;
  #expansions = 0;
  /** By evaluation: a model says what it has used so far, and says it again. */
  readonly #used = new Map<string, { readonly usage: Usage; readonly cost: number; readonly failed?: HoldfastError }>();

  /** `within`: of the turn that this one works for. What is spent here is spent there, and its bounds hold here. */
  constructor(limits: RunLimits, state: ExecutionState, within?: RunBudget) {
    if (limits.cost !== undefined && limits.price === undefined) throw badLimit("cost", "without price");
    this.#limits = limits;
    this.#shared = state.resources.get(BUDGET, undefined);
    this.#within = within;
    this.#name = within === undefined ? state.ids.next() : within.#name;
    const own = limits.timeMs === undefined ? undefined : Deadline.after(state.clock, limits.timeMs);
    this.deadline = nearer(own, within?.deadline);
  }

  step(): void {
    this.#steps += 1;
  }

  /** Whether the prompt may be opened once more. */
  expand(): boolean {
    this.#expansions += 1;
    return this.#expansions <= (this.#limits.expansions ?? EXPANSIONS);
  }

  /** Takes an evaluation's usage so far, in place of what it said before. */
  use(evaluation: string, usage: Usage, model: string): void {
    this.#take(`${this.#name} ${evaluation}`, usage, model);
  }

  #take(evaluation: string, usage: Usage, model: string): void {
    const amounts = amountsOf(usage);
    this.#used.set(evaluation, { usage, ...this.#priced(usage, model) });
    if (this.#within !== undefined) this.#within.#take(evaluation, usage, model);
    try {
      this.#shared?.record(evaluation, amounts);
    } catch (error) {
      if (!HoldfastError.is(error, "BUDGET_EXCEEDED")) throw error; // met tells it, before the next request
    }
  }

  get spent(): Spent {
    let [input, output, cost] = [0, 0, 0];
    for (const one of this.#used.values()) {
      input += one.usage.input;
      output += one.usage.output;
      cost += one.cost;
    }
    return { steps: this.#steps, input, output, cost };
  }

  /** Why it is not known what everything cost. */
  get unpriced(): HoldfastError | undefined {
    return this.#used.values().find(({ failed }) => failed !== undefined)?.failed;
  }

  /** The first bound that does not allow another request. */
  get met(): LimitKind | undefined {
    return this.#steps >= (this.#limits.steps ?? STEPS) ? "steps" : this.#spentUp;
  }

  /** Steps are a turn's own; everything else is shared with those that work for it. */
  get #spentUp(): LimitKind | undefined {
    const { input, output, cost } = this.spent;
    const { tokens, inputTokens, outputTokens, cost: money } = this.#limits;
    if (this.deadline !== undefined && this.deadline.left <= 0) return "timeMs";
    if (tokens !== undefined && input + output >= tokens) return "tokens";
    if (inputTokens !== undefined && input >= inputTokens) return "inputTokens";
    if (outputTokens !== undefined && output >= outputTokens) return "outputTokens";
    // What nobody can price may have cost any amount: taken for nothing, it would let a run go on for ever.
    if (money !== undefined && (cost >= money || this.unpriced !== undefined)) return "cost";
    if (this.#shared?.exceeded !== undefined) return "budget";
    return this.#within === undefined ? undefined : this.#within.#spentUp;
  }

  /** Somebody else's code: thrown on, its failure would end the turn without its end. */
  #priced(usage: Usage, model: string): { readonly cost: number; readonly failed?: HoldfastError } {
    const { price } = this.#limits;
    if (price === undefined) return { cost: 0 };
    try {
      const cost: unknown = price(usage, model);
      if (typeof cost === "number" && Number.isFinite(cost) && cost >= 0) return { cost };
      return { cost: 0, failed: new HoldfastError("PRICE_FAILED", { model, value: String(cost) }) };
    } catch (cause) {
      return { cost: 0, failed: new HoldfastError("PRICE_FAILED", { model }, { cause }) };
    }
  }
}

function nearer(one: Deadline | undefined, other: Deadline | undefined): Deadline | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one.left <= other.left ? one : other;
}

function badLimit(bound: string, value: string): HoldfastError {
  return new HoldfastError("BAD_OPTION", { option: `limits.${bound}`, value });
}
