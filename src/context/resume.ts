import type { TokenCounter } from "../contracts/token-counter.ts";
import { repairHistory } from "../history/repair.ts";
import type { BodyOf } from "../records/kinds.ts";
import type { Page } from "./page.ts";
import { isSettled } from "./sound.ts";
import { entryAt, spanEntry } from "./place.ts";
import { chosenRuns } from "./record.ts";
import { estimateCounter } from "./tokens/estimate.ts";
import { asView, type View, type ViewEntry } from "./view.ts";

/**
 * The last view of a session, from its pages and the `view-chosen` records: hand it to `deriveView` as `previous` and the
 * next request begins with the same bytes. Undefined when the records are about other pages or another renderer; then the
 * next view is a first one.
 */
export function resumeView(
  pages: readonly Page[],
  records: readonly BodyOf<"view-chosen">[],
  counter: TokenCounter = estimateCounter,
): View | undefined {
  const chosen = chosenRuns(pages, records);
  if (chosen === undefined) return undefined;
  const entries: ViewEntry[] = [];
  let at = 0;
  for (const [level, count] of chosen.runs) {
    if (level === "span") entries.push(spanEntry(pages, at, at + count, counter));
    else
      for (let one = at; one < at + count; one += 1) {
        const entry = entryAt(pages[one] as Page, one, level, "resumed");
        if (entry === undefined) return undefined;
        entries.push(entry);
      }
    at += count;
  }
  const said = entries.map(({ item }) => item);
  const tokens = entries.reduce((sum, entry) => sum + entry.tokens, 0);
  const fields = {
    ok: true as const,
    items: said,
    entries,
    stableItems: entries.length,
    tokens,
    tailTokens: 0,
    budget: tokens,
    policy: "incremental" as const,
    turn: chosen.turn,
    settled: isSettled(repairHistory(said), said),
    dropped: [],
    tail: [],
    seenBefore: at,
  };
  return asView(fields, { list: pages, count: at });
}
