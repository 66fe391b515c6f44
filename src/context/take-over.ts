import type { TokenCounter } from "../contracts/token-counter.ts";
import type { Item } from "../wire/item.ts";
import type { Page } from "./page.ts";
import { unitsOf } from "./units.ts";
import { entering, entryAt, isSpan, spanEntry } from "./place.ts";
import { behindView, type Reclaim, tokensOf, type View, type ViewEntry } from "./view.ts";

export interface TakenOver {
  readonly entries: readonly ViewEntry[];
  readonly tokens: number;
  /** The pages up to here are placed. */
  readonly through: number;
  /** Nothing in it differs from the view before. */
  readonly whole: boolean;
  /** Why something does. */
  readonly why?: Reclaim["why"];
  /** A page whose text changed and that has nothing to show for it. */
  readonly unshowable?: Page;
}

/** What of the view before still holds. A rewind cuts it short; a page that says something else changes in its place. */
export function takeOver(
  previous: View | undefined,
  pages: readonly Page[],
  cap: number,
  counter: TokenCounter,
): TakenOver {
  if (previous === undefined) return { entries: [], tokens: 0, through: 0, whole: false };
  const { list: before, count } = behindView(previous);
  const most = Math.min(count, pages.length);
  let shared = before === pages ? most : 0;
  const changed = new Set<number>();
  for (; shared < most; shared += 1) {
    const old = before[shared];
    const now = pages[shared];
    if (old === now || old === undefined || now === undefined) continue;
    if (old.id !== now.id || old.kind !== now.kind) break;
    if (old.digest !== now.digest || !isSameItem(old, now)) changed.add(shared);
  }
  const stable = previous.stableItems;
  if (shared === count && changed.size === 0 && previous.settled) {
    return {
      entries: previous.entries.length === stable ? previous.entries : previous.entries.slice(0, stable),
      tokens: previous.tokens - previous.tailTokens,
      through: shared,
      whole: true,
    };
  }
  return rebuilt(previous, pages, shared, changed, cap, counter);
}

function rebuilt(
  previous: View,
  pages: readonly Page[],
  shared: number,
  changed: ReadonlySet<number>,
  cap: number,
  counter: TokenCounter,
): TakenOver {
  const entries: ViewEntry[] = [];
  let through = 0;
  const enter = (to: number): Page | undefined => {
    for (; through < to; through += 1) {
      const page = pages[through] as Page;
      const entry = entering(page, through, cap);
      if (entry === undefined) return page;
      entries.push(entry);
    }
    return undefined;
  };
  const kept = previous.entries.slice(0, previous.stableItems).filter(({ from, to }) => from < to && from < shared);
  for (const entry of kept.toSorted((a, b) => a.from - b.from)) {
    const stuck = enter(entry.from); // pages that repair had taken out come back
    if (stuck !== undefined) return { entries, tokens: 0, through, whole: false, unshowable: stuck };
    const to = entry.to <= shared ? entry.to : wholeUnits(pages, entry.from, shared);
    if (to === entry.from) continue; // its pages enter by themselves
    const touched = to < entry.to || anyBetween(changed, entry.from, to);
    const next = !touched
      ? entry
      : isSpan(entry)
        ? spanEntry(pages, entry.from, to, counter)
        : (entryAt(pages[entry.from] as Page, entry.from, entry.level, "changed") ??
          entering(pages[entry.from] as Page, entry.from, cap));
    if (next === undefined) return { entries, tokens: 0, through, whole: false, unshowable: pages[entry.from] as Page };
    entries.push(next);
    through = to;
  }
  return { entries, tokens: tokensOf(entries), through, whole: false, why: "changed" };
}

/**
 * How far a pointer that is cut short still stands for whole units. Outputs whose calls it has swallowed would be strays:
 * taken out by repair, and behind no handle.
 */
function wholeUnits(pages: readonly Page[], from: number, cut: number): number {
  const positions = Array.from({ length: pages.length - from }, (_, nth) => from + nth);
  return unitsOf(pages, positions).reduce((to, { members }) => {
    const [first = to] = members;
    return first < to && members.some((at) => at >= to) ? first : to;
  }, cut);
}

/** Two items may say the same under another id or status. */
function isSameItem(old: Page, now: Page): boolean {
  const before = old.representations.full?.item;
  const after = now.representations.full?.item;
  return before === after || itemBytes(before) === itemBytes(after);
}

function itemBytes(item: Item | undefined): string {
  const { origin: _origin, ...rest } = item ?? { kind: "none" as const, origin: undefined };
  return JSON.stringify(rest);
}

function anyBetween(positions: ReadonlySet<number>, from: number, to: number): boolean {
  if (positions.size === 0) return false;
  for (let at = from; at < to; at += 1) if (positions.has(at)) return true;
  return false;
}
