import type { CallKind, ToolCallId } from "../wire/item.ts";
import { FAULT_KINDS, FAULT_WORDS, type FaultKind, type HistoryFault } from "./faults.ts";

/** A call without an output. */
export interface MissingOutput {
  readonly callId: ToolCallId;
  readonly toolName: string;
  readonly at: number;
  readonly callKind: CallKind;
}

/**
 * A call without an output that is not a fault: it is still running, or its host is about to run it, or to answer a
 * denial.
 */
export interface OpenCall {
  readonly callId: ToolCallId;
  readonly toolName: string;
  readonly at: number;
  readonly waitsFor: "tool" | "approval" | "denial";
}

/**
 * What is wrong with a history. The report depends on nothing but the history: not on a clock, and not on the order of
 * a table.
 */
export class HistoryValidationReport {
  /** All faults, in order of position. */
  readonly faults: readonly HistoryFault[];
  readonly missingOutputs: readonly MissingOutput[];
  readonly orphanOutputs: readonly ToolCallId[];
  readonly inFlight: readonly OpenCall[];
  /** Positions of calls that have no id because their format allows it. They are not faults, and are never answered. */
  readonly unpairable: readonly number[];
  /** Positions of outputs whose stored status was unknown; they count as failed. */
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

  /** True when there is no fault. */
  isValid(): boolean {
    return this.faults.length === 0;
  }

  /** How many faults of a kind there are. */
  count(kind: FaultKind): number {
    return this.faults.reduce((sum, fault) => (fault.kind === kind ? sum + 1 : sum), 0);
  }

  /** One line, in the seed document's words: missing and orphan outputs always, other kinds if there are any. */
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
