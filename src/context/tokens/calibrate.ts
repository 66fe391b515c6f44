import type { TokenCounter } from "../../contracts/token-counter.ts";

/** How a counter's counts compare with what a provider reported. Plain data, kept with the session. */
export interface Calibration {
  /** Reported tokens per counted token. */
  readonly factor: number;
  /** How far single requests deviate from the factor. */
  readonly spread: number;
  readonly samples: number;
}

/** A calibration without any samples. */
export const UNCALIBRATED: Calibration = { factor: 1, spread: 0, samples: 0 };

/** A report further off is about something else than what was counted. */
const MOST_OFF = 4;

/** The newest requests count most: a conversation that turns from prose to code changes its rate. */
const NEWEST = 0.3;

/** Adds one request to a calibration. */
export function calibrate(
  before: Calibration,
  request: { readonly counted: number; readonly reported: number },
): Calibration {
  if (request.counted <= 0 || request.reported <= 0) return before;
  const ratio = request.reported / request.counted;
  if (ratio < 1 / MOST_OFF || ratio > MOST_OFF) return before;
  if (before.samples === 0) return { factor: ratio, spread: 0, samples: 1 };
  const off = Math.abs(ratio - before.factor) / before.factor;
  return {
    factor: before.factor + (ratio - before.factor) * NEWEST,
    spread: Math.max(off, before.spread + (off - before.spread) * NEWEST),
    samples: before.samples + 1,
  };
}

const EXACT_RESERVE = 0.02;
/** An estimate that is 30 % too low still fits: 0.75 × 1.3 < 1. */
const ESTIMATE_RESERVE = 0.25;
const LEAST_RESERVE = 0.05;
const ENOUGH_SAMPLES = 3;

/** The share of a limit that is held back because counts may be wrong. */
export function reserveOf(counter: TokenCounter, calibration: Calibration = UNCALIBRATED): number {
  if (counter.exact) return EXACT_RESERVE;
  if (calibration.samples < ENOUGH_SAMPLES) return ESTIMATE_RESERVE;
  return Math.min(ESTIMATE_RESERVE, Math.max(LEAST_RESERVE, calibration.spread * 2));
}

/**
 * Converts a provider's limit into the counter's own tokens. The limit is converted, not the counts: a count is made
 * once, and would otherwise have to be redone with every report.
 */
export function budgetWithin(limit: number, counter: TokenCounter, calibration: Calibration = UNCALIBRATED): number {
  const factor = counter.exact ? 1 : calibration.factor;
  return Math.floor((limit / factor) * (1 - reserveOf(counter, calibration)));
}
