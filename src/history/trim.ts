import type { Item } from "../wire/item.ts";
import { type ProtocolGroup, protocolGroups } from "./groups.ts";
import { type RepairOptions, type Repaired, repairHistory } from "./repair.ts";

/** A shortened history, repaired after the cut. */
export interface Trimmed extends Repaired {
  /** Positions of what was removed, in the history that came in. */
  readonly removed: readonly number[];
}

/**
 * Keeps the newest `keepCount` items, and as many more as are needed so that no group is split. Instructions at the
 * very front stay. Pairing is repaired after the cut.
 */
export function trimOldHistory(items: readonly Item[], keepCount: number, options: RepairOptions = {}): Trimmed {
  if (items.length <= keepCount) return { ...repairHistory(items, options), removed: [] };
  return keepFrom(items, safeCut(items, items.length - Math.max(0, Math.trunc(keepCount))), options);
}

/** Removes the oldest group: both halves of a pair, and all of a batch. */
export function removeOldest(items: readonly Item[], options: RepairOptions = {}): Trimmed {
  const front = instructions(items);
  const oldest = protocolGroups(items).find((group) => (group.members[0] as number) >= front);
  return without(items, oldest === undefined ? [] : [oldest], options);
}

/** The nearest position at or before `at` where a cut splits no group. */
export function safeCut(items: readonly Item[], at: number): number {
  let cut = Math.min(Math.max(0, at), items.length);
  // From the newest: a group that reaches over the cut pulls it back, perhaps into an older one.
  for (const group of protocolGroups(items).toReversed()) {
    const first = group.members[0] as number;
    const last = group.members.at(-1) as number;
    if (first < cut && last >= cut) cut = first;
  }
  return cut;
}

/**
 * The newest whole groups, for a compacted history. A group that lacks an output is left out entirely, because
 * otherwise half a batch would be answered with words that nobody said. The user's messages stay.
 */
export function compactTail(items: readonly Item[], keepCount: number, options: RepairOptions = {}): Trimmed {
  const cut = safeCut(items, items.length - keepCount);
  const gone = protocolGroups(items).filter(
    (group) => (group.members[0] as number) < cut || (group.kind !== "message" && !group.complete),
  );
  return without(items, gone, options);
}

/** Applies cuts that know nothing of pairing, one after the other, and repairs pairing after the last. */
export function cutThenPair(
  items: readonly Item[],
  cuts: readonly ((items: readonly Item[]) => readonly Item[])[],
  options: RepairOptions = {},
): Repaired {
  return repairHistory(
    cuts.reduce((left, cut) => cut(left), items),
    withoutIndex(options),
  );
}

function keepFrom(items: readonly Item[], cut: number, options: RepairOptions): Trimmed {
  const front = instructions(items);
  return without(
    items,
    protocolGroups(items).filter((group) => {
      const first = group.members[0] as number;
      return first >= front && first < cut;
    }),
    options,
  );
}

function without(items: readonly Item[], gone: readonly ProtocolGroup[], options: RepairOptions): Trimmed {
  const removed = gone.flatMap((group) => group.members).sort((one, other) => one - other);
  if (removed.length === 0) return { ...repairHistory(items, options), removed };
  const leave = new Set(removed);
  const left = items.filter((_, at) => !leave.has(at));
  return { ...repairHistory(left, withoutIndex(options)), removed };
}

/** An index knows the log that was cut, not what is left of it. */
function withoutIndex(options: RepairOptions): RepairOptions {
  const { index: _index, ...rest } = options;
  return rest;
}

function instructions(items: readonly Item[]): number {
  const first = items.findIndex((item) => item.kind !== "system");
  return first === -1 ? items.length : first;
}
