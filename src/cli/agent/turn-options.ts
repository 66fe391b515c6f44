import { type ContextConfig, contextConfig, type RunLimits, type Usage } from "../../index.ts";
import type { Values } from "../config/settings.ts";
import { usage } from "../options.ts";
import { costOf, type Prices } from "./prices.ts";

export function limitsIn(values: Values, prices: Prices | undefined): RunLimits {
  const { "limits.steps": steps, "limits.tokens": tokens, "limits.time": timeMs, "limits.cost": cost } = values;
  if (cost !== undefined && prices === undefined)
    throw usage("limits.cost", "needs `input` and `output` of `[prices]`, or nobody knows what a turn costs");
  return {
    ...(steps === undefined ? {} : { steps }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(timeMs === undefined ? {} : { timeMs }),
    ...(cost === undefined ? {} : { cost }),
    ...(prices === undefined ? {} : { price: (used: Usage) => costOf(prices, used) }),
  };
}

export function historyIn(values: Values): ContextConfig {
  return contextConfig({
    enforce_history_invariants: values["context.enforce_history_invariants"],
    auto_recover_from_crash: values["context.auto_recover_from_crash"],
    warn_on_invariant_violations: values["context.warn_on_invariant_violations"],
  });
}

export function windowIn({ window }: Values): { readonly window?: number } {
  return window === undefined ? {} : { window };
}
