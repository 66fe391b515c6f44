import type { CallKind, ToolCallId } from "../wire/item.ts";
import { FAULT_KINDS, FAULT_WORDS, type FaultKind, type HistoryFault } from "./faults.ts";

export interface MissingOutput {
  readonly callId: ToolCallId;
  readonly toolName: string;
  readonly at: number;
  readonly callKind: CallKind;
}

/**
 * A call that is still running, or that its host is about to run or, after a denial, to answer without running it: not
 * missing.
 */
export interface OpenCall {
  readonly callId: ToolCallId;
  readonly toolName: string;
  readonly at: number;
  readonly waitsFor: "tool" | "approval" | "denial";
}

/** What is wrong with a history. Nothing in it depends on a clock or on the order of a table. */
export class HistoryValidationReport {
  /** Every fault, by position. */
  readonly faults: readonly HistoryFault[];
  readonly missingOutputs: readonly MissingOutput[];
  readonly orphanOutputs: readonly ToolCallId[];
  readonly inFlight: readonly OpenCall[];
  /** Calls without any id that their format allows: never faults, never answered. */
  readonly unpairable: readonly number[];
  /** Outputs whose stored status was none of the four; they read as failed. */
  readonly unknownStatuses: readonly number[];

  constructor(
    faults: readonly HistoryFault[],
    beside: Partial<Pick<HistoryValidationReport, "inFlight" | "unpairable" | "unknownStatuses">> = {},
  ) {
    this.faults = faults;
    this.missingOutputs = faults.filter((fault) => fault.kind === "missing-output").map(missing);
    this.orphanOutputs = faults
      .filter((fault) => fault.kind === "orphan-output")
      .map((fault) => fault.callId as ToolCallId);
    this.inFlight = beside.inFlight ?? [];
    this.unpairable = beside.unpairable ?? [];
    this.unknownStatuses = beside.unknownStatuses ?? [];
  }

  isValid(): boolean {
    return this.faults.length === 0;
  }

  count(kind: FaultKind): number {
    return this.faults.reduce((sum, fault) => (fault.kind === kind ? sum + 1 : sum), 0);
  }

  /** The seed's words: missing and orphans always, further kinds when there are any. */
  summary(): string {
    if (this.isValid()) return "History invariants are valid";
    return FAULT_KINDS.filter((kind, at) => at < 2 || this.count(kind) > 0)
      .map((kind) => `${this.count(kind)} ${FAULT_WORDS[kind]}`)
      .join(", ");
  }
}

function missing(fault: HistoryFault): MissingOutput {
  return {
    callId: fault.callId as ToolCallId,
    toolName: fault.toolName as string,
    at: fault.at,
    callKind: fault.callKind as CallKind,
  };
}
