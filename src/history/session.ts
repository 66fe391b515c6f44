import { HoldfastError } from "../base/errors.ts";
import { checkOptions, OBJECT } from "../base/options.ts";
import type { Json } from "../base/json.ts";
import type { Item } from "../wire/item.ts";
import { CONTEXT_DEFAULTS, type ContextConfig } from "./config.ts";
import {
  faultJson,
  invalidHistory,
  NORMALIZE_OPTIONS,
  type Normalized,
  normalize,
  type NormalizeOptions,
} from "./normalize.ts";
import type { PairedHistory } from "./paired.ts";
import { type Repaired, repaired, repairHistory, type RepairOptions, validateHistory } from "./repair.ts";
import type { HistoryValidationReport } from "./report.ts";
import { type Quarantined, readItems } from "./saved.ts";

/** The record to journal about one repair. This function only returns it; the kernel writes it. */
export interface HistoryRepairedDraft {
  readonly kind: "history-repaired";
  readonly fault: string;
  readonly callId?: string;
  readonly detail: Json;
}

/** A repaired history with the records to journal about its repairs. */
export interface RecoveredHistory extends Repaired {
  /** One record for each fault. The log itself keeps its gaps; the records say how they were read. */
  readonly records: readonly HistoryRepairedDraft[];
}

/** Repairs what a crash or an interruption left behind, and returns the records that say so. */
export function recoverFromCrash(items: readonly Item[], options: RepairOptions = {}): RecoveredHistory {
  return withRecords(repairHistory(items, options));
}

function withRecords(repaired: Repaired): RecoveredHistory {
  return { ...repaired, records: repairRecords(repaired) };
}

/** One `history-repaired` record for each fault that was repaired. */
export function repairRecords({ repairs }: Pick<Repaired, "repairs">): readonly HistoryRepairedDraft[] {
  return repairs.map(({ fault, action, item }) => ({
    kind: "history-repaired",
    fault: fault.kind,
    ...(fault.callId === undefined ? {} : { callId: fault.callId }),
    detail: { ...faultJson(fault), action, ...(item?.id === undefined ? {} : { itemId: item.id }) },
  }));
}

/** Options of `loadSession`. */
export interface LoadOptions extends NormalizeOptions {
  readonly config?: ContextConfig;
}

/** A session that was read: writable and repaired, or read-only as it was found. */
export type LoadedSession =
  | {
      readonly mode: "writable";
      readonly history: PairedHistory;
      readonly report: HistoryValidationReport;
      readonly records: readonly HistoryRepairedDraft[];
      readonly quarantined: readonly Quarantined[];
    }
  /** A crash was found and recovery is switched off: look, decide, but do not go on. */
  | {
      readonly mode: "read-only";
      readonly history: readonly Item[];
      readonly report: HistoryValidationReport;
      readonly quarantined: readonly Quarantined[];
    };

/** Reads a saved session (a JSON array, or one item a line) and repairs it. */
export function loadSession(saved: string, options: LoadOptions = {}): LoadedSession {
  checkOptions(options, { ...NORMALIZE_OPTIONS, config: OBJECT });
  const { config = CONTEXT_DEFAULTS } = options;
  const { items, quarantined } = readItems(saved);
  const report = validateHistory(items, options);
  if (!report.isValid() && !config.autoRecoverFromCrash)
    return { mode: "read-only", history: items, report, quarantined };
  const { history, records } = withRecords(repaired(items, options));
  const again = normalize(history, quiet(options, config));
  return { mode: "writable", history: again.history, report, records, quarantined };
}

/** Options of `getHistoryForPrompt`. */
export interface PromptOptions extends NormalizeOptions {
  readonly config?: ContextConfig;
}

/**
 * The history as the next request may carry it. With enforcement on, it throws if the history is still malformed after
 * repair: a call that is still running has no output yet, and no provider accepts that.
 */
export function getHistoryForPrompt(items: readonly Item[], options: PromptOptions = {}): Normalized {
  const { config = CONTEXT_DEFAULTS } = options;
  const normalized = normalize(items, quiet(options, config));
  if (!config.enforceHistoryInvariants || normalized.report.isValid()) return refuseOpen(normalized, config);
  const { index: _index, ...check } = options; // the index knows the log, not its projection
  const left = validateHistory(normalized.history, check);
  if (!left.isValid()) throw invalidHistory(left);
  return refuseOpen(normalized, config);
}

function refuseOpen(normalized: Normalized, config: ContextConfig): Normalized {
  const running = normalized.report.inFlight.filter((call) => call.waitsFor === "tool");
  if (!config.enforceHistoryInvariants || running.length === 0) return normalized;
  throw new HoldfastError(
    "HISTORY_CALLS_OPEN",
    { calls: running.map((call) => call.callId), tools: running.map((call) => call.toolName) },
    { cause: normalized.report },
  );
}

function quiet({ config: _config, ...options }: PromptOptions, config: ContextConfig): NormalizeOptions {
  if (config.warnOnInvariantViolations || options.warn === undefined) return options;
  const { warn: _warn, ...rest } = options;
  return rest;
}
