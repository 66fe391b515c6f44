import {
  AMOUNT,
  FUNCTION,
  having,
  LIST,
  OBJECT,
  type OptionRule,
  type OptionRules,
  oneOf,
  options,
  TEXT,
  whole,
} from "../base/options.ts";
import type { RetryOptions } from "./ask.ts";
import type { RunLimits } from "./limits.ts";
import type { RunOptions } from "./run.ts";

export const MODEL: OptionRule = { ...having("ask"), wants: "a model, e.g. what anthropic(client, name) answers" };

/** What `run` can be told. A misspelt bound would be none, and somebody pays for it. */
export const RUN_OPTIONS: OptionRules<RunOptions> = {
  model: MODEL,
  signal: OBJECT,
  limits: options<RunLimits>({
    steps: AMOUNT,
    tokens: AMOUNT,
    inputTokens: AMOUNT,
    outputTokens: AMOUNT,
    expansions: AMOUNT,
    timeMs: AMOUNT,
    cost: AMOUNT,
    price: FUNCTION,
  }),
  retry: options<RetryOptions>({ attempts: whole(1), firstMs: AMOUNT, mostMs: AMOUNT, patienceMs: AMOUNT }),
  window: whole(1),
  history: OBJECT,
  ask: FUNCTION,
  toolChoice: {
    wants: 'auto, none, required or { name: "…" }',
    fits: (value) => ["auto", "none", "required"].includes(value as string) || TEXT.fits(Object(value).name),
  },
  maxOutputTokens: whole(1),
  temperature: AMOUNT,
  reasoning: oneOf("low", "medium", "high"),
  parameters: OBJECT,
  overrides: LIST,
  instructions: TEXT,
  sendMisaligned: TEXT,
};
