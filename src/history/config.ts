import { HoldfastError } from "../base/errors.ts";

/** The `[context]` table of the configuration, in the words of the seed. */
export interface ContextConfig {
  /** True: what still fails after repair is refused. False: it is repaired, reported and sent. */
  readonly enforceHistoryInvariants: boolean;
  /** False: a session that crashed opens read-only, with its report. */
  readonly autoRecoverFromCrash: boolean;
  /** False silences the log, never the counters. */
  readonly warnOnInvariantViolations: boolean;
}

/** The seed leaves enforcement off; here a broken request is not sent unless somebody asks for that. */
export const CONTEXT_DEFAULTS: ContextConfig = {
  enforceHistoryInvariants: true,
  autoRecoverFromCrash: true,
  warnOnInvariantViolations: true,
};

const KEYS = {
  enforce_history_invariants: "enforceHistoryInvariants",
  auto_recover_from_crash: "autoRecoverFromCrash",
  warn_on_invariant_violations: "warnOnInvariantViolations",
} as const satisfies Record<string, keyof ContextConfig>;

/** Reads the `[context]` table. A key it does not know is an error, not a wish that nobody heard. */
export function contextConfig(table: Readonly<Record<string, unknown>> = {}): ContextConfig {
  const config: { -readonly [K in keyof ContextConfig]: ContextConfig[K] } = { ...CONTEXT_DEFAULTS };
  for (const [key, value] of Object.entries(table)) {
    if (!Object.hasOwn(KEYS, key)) {
      throw new HoldfastError("BAD_OPTION", { option: `context.${key}`, didYouMean: nearest(key) });
    }
    if (typeof value !== "boolean") {
      throw new HoldfastError("BAD_OPTION", { option: `context.${key}`, wants: "true or false", got: typeof value });
    }
    config[KEYS[key as keyof typeof KEYS]] = value;
  }
  return config;
}

/** The known key that shares most pairs of letters. */
function nearest(key: string): string {
  const pairs = (text: string) => new Set(Array.from({ length: text.length - 1 }, (_, at) => text.slice(at, at + 2)));
  const wanted = pairs(key);
  const score = (known: string) => pairs(known).intersection(wanted).size / pairs(known).size;
  return Object.keys(KEYS).reduce((best, known) => (score(known) > score(best) ? known : best));
}
