import type { Item, OutputItem, ToolCallId } from "../wire/item.ts";
import type { OutputReason, OutputStatus } from "../wire/status.ts";
import { type Repaired, validateHistory } from "./repair.ts";
import { syntheticOutput } from "./synthetic.ts";

/** How a pending call ended. */
export interface PendingEnd {
  readonly status: OutputStatus;
  readonly reason: OutputReason;
}

/**
 * The outputs to write for calls that were running when the turn ended. Only calls that are still in the history and
 * unanswered get one; an output for a call that was compacted away would be an orphan.
 */
export function flushPending(
  items: readonly Item[],
  pending: ReadonlyMap<ToolCallId, PendingEnd>,
): readonly OutputItem[] {
  const outputs: OutputItem[] = [];
  for (const { at, callId } of validateHistory(items).missingOutputs) {
    const end = pending.get(callId);
    const call = items[at];
    if (end !== undefined && call?.kind === "call") outputs.push(syntheticOutput(call, end));
  }
  return outputs;
}

/**
 * The synthetic outputs of a repaired history that was sent, to be appended to the log. From then on they are frozen: a
 * real result that arrives later is shown once, at the end, so that the prefix the provider has cached stays the same.
 */
export function frozenOutputs({ repairs }: Pick<Repaired, "repairs">): readonly OutputItem[] {
  return repairs.flatMap(({ item }) =>
    item?.kind === "output" && item.synthetic === true && item.frozen !== true ? [{ ...item, frozen: true }] : [],
  );
}
