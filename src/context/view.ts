import type { Item } from "../wire/item.ts";
import type { ResidencyLevel } from "./kind.ts";
import type { Page } from "./page.ts";
import type { Unmet } from "./select.ts";

declare const view: unique symbol;

/** Why a page is at its level. */
export type Reason =
  /** It was said since the last request, and is shown whole. */
  | "new"
  /** An output over the cap of one output. */
  | "over-cap"
  /** The turn's user message, a call in flight, or the newest complete step. */
  | "held"
  /** Chosen by the last reclaim. */
  | "reclaimed"
  /** The last reclaim left it whole. */
  | "kept"
  /** It and its neighbours are shown by one pointer. */
  | "folded"
  /** Its text changed. */
  | "changed"
  /** Taken over from an earlier process. */
  | "resumed"
  /** Beside the conversation, after all items. */
  | "tail";

/** One item of a request and the pages it stands for. */
export interface ViewEntry {
  readonly item: Item;
  readonly tokens: number;
  readonly level: ResidencyLevel;
  readonly why: Reason;
  /** Positions of the pages it covers: from here … */
  readonly from: number;
  /** … to here, exclusive. An item that repair made covers none. */
  readonly to: number;
}

/** How the levels of a view came about: kept from the one before, chosen anew each time, or with the future known. */
export type DerivePolicy = "incremental" | "reset" | "oracle";

/** What one batch of degrading cost and gained. */
export interface Reclaim {
  readonly why: "pressure" | "changed" | "reset" | "asked";
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Tokens at the front that are byte for byte as they were. */
  readonly prefixTokens: number;
  /** Tokens that were sent before and stand behind the first change: the provider reads them again, uncached. */
  readonly cacheLoss: number;
  readonly changed: number;
}

/** The pages chosen for one request. The receipt of the view station: only `deriveView` and `resumeView` make one. */
export interface View {
  readonly [view]: true;
  readonly ok: true;
  /** What is sent: the stable prefix, then the volatile tail. */
  readonly items: readonly Item[];
  /** Aligned with `items`. */
  readonly entries: readonly ViewEntry[];
  /** The first so many items begin the next request too, unless it reclaims. */
  readonly stableItems: number;
  readonly tokens: number;
  readonly tailTokens: number;
  readonly budget: number;
  readonly policy: DerivePolicy;
  /** How many views came before it in this session. */
  readonly turn: number;
  readonly reclaim?: Reclaim;
  /** Nothing is left to happen in it: repair had nothing to do, and no call waits. Otherwise the next view is paired anew. */
  readonly settled: boolean;
  /** Ranges of pages that no item covers: what repair had to take out. Empty for a history that pairs. */
  readonly dropped: readonly (readonly [from: number, to: number])[];
  /** The pages it was derived from; the tail's are beside them. */
  readonly pages: readonly Page[];
  readonly tail: readonly Page[];
  /** How many of the pages the view before had. */
  readonly seenBefore: number;
}

/** No view: what must be there does not fit, and nothing is dropped to make it. */
export interface RefusedView {
  readonly ok: false;
  readonly fault: "floors-exceed-budget";
  readonly budget: number;
  /** Tokens that the floors and the held pages need. */
  readonly needed: number;
  readonly unmet: readonly Unmet[];
  /** What takes most of the room that there is: shortening one of these is what helps. */
  readonly largest: readonly Unmet[];
}

/** The list a view was derived from, and how many of its pages the view knows: the list may have grown since. */
export interface Behind {
  readonly list: readonly Page[];
  readonly count: number;
}

const behind = new WeakMap<View, Behind>();

/** Without the copy that `view.pages` is. */
export function behindView(of: View): Behind {
  return behind.get(of) ?? { list: of.pages, count: of.pages.length };
}

/** The only maker of the brand. */
export function asView(fields: Omit<View, typeof view | "pages">, from: Behind): View {
  const made = { ...fields } as View;
  let pages: readonly Page[] | undefined;
  // Copied when somebody asks: a copy of a hundred thousand pages for every request is what a request would cost.
  Object.defineProperty(made, "pages", { enumerable: true, get: () => (pages ??= from.list.slice(0, from.count)) });
  behind.set(made, from);
  return made;
}
