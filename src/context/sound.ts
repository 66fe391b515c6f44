import type { Item } from "../wire/item.ts";
import type { View, ViewEntry } from "./view.ts";

/** Ids of calls that stand in a view or stood in one before it. Grows only, so it may be shared by views that part ways. */
const callIds = new WeakMap<readonly Item[], Set<string>>();

/**
 * Whether new items can follow a view without looking at it again: the outputs of an answer follow its calls with nothing
 * in between, every thought is followed by what it led to, and no id was used before. When in doubt the answer is no, and
 * the whole view is paired again.
 */
export function isSoundAlone(fresh: readonly ViewEntry[], previous: View): boolean {
  const used = idsOf(previous);
  const open = new Set<string>();
  let last: Item | undefined;
  for (const [at, { item }] of fresh.entries()) {
    if (open.size > 0 && !isNext(item, last)) return false;
    last = item;
    switch (item.kind) {
      case "system":
      case "user":
      case "assistant":
        break;
      case "reasoning":
        if (item.signature === "" || !isAnswer(fresh[at + 1]?.item)) return false;
        break;
      case "call":
        if (item.callId === undefined || item.partial === true || item.server === true || open.has(item.callId))
          return false;
        if (used.has(item.callId)) return false;
        used.add(item.callId);
        open.add(item.callId);
        break;
      case "output":
        if (item.server === true || !open.delete(item.callId ?? "")) return false;
        break;
      default:
        return false;
    }
  }
  return open.size === 0;
}

/** While outputs are awaited: more of the answer that asked for them, until the first has come, then outputs only. */
function isNext(item: Item, last: Item | undefined): boolean {
  return item.kind === "output" || (last?.kind !== "output" && isAnswer(item) && item.step === last?.step);
}

/** The next view goes on with the ids of the one before. */
export function followOn(previous: View, items: readonly Item[]): void {
  callIds.set(items, idsOf(previous));
}

function idsOf({ items }: View): Set<string> {
  const known = callIds.get(items);
  if (known !== undefined) return known;
  const used = new Set(
    items.flatMap((item) => (item.kind === "call" && item.callId !== undefined ? [item.callId] : [])),
  );
  callIds.set(items, used);
  return used;
}

function isAnswer(item: Item | undefined): boolean {
  return item?.kind === "call" || item?.kind === "assistant" || item?.kind === "reasoning";
}
