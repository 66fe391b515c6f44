import { type Clock, SystemClock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { AMOUNT, badOption, checkOptions, type OptionRules } from "../base/options.ts";
import { type ResourceKey, resourceKey, type Snapshotable } from "../state/resources.ts";

/** Tokens that one evaluation has read and written so far. */
export interface TokenUsage {
  readonly input: number;
  readonly output: number;
}

/** Upper bounds over all evaluations together. What is left out is not bounded. */
export interface BudgetLimits {
  /** Tokens read. */
  readonly input?: number;
  /** Tokens written. */
  readonly output?: number;
  /** Tokens read and written. */
  readonly total?: number;
  /** Milliseconds since the tracker was made. */
  readonly time?: number;
}

/** What a budget can bound: input, output, total or time. */
export type BudgetDimension = keyof BudgetLimits;

const LIMITS: OptionRules<BudgetLimits> = { input: AMOUNT, output: AMOUNT, total: AMOUNT, time: AMOUNT };

/** What a `BudgetTracker` has recorded. */
export interface BudgetSnapshot {
  readonly evaluations: Readonly<Record<string, TokenUsage>>;
  /** Milliseconds. */
  readonly elapsed: number;
}

/** The key of the budget among the resources. */
export const BUDGET: ResourceKey<BudgetTracker> = resourceKey("budget");

/**
 * Tracks a budget that runs share. Each evaluation reports its usage so far, which replaces its earlier report;
 * evaluations add up. A rollback, a restore or a rewind gives nothing back.
 */
export class BudgetTracker implements Snapshotable<BudgetSnapshot> {
  readonly shared = true;
  readonly limits: BudgetLimits;
  readonly #clock: Clock;
  readonly #started: number;
  readonly #evaluations = new Map<string, TokenUsage>();

  /** `clock`: default the system's. */
  constructor({ limits, clock = new SystemClock() }: { readonly limits: BudgetLimits; readonly clock?: Clock }) {
    checkOptions(limits, LIMITS);
    this.limits = { ...limits };
    this.#clock = clock;
    this.#started = clock.monotonic();
  }

  /**
   * Records an evaluation's usage so far. Throws BUDGET_EXCEEDED, naming the dimension, if a bound is then exceeded.
   */
  record(evaluation: string, usage: TokenUsage): void {
    this.#evaluations.set(evaluation, amountsOf(usage));
    this.check();
  }

  /** What all evaluations have used together; `time` in milliseconds. */
  get spent(): Readonly<Record<BudgetDimension, number>> {
    const used = [...this.#evaluations.values()];
    const input = used.reduce((sum, usage) => sum + usage.input, 0);
    const output = used.reduce((sum, usage) => sum + usage.output, 0);
    return { input, output, total: input + output, time: this.#clock.monotonic() - this.#started };
  }

  /** The first bound that is exceeded, or undefined. */
  get exceeded(): BudgetDimension | undefined {
    const { spent } = this;
    const dimensions: readonly BudgetDimension[] = ["input", "output", "total", "time"];
    return dimensions.find((dimension) => spent[dimension] > (this.limits[dimension] ?? Number.POSITIVE_INFINITY));
  }

  /** Throws BUDGET_EXCEEDED, naming the dimension, if a bound is exceeded. */
  check(): void {
    const { exceeded, spent } = this;
    if (exceeded === undefined) return;
    throw new HoldfastError("BUDGET_EXCEEDED", {
      dimension: exceeded,
      spent: spent[exceeded],
      limit: this.limits[exceeded],
    });
  }

  snapshot(): BudgetSnapshot {
    return { evaluations: Object.fromEntries(this.#evaluations), elapsed: this.spent.time };
  }

  /** Adds evaluations from a snapshot, e.g. in a new process. Never lowers a number. */
  restore({ evaluations }: BudgetSnapshot): void {
    for (const [evaluation, usage] of Object.entries(evaluations)) {
      const now = this.#evaluations.get(evaluation) ?? { input: 0, output: 0 };
      this.#evaluations.set(evaluation, {
        input: larger(now.input, usage.input),
        output: larger(now.output, usage.output),
      });
    }
  }
}

/** NaN is above no bound, and with it in the sum nothing would be: a used-up budget would be open again. */
export function amountsOf(usage: TokenUsage): TokenUsage {
  return { input: amountOf(usage, "input"), output: amountOf(usage, "output") };
}

/** What is kept may have been written by anybody: what is no amount is none here either. */
function larger(now: number, told: unknown): number {
  return isAmount(told) && told > now ? told : now;
}

function isAmount(amount: unknown): amount is number {
  return typeof amount === "number" && Number.isFinite(amount) && amount >= 0;
}

function amountOf(usage: TokenUsage, what: keyof TokenUsage): number {
  const amount: unknown = (Object(usage) as Partial<TokenUsage>)[what];
  if (isAmount(amount)) return amount;
  throw badOption(`usage.${what}`, amount, "a finite number from 0");
}
