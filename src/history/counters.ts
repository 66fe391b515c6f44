import type { CallItem, Item, OutputItem } from "../wire/item.ts";
import { OUTPUT_STATUSES, type OutputStatus } from "../wire/status.ts";
import { FAULT_KINDS, type FaultKind } from "./faults.ts";
import type { Repair } from "./repair.ts";
import type { HistoryValidationReport } from "./report.ts";

/** A count for each kind of fault. */
export type CountByKind = Readonly<Record<FaultKind, number>>;

/** Counts violations and repairs by kind since it was made, whatever the log level. */
export class HistoryCounters {
  readonly #violations = zeros();
  readonly #repairs = zeros();

  /** Adds what one check or repair found. */
  count(result: { readonly report: HistoryValidationReport; readonly repairs: readonly Repair[] }): void {
    for (const { kind } of result.report.faults) this.#violations[kind] += 1;
    for (const { fault } of result.repairs) this.#repairs[fault.kind] += 1;
  }

  get violations(): CountByKind {
    return { ...this.#violations };
  }

  get repairs(): CountByKind {
    return { ...this.#repairs };
  }
}

function zeros(): Record<FaultKind, number> {
  return Object.fromEntries(FAULT_KINDS.map((kind) => [kind, 0])) as Record<FaultKind, number>;
}

/** How one tool was used. */
export interface ToolUse {
  readonly calls: number;
  readonly statuses: Readonly<Record<OutputStatus, number>>;
  /** Milliseconds between call and output, summed over the calls that carry both times; `timed` says how many do. */
  readonly totalMs: number;
  readonly timed: number;
}

/**
 * How each tool was used: its calls, how they ended, and how long they took. An output counts for the tool that its
 * call names.
 */
export function countToolUse(items: readonly Item[]): ReadonlyMap<string, ToolUse> {
  const uses = new Map<string, { -readonly [K in keyof ToolUse]: ToolUse[K] }>();
  const calls = new Map<string, CallItem>();
  for (const item of items) {
    if (item.kind === "call") {
      const use = uses.get(item.name) ?? { calls: 0, statuses: noStatuses(), totalMs: 0, timed: 0 };
      use.calls += 1;
      uses.set(item.name, use);
      if (item.callId !== undefined) calls.set(item.callId, item);
    } else if (item.kind === "output" && item.callId !== undefined) {
      const call = calls.get(item.callId);
      const use = call === undefined ? undefined : uses.get(call.name);
      if (call === undefined || use === undefined) continue;
      use.statuses = { ...use.statuses, [item.status]: use.statuses[item.status] + 1 };
      const took = elapsed(call, item);
      if (took === undefined) continue;
      use.totalMs += took;
      use.timed += 1;
    }
  }
  return uses;
}

function noStatuses(): Record<OutputStatus, number> {
  return Object.fromEntries(OUTPUT_STATUSES.map((status) => [status, 0])) as Record<OutputStatus, number>;
}

/** A clock that went back between the two would make a tool faster than nothing. */
function elapsed(call: CallItem, output: OutputItem): number | undefined {
  const took = Date.parse(output.at ?? "") - Date.parse(call.at ?? "");
  return took >= 0 && output.synthetic !== true ? took : undefined;
}
