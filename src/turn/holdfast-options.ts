import type { Clock } from "../base/clock.ts";
import {
  BOOLEAN,
  FUNCTION,
  LIST,
  OBJECT,
  type OptionRule,
  type OptionRules,
  oneOf,
  TEXT,
  whole,
} from "../base/options.ts";
import type { Random } from "../base/random.ts";
import type { Store } from "../contracts/store.ts";
import type { StoreSource } from "../contracts/store-source.ts";
import type { Secret, SecretOptions } from "../records/redact.ts";
import type { SessionOptions } from "./resume.ts";
import type { ForkOptions } from "./session-parts.ts";

export interface HoldfastOptions extends SessionOptions {
  readonly store: Store | StoreSource;
  readonly clock?: Clock;
  readonly random?: Random;
  /** What must never be kept, beside what looks like a secret. */
  readonly secrets?: readonly Secret[] | SecretOptions;
}

const having = (...methods: readonly string[]): OptionRule => ({
  wants: `an object with ${methods.join(", ")}`,
  fits: (value) => methods.every((method) => typeof (Object(value) as Record<string, unknown>)[method] === "function"),
});
const either = (one: OptionRule, other: OptionRule): OptionRule => ({
  wants: `${one.wants} or ${other.wants}`,
  fits: (value) => one.fits(value) || other.fits(value),
});

/** What `createHoldfast` can be told. A misspelt one would leave a kernel without its tools, and nobody would know why. */
export const HOLDFAST_OPTIONS: OptionRules<HoldfastOptions> = {
  store: OBJECT,
  clock: having("now", "monotonic", "sleep"),
  random: having("hex", "fraction"),
  secrets: OBJECT,
  writeback: OBJECT,
  retention: OBJECT,
  tools: LIST,
  agents: LIST,
  slices: LIST,
  policies: LIST,
  parts: LIST,
  prompt: OBJECT,
  context: OBJECT,
  resources: FUNCTION,
  ids: having("next"),
  code: having("run"),
  telemetry: OBJECT,
  checkpoints: OBJECT,
  development: BOOLEAN,
  workspace: either(TEXT, OBJECT),
  exec: OBJECT,
  parallel: whole(1),
  commitOrder: oneOf("settle", "call"),
  observe: FUNCTION,
  onTelemetryFailure: FUNCTION,
};

export const FORK_OPTIONS: OptionRules<ForkOptions & { readonly after?: number }> = {
  as: TEXT,
  after: whole(0),
  workspace: TEXT,
};
