import { repairHistory } from "../history/repair.ts";
import type { Item } from "../wire/item.ts";
import type { View, ViewEntry } from "./view.ts";

/** Ids of calls that stand in a view or stood in one before it. Grows only, so it may be shared by views that part ways. */
const callIds = new WeakMap<readonly Item[], Set<string>>();

/**
 * Whether new items can follow a view without looking at it again: they pair among themselves, go on with nothing that
 * stands before them, and use no id again. When in doubt the answer is no, and the whole view is paired again.
 */
export function isSoundAlone(fresh: readonly ViewEntry[], previous: View): boolean {
  const items = fresh.map(({ item }) => item);
  const ids = callIdsIn(items);
  const used = idsOf(previous);
  if (goesOn(items[0], previous.items.at(-1)) || ids.some((id) => used.has(id))) return false;
  const { history, report } = repairHistory(items);
  if ((history as readonly Item[]) !== items || report.inFlight.length > 0) return false;
  for (const id of ids) used.add(id);
  return true;
}

/** More of the same answer: what stands between its parts is judged with all of them in sight. */
function goesOn(first: Item | undefined, last: Item | undefined): boolean {
  return last?.kind === "reasoning" || (first?.step !== undefined && first.step === last?.step);
}

/** The next view goes on with the ids of the one before. */
export function followOn(previous: View, items: readonly Item[]): void {
  callIds.set(items, idsOf(previous));
}

function idsOf({ items }: View): Set<string> {
  const known = callIds.get(items);
  if (known !== undefined) return known;
  const used = new Set(callIdsIn(items));
  callIds.set(items, used);
  return used;
}

function callIdsIn(items: readonly Item[]): readonly string[] {
  return items.flatMap((item) => (item.kind === "call" && item.callId !== undefined ? [item.callId] : []));
}
