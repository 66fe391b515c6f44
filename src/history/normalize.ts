import { HoldfastError } from "../base/errors.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { checkOptions, FUNCTION, having, type OptionRules, oneOf } from "../base/options.ts";
import type { Item } from "../wire/item.ts";
import type { HistoryCounters } from "./counters.ts";
import type { HistoryFault } from "./faults.ts";
import type { PairedHistory } from "./paired.ts";
import {
  REPAIR_OPTIONS,
  type RepairOptions,
  type Repaired,
  repaired,
  repairHistory,
  validateHistory,
} from "./repair.ts";
import type { HistoryValidationReport } from "./report.ts";
import type { CheckOptions } from "./resolve.ts";

/** Options of `normalize`. */
export interface NormalizeOptions extends RepairOptions {
  /** `strict` throws the full report instead of repairing. Default `lenient`. */
  readonly mode?: "strict" | "lenient";
  /** Counts the faults and repairs. */
  readonly counters?: HistoryCounters;
  /** Called once for each history that had faults, with a line that sums them up. */
  readonly warn?: (line: string) => void;
}

/** A repaired history, and what was wrong with it. */
export interface Normalized extends Repaired {
  /** The repaired history; the same array when nothing was wrong. */
  readonly items: PairedHistory;
}

/** A misspelt `mode` would repair where somebody wanted to hear. */
export const NORMALIZE_OPTIONS: OptionRules<NormalizeOptions> = {
  ...REPAIR_OPTIONS,
  mode: oneOf("strict", "lenient"),
  counters: having("count"),
  warn: FUNCTION,
};

/**
 * Enforces every pairing invariant. Call it after loading a history, after removing anything from it, and before every
 * request.
 */
export function normalize(items: readonly Item[], options: NormalizeOptions = {}): Normalized {
  checkOptions(options, NORMALIZE_OPTIONS);
  const whole = repaired(items, options);
  options.counters?.count(whole);
  if (!whole.report.isValid()) {
    options.warn?.(whole.report.summary());
    if (options.mode === "strict") throw invalidHistory(whole.report);
  }
  return { ...whole, items: whole.history };
}

/** The seed's name for `validateHistory`. */
export function validateHistoryInvariants(items: readonly Item[], options: CheckOptions = {}): HistoryValidationReport {
  return validateHistory(items, options);
}

/** Adds an output for every call that has none, and changes nothing else. */
export function ensureCallOutputsPresent(items: readonly Item[], options: RepairOptions = {}): Repaired {
  return repairHistory(items, { ...options, only: ["missing-output"] });
}

/** Removes every output that has no call, and changes nothing else. */
export function removeOrphanOutputs(items: readonly Item[], options: RepairOptions = {}): Repaired {
  return repairHistory(items, { ...options, only: ["orphan-output"] });
}

/** What a strict refusal carries: the summary in its details, the whole report as its cause. */
export function invalidHistory(report: HistoryValidationReport): HoldfastError {
  return new HoldfastError(
    "HISTORY_INVALID",
    { summary: report.summary(), first: firstFault(report) },
    { cause: report },
  );
}

function firstFault(report: HistoryValidationReport): JsonObject {
  const [fault] = report.faults;
  return fault === undefined ? {} : faultJson(fault);
}

/** A fault as plain data, for records and details. */
export function faultJson(fault: HistoryFault): { readonly [key: string]: Json } {
  return { ...fault } as unknown as { readonly [key: string]: Json };
}
