import type { Item, OutputItem, ToolCallId } from "../wire/item.ts";
import type { OutputReason, OutputStatus } from "../wire/status.ts";
import { type Repaired, validateHistory } from "./repair.ts";
import { syntheticOutput } from "./synthetic.ts";

export interface PendingEnd {
  readonly status: OutputStatus;
  readonly reason: OutputReason;
}

/**
 * The outputs to write for calls that were running when the turn ended. Only calls the history still holds and nobody
 * answered get one: an id whose call was compacted away would become an orphan.
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
 * The synthetic outputs of a projection that was sent, to be appended to the log. From then on they are frozen: a
 * result that comes later is told once, at the end, and the prefix the provider has cached stays as it was.
 */
export function frozenOutputs({ repairs }: Pick<Repaired, "repairs">): readonly OutputItem[] {
  return repairs.flatMap(({ item }) =>
    item?.kind === "output" && item.synthetic === true && item.frozen !== true ? [{ ...item, frozen: true }] : [],
  );
}
