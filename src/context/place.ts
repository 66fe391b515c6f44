import type { TokenCounter } from "../contracts/token-counter.ts";
import { degradationPath, minFidelity, type ResidencyLevel } from "./kind.ts";
import { type Page, representationAt } from "./page.ts";
import type { Unmet } from "./select.ts";
import { spanOf } from "./span.ts";
import { itemTokens } from "./tokens/count.ts";
import type { Reason, ViewEntry } from "./view.ts";

/** A page at a level. Undefined when no representation shows what the page says now. */
export function entryAt(page: Page, at: number, level: ResidencyLevel, why: Reason): ViewEntry | undefined {
  const shown = representationAt(page, level);
  if (shown === undefined) return undefined;
  return { item: shown.item, tokens: shown.tokens, level, why, from: at, to: at + 1 };
}

/** How a page enters: whole, unless it is one output that would take more than its share. */
export function entering(page: Page, at: number, cap: number): ViewEntry | undefined {
  const level = enteringLevel(page, cap);
  return level === undefined ? undefined : entryAt(page, at, level, level === "full" ? "new" : "over-cap");
}

export function enteringLevel(page: Page, cap: number): ResidencyLevel | undefined {
  const path = degradationPath(page.kind).filter((level) => representationAt(page, level) !== undefined);
  if (page.kind !== "evidence") return path[0];
  return path.find((level) => (representationAt(page, level)?.tokens ?? 0) <= cap) ?? path.at(-1);
}

/** One pointer for the pages from here to there. */
export function spanEntry(pages: readonly Page[], from: number, to: number, counter: TokenCounter): ViewEntry {
  const { item } = spanOf(pages.slice(from, to));
  return { item, tokens: itemTokens(item, counter), level: "pointer", why: "folded", from, to };
}

export function isSpan({ from, to, why }: ViewEntry): boolean {
  return to - from > 1 || why === "folded";
}

/** A page that cannot be shown at all: its text changed and nobody has made its representations again. */
export function unshowable(page: Page): Unmet {
  return { page: page.id, level: minFidelity(page.kind) };
}

/** What follows the items and changes with every request: lowered along its paths until it is small, never below a floor. */
export function placeTail(
  tail: readonly Page[],
  cap: number,
  base: number,
): { readonly entries: readonly ViewEntry[]; readonly unmet: readonly Unmet[] } {
  const levels = tail.map((page) => degradationPath(page.kind).find((level) => representationAt(page, level)));
  const unmet = tail.filter((_, at) => levels[at] === undefined).map(unshowable);
  if (unmet.length > 0) return { entries: [], unmet };
  const tokensOf = (at: number) => representationAt(tail[at] as Page, levels[at] as ResidencyLevel)?.tokens ?? 0;
  const total = () => tail.reduce((sum, _, at) => sum + tokensOf(at), 0);
  for (let over = total() > cap; over; ) {
    const next = tail
      .map((page, at) => ({ at, tokens: tokensOf(at), below: levelBelow(page, levels[at] as ResidencyLevel) }))
      .filter(({ below }) => below !== undefined)
      .sort((a, b) => b.tokens - a.tokens || a.at - b.at)[0];
    if (next === undefined) break;
    levels[next.at] = next.below;
    over = total() > cap;
  }
  const entries = tail.map((page, at) => entryAt(page, base + at, levels[at] as ResidencyLevel, "tail") as ViewEntry);
  return { entries, unmet };
}

/** The next level down that can be shown. */
export function levelBelow(page: Page, level: ResidencyLevel): ResidencyLevel | undefined {
  const path = degradationPath(page.kind);
  return path.slice(path.indexOf(level) + 1).find((lower) => representationAt(page, lower) !== undefined);
}
