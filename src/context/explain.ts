import type { Handle } from "./handle.ts";
import { minFidelity, type PageKind, type ResidencyLevel } from "./kind.ts";
import { type Page, type PinClass, type Provenance, recencyAt } from "./page.ts";
import { candidateOf, utilityOf } from "./select.ts";
import { isSpan } from "./place.ts";
import type { Reason, View } from "./view.ts";

/** Why a page is shown as it is. */
export interface Explanation {
  readonly page: string;
  readonly title: string;
  readonly kind: PageKind;
  readonly level: ResidencyLevel;
  readonly floor: ResidencyLevel;
  readonly why: Reason;
  /** The reason in a sentence. */
  readonly words: string;
  readonly pin: PinClass;
  readonly recency: number;
  readonly utility: number;
  /** What the page costs at each level that it may have. */
  readonly tokens: Readonly<Partial<Record<ResidencyLevel, number>>>;
  readonly handle: Handle;
  readonly provenance: Provenance;
}

const WORDS: Readonly<Record<Reason, string>> = {
  new: "It was added in full, and there has been room for it since.",
  "over-cap": "It was larger than one output may be when it was added; its handle leads to the rest.",
  held: "It is the turn's question, a call in flight, or the newest step; these stay in full.",
  reclaimed: "The last reclaim chose this level by what the page is worth per token.",
  kept: "The last reclaim had room for it as it was.",
  folded: "It is old, so one pointer stands for it and its neighbours.",
  changed: "Its text has changed since the previous request.",
  resumed: "An earlier process chose this level.",
  tail: "It belongs to the tail, which is rewritten for every request.",
};

/** Explains the level of a page. Undefined for a page that the view does not know. */
export function explainPage(view: View, pageId: string): Explanation | undefined {
  const all = [...view.pages, ...view.tail];
  const at = all.findIndex(({ id }) => id === pageId);
  const page = all[at];
  const entry = view.entries.find(({ from, to }) => from <= at && at < to);
  if (page === undefined || entry === undefined) return undefined;
  const now = view.pages.reduce((latest, { demand }) => Math.max(latest, demand.turn), 0);
  const candidate = candidateOf(page, now);
  return {
    page: page.id,
    title: page.title,
    kind: page.kind,
    level: entry.level,
    floor: minFidelity(page.kind),
    why: entry.why,
    words: wordsFor(page, entry.level, isSpan(entry) ? "folded" : entry.why),
    pin: page.pin,
    recency: recencyAt(page.demand, now),
    utility: utilityOf(candidate),
    tokens: candidate.tokens,
    handle: page.handle,
    provenance: page.provenance,
  };
}

function wordsFor(page: Page, level: ResidencyLevel, why: Reason): string {
  const floor = minFidelity(page.kind);
  const limit = level === floor ? ` A page of kind ${page.kind} goes no lower.` : "";
  return `${WORDS[why]}${limit}`;
}
