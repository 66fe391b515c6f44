import type { TokenCounter } from "../contracts/token-counter.ts";
import type { BodyOf } from "../records/kinds.ts";
import type { Page } from "./page.ts";
import { pairedEntries } from "./paired-entries.ts";
import { entryAt, spanEntry } from "./place.ts";
import { chosenRuns } from "./record.ts";
import { RENDERER } from "./renderer.ts";
import { estimateCounter } from "./tokens/estimate.ts";
import { asView, tokensOf, type View, type ViewEntry } from "./view.ts";

/**
 * Rebuilds the last view of a session from its pages and its `view-chosen` records. Pass it to `deriveView` as
 * `previous`, and the next request begins with the same bytes. Undefined when the records belong to other pages or
 * another renderer; the next view then starts afresh.
 */
export function resumeView(
  pages: readonly Page[],
  records: readonly BodyOf<"view-chosen">[],
  counter: TokenCounter = estimateCounter,
  renderer: string = RENDERER,
): View | undefined {
  const chosen = chosenRuns(pages, records, renderer);
  if (chosen === undefined) return undefined;
  const placed: ViewEntry[] = [];
  let at = 0;
  for (const [level, count] of chosen.runs) {
    if (level === "span") placed.push(spanEntry(pages, at, at + count, counter));
    else
      for (let one = at; one < at + count; one += 1) {
        const entry = entryAt(pages[one] as Page, one, level, "resumed");
        if (entry === undefined) return undefined;
        placed.push(entry);
      }
    at += count;
  }
  // Paired as the last view was: what repair had added counted against its budget, and must again.
  const { entries, items, settled } = pairedEntries(placed, counter);
  const tokens = tokensOf(entries);
  const fields = {
    ok: true as const,
    items,
    entries,
    stableItems: entries.length,
    tokens,
    tailTokens: 0,
    budget: tokens,
    policy: "incremental" as const,
    turn: chosen.turn,
    settled,
    dropped: [],
    tail: [],
    seenBefore: at,
  };
  return asView(fields, { list: pages, count: at });
}
