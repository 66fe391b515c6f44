import { ANYTHING, checkOptions, having, listOf, OBJECT, type OptionRules, oneOf } from "../base/options.ts";
import type { Item, ToolCallId } from "../wire/item.ts";
import { PROFILES } from "../wire/profiles.ts";
import { FAULT_KINDS, type FaultKind, type HistoryFault } from "./faults.ts";
import type { HistoryIndex } from "./history-index.ts";
import { asPaired, type PairedHistory } from "./paired.ts";
import { type Plan, planRepair, type RepairAction } from "./plan.ts";
import { HistoryValidationReport } from "./report.ts";
import { type CheckOptions, faultOf, resolve, type Resolved } from "./resolve.ts";
import { PairScan } from "./scan.ts";

/** Options of `repairHistory`. */
export interface RepairOptions extends CheckOptions {
  /** An index that is kept up to date as the log grows. The check then costs only what is new. */
  readonly index?: HistoryIndex;
  /** Repair only these kinds of fault. Default: all. */
  readonly only?: readonly FaultKind[];
}

/** A misspelt `only` would repair everything where somebody wanted one kind. */
export const REPAIR_OPTIONS: OptionRules<RepairOptions> = {
  profile: oneOf(...Object.keys(PROFILES)),
  index: OBJECT,
  only: listOf(oneOf(...FAULT_KINDS)),
  inFlight: { ...having("get", "has"), wants: "a Map of call ids" },
  now: ANYTHING, // also no moment at all
  tools: { ...having("has"), wants: "a Set of the tools' names" },
};

/** One fault and what was done about it. */
export interface Repair {
  readonly fault: HistoryFault;
  readonly action: RepairAction;
  /** The item that is in the repaired history because of it. */
  readonly item?: Item;
}

/** A repaired history, what was wrong, and what was done about it. */
export interface Repaired {
  /** The repaired history; the same array when nothing was wrong. */
  readonly history: PairedHistory;
  /** What was wrong with the history before repair. */
  readonly report: HistoryValidationReport;
  readonly repairs: readonly Repair[];
  /** New ids of calls, by the position of the call. Keep them beside the log. */
  readonly renamed: ReadonlyMap<number, ToolCallId>;
}

const NONE_RENAMED: ReadonlyMap<number, ToolCallId> = new Map();

/** Reports what is wrong with a history, and changes nothing. */
export function validateHistory(
  items: readonly Item[],
  options: CheckOptions & Pick<RepairOptions, "index"> = {},
): HistoryValidationReport {
  const scan = scanOf(items, options);
  return isQuiet(scan) ? new HistoryValidationReport([]) : resolve(scan, items, options).report;
}

/** Repairs a history. Pure: the log is not touched, and the same log gives the same bytes in every process. */
export function repairHistory(items: readonly Item[], options: RepairOptions = {}): Repaired {
  checkOptions(options, REPAIR_OPTIONS);
  return repaired(items, options);
}

/** The same for whoever has checked the options, and has more of them. */
export function repaired(items: readonly Item[], options: RepairOptions): Repaired {
  const scan = scanOf(items, options);
  if (isQuiet(scan)) return untouched(items, new HistoryValidationReport([]));
  const { findings, report } = resolve(scan, items, options);
  const chosen = options.only === undefined ? findings : findings.filter((one) => options.only?.includes(one.kind));
  if (chosen.length === 0) return untouched(items, report);
  const plan = planRepair(items, chosen, options.index?.made);
  const known = new Map(findings.map((finding, at) => [finding, report.faults[at] as HistoryFault]));
  // A bond that broke because its call was removed has no fault in the report: it was whole before.
  const fault = (finding: Resolved) => known.get(finding) ?? faultOf(finding, items);
  return {
    history: asPaired(apply(items, plan)),
    report,
    repairs: plan.decisions.map(({ finding, ...done }) => ({ fault: fault(finding), ...done })),
    renamed: plan.renamed,
  };
}

function scanOf(items: readonly Item[], options: RepairOptions): PairScan {
  if (options.index !== undefined) return options.index.scan(items, options.tools);
  const scan = new PairScan(options.tools);
  scan.read(items);
  return scan;
}

function isQuiet(scan: PairScan): boolean {
  return scan.clean && scan.unpairable.length === 0 && scan.unknownStatuses.length === 0;
}

function untouched(items: readonly Item[], report: HistoryValidationReport): Repaired {
  return { history: asPaired(items), report, repairs: [], renamed: NONE_RENAMED };
}

function apply(items: readonly Item[], { drops, replacements, insertions, notes }: Plan): readonly Item[] {
  const edits = editPositions(drops, replacements, insertions, notes);
  const result: Item[] = items.slice(0, edits[0]);
  const waiting: Item[] = [];
  let next = 0;
  for (let at = result.length; at <= items.length; at += 1) {
    const item = items[at];
    const edited = at === edits[next];
    if (edited) {
      next += 1;
      for (const added of insertions.get(at) ?? []) result.push(added);
    }
    if (waiting.length > 0 && (isPause(result.at(-1), item) || isSpoken(result.at(-1), items[at - 1], item)))
      for (const note of waiting.splice(0)) result.push(note);
    if (edited) for (const note of notes.get(at) ?? []) waiting.push(note);
    if (item === undefined || (edited && drops.has(at))) continue;
    result.push((edited ? replacements.get(at) : undefined) ?? item);
  }
  return result.concat(waiting);
}

/** Whether a note may stand between two items: not inside an answer, nor between it and its outputs. */
function isPause(before: Item | undefined, after: Item | undefined): boolean {
  if (after === undefined) return true;
  if (after.kind === "output" || after.kind === "approval-answer") return false;
  return isHost(after) || before === undefined || before.kind === "output" || isHost(before);
}

/**
 * Whether an answer has ended in words because its outputs are left out. A note that waited on would be told behind the next
 * answer, which was given to it, and would move there from where it was sent before.
 */
function isSpoken(before: Item | undefined, leftOut: Item | undefined, after: Item | undefined): boolean {
  return before?.kind === "assistant" && leftOut?.kind === "output" && isPause(leftOut, after);
}

function isHost(item: Item): boolean {
  return item.kind === "user" || item.kind === "system" || (item.kind === "other" && item.by === "host");
}

/** Where the copy has to stop and look, rising; everything between is copied as it stands. */
function editPositions(...edits: readonly (ReadonlySet<number> | ReadonlyMap<number, unknown>)[]): number[] {
  const positions = new Set<number>();
  for (const edit of edits) for (const at of edit.keys()) positions.add(at);
  return [...positions].sort((one, other) => one - other);
}
