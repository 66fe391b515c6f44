import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { AMOUNT, badOption, checkOptions, type OptionRules } from "../base/options.ts";
import { type ResourceKey, resourceKey, type Snapshotable } from "../state/resources.ts";

export interface TokenUsage {
  readonly input: number;
  readonly output: number;
}

/** Upper bounds over all evaluations. Whatever is left out is not bounded. */
export interface BudgetLimits {
  readonly input?: number;
  readonly output?: number;
  readonly total?: number;
  /** Milliseconds since the tracker was made. */
  readonly time?: number;
}

export type BudgetDimension = keyof BudgetLimits;

const LIMITS: OptionRules<BudgetLimits> = { input: AMOUNT, output: AMOUNT, total: AMOUNT, time: AMOUNT };

export interface BudgetSnapshot {
  readonly evaluations: Readonly<Record<string, TokenUsage>>;
  readonly elapsed: number;
}

/** The budget, among the resources. */
export const BUDGET: ResourceKey<BudgetTracker> = resourceKey("budget");

/**
 * What a run has spent. An evaluation reports its usage so far, which replaces what it reported before; evaluations add
 * up. Spent is spent: a rollback, a restore and a rewind leave it as it is.
 */
export class BudgetTracker implements Snapshotable<BudgetSnapshot> {
  readonly shared = true;
  readonly limits: BudgetLimits;
  readonly #clock: Clock;
  readonly #started: number;
  readonly #evaluations = new Map<string, TokenUsage>();

  constructor(options: { readonly limits: BudgetLimits; readonly clock: Clock }) {
    checkOptions(options.limits, LIMITS);
    this.limits = { ...options.limits };
    this.#clock = options.clock;
    this.#started = options.clock.monotonic();
  }

  /** Takes the usage, then throws BUDGET_EXCEEDED naming the dimension if a bound is passed. */
  record(evaluation: string, usage: TokenUsage): void {
    this.#evaluations.set(evaluation, amountsOf(usage));
    this.check();
  }

  get spent(): Readonly<Record<BudgetDimension, number>> {
    const used = [...this.#evaluations.values()];
    const input = used.reduce((sum, usage) => sum + usage.input, 0);
    const output = used.reduce((sum, usage) => sum + usage.output, 0);
    return { input, output, total: input + output, time: this.#clock.monotonic() - this.#started };
  }

  /** The first bound that is passed. */
  get exceeded(): BudgetDimension | undefined {
    const { spent } = this;
    const dimensions: readonly BudgetDimension[] = ["input", "output", "total", "time"];
    return dimensions.find((dimension) => spent[dimension] > (this.limits[dimension] ?? Number.POSITIVE_INFINITY));
  }

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

  /** Takes over evaluations it has not heard of, e.g. in a fresh process; lowers nothing. */
  restore({ evaluations }: BudgetSnapshot): void {
    for (const [evaluation, usage] of Object.entries(evaluations)) {
      const now = this.#evaluations.get(evaluation) ?? { input: 0, output: 0 };
      this.#evaluations.set(evaluation, {
        input: usage.input > now.input ? usage.input : now.input,
        output: usage.output > now.output ? usage.output : now.output,
      });
    }
  }
}

/** NaN is above no bound, and with it in the sum nothing would be: a used-up budget would be open again. */
export function amountsOf(usage: TokenUsage): TokenUsage {
  return { input: amountOf(usage, "input"), output: amountOf(usage, "output") };
}

function amountOf(usage: TokenUsage, what: keyof TokenUsage): number {
  const amount: unknown = (Object(usage) as Partial<TokenUsage>)[what];
  if (typeof amount === "number" && Number.isFinite(amount) && amount >= 0) return amount;
  throw badOption(`usage.${what}`, amount, "a finite number from 0");
}
