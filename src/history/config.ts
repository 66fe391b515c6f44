import { HoldfastError } from "../base/errors.ts";

/** The `[context]` table of the configuration, under the names of the seed documents. */
export interface ContextConfig {
  /**
   * `true`: a request that is still malformed after repair is refused. `false`: it is reported and sent. Default
   * `true`.
   */
  readonly enforceHistoryInvariants: boolean;
  /** `false`: a session that crashed opens read-only, with its report. Default `true`. */
  readonly autoRecoverFromCrash: boolean;
  /** `false` silences the log, but not the counters. Default `true`. */
  readonly warnOnInvariantViolations: boolean;
}

/**
 * The defaults. The seed document leaves enforcement off; here a broken request is not sent unless you ask for that.
 */
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

/** Reads the `[context]` table. An unknown key is an error, so that a misspelt setting does not go unnoticed. */
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
