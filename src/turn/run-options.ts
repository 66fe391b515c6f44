import {
  AMOUNT,
  atLeast,
  BOOLEAN,
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
import type { Model } from "../contracts/model.ts";
import type { ContextConfig } from "../history/config.ts";
import type { RetryOptions } from "./ask.ts";
import type { RunLimits } from "./limits.ts";
import type { RequestOptions } from "./request.ts";
import type { StoryOptions } from "./story.ts";
import type { AskSomebody } from "./waiting.ts";

/** Options of `session.run`. Only `model` is required. */
export interface RunOptions extends RequestOptions, StoryOptions {
  /** The model to ask. */
  readonly model: Model;
  /** Stops the turn when it aborts. */
  readonly signal?: AbortSignal;
  /** Bounds on what this run may use. */
  readonly limits?: RunLimits;
  /** How often and how patiently the model is asked again after a failure. */
  readonly retry?: RetryOptions;
  /** The model's context window: tokens read and written in one request. Default: `context.window` of the session. */
  readonly window?: number;
  /** Seed 000's `[context]` table, as `contextConfig` reads it. Recovery is not affected: it happens at opening. */
  readonly history?: ContextConfig;
  /** Asks somebody to consent or to answer while other calls run. Without it, the turn ends as `waiting`. */
  readonly ask?: AskSomebody;
}

export const MODEL: OptionRule = { ...having("ask"), wants: 'a model, e.g. what anthropic({ model: "…" }) returns' };

/** Without end nothing would ever be left out, and no share of it is a number. */
export const WINDOW: OptionRule = {
  wants: "a number from 1, not without end",
  fits: (value) => Number.isFinite(value) && Number(value) >= 1,
};

export const LIMITS: OptionRule = options<RunLimits>({
  steps: AMOUNT,
  tokens: AMOUNT,
  inputTokens: AMOUNT,
  outputTokens: AMOUNT,
  expansions: AMOUNT,
  timeMs: AMOUNT,
  cost: AMOUNT,
  price: FUNCTION,
});

export const REQUEST_OPTIONS: OptionRules<RequestOptions> = {
  toolChoice: {
    wants: 'auto, none, required or { name: "…" }',
    fits: (value) => ["auto", "none", "required"].includes(value as string) || TEXT.fits(Object(value).name),
  },
  maxOutputTokens: whole(1),
  temperature: { wants: "a number from 0", fits: (value) => Number.isFinite(value) && Number(value) >= 0 },
  reasoning: oneOf("low", "medium", "high"),
};

/** What `run` can be told. A misspelt bound would be none, and somebody pays for it. */
export const RUN_OPTIONS: OptionRules<RunOptions> = {
  ...REQUEST_OPTIONS,
  model: MODEL,
  signal: OBJECT,
  limits: LIMITS,
  retry: options<RetryOptions>({ attempts: atLeast(1), firstMs: AMOUNT, mostMs: AMOUNT, patienceMs: AMOUNT }),
  window: WINDOW,
  history: options<ContextConfig>(
    { enforceHistoryInvariants: BOOLEAN, autoRecoverFromCrash: BOOLEAN, warnOnInvariantViolations: BOOLEAN },
    // One that is left out would be no, and broken requests would be sent.
    ["enforceHistoryInvariants", "autoRecoverFromCrash", "warnOnInvariantViolations"],
  ),
  ask: FUNCTION,
  parameters: OBJECT,
  overrides: LIST,
  instructions: TEXT,
  sendMisaligned: TEXT,
};
