import type { Item } from "../wire/item.ts";
import type { ResidencyLevel } from "./kind.ts";
import type { Page } from "./page.ts";
import type { Unmet } from "./select.ts";

declare const view: unique symbol;

/** Why a page is at its level. */
export type Reason =
  /** Added since the last request, and shown whole. */
  | "new"
  /** An output larger than one output may be. */
  | "over-cap"
  /** The user message of this turn, a call in flight, or the newest complete step. */
  | "held"
  /** Chosen by the last reclaim. */
  | "reclaimed"
  /** Left whole by the last reclaim. */
  | "kept"
  /** Shown together with its neighbours by one pointer. */
  | "folded"
  /** Its text changed. */
  | "changed"
  /** Taken over from an earlier process. */
  | "resumed"
  /** Part of the tail, after all items. */
  | "tail";

/** One item of a request and the pages it stands for. */
export interface ViewEntry {
  readonly item: Item;
  readonly tokens: number;
  readonly level: ResidencyLevel;
  readonly why: Reason;
  /** Position of the first page that it covers. */
  readonly from: number;
  /** Position after the last page that it covers. An item that repair made covers none. */
  readonly to: number;
}

/**
 * How levels are chosen: kept from the previous view, chosen anew each time, or chosen with the future known (for
 * evaluation).
 */
export type DerivePolicy = "incremental" | "reset" | "oracle";

/** What one reclaim cost and gained. */
export interface Reclaim {
  readonly why: "pressure" | "changed" | "reset" | "asked";
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Tokens at the front that are byte for byte unchanged. */
  readonly prefixTokens: number;
  /** Tokens that were sent before and now follow the first change: the provider reads them again, uncached. */
  readonly cacheLoss: number;
  readonly changed: number;
}

/**
 * The pages chosen for one request. Only `deriveView` and `resumeView` make one, so a view is the receipt that it was
 * chosen.
 */
export interface View {
  readonly [view]: true;
  readonly ok: true;
  /** What is sent: the stable prefix, then the tail. */
  readonly items: readonly Item[];
  /** One entry for each of `items`. */
  readonly entries: readonly ViewEntry[];
  /** How many items at the front begin the next request too, unless it reclaims. */
  readonly stableItems: number;
  readonly tokens: number;
  readonly tailTokens: number;
  readonly budget: number;
  readonly policy: DerivePolicy;
  /** How many views came before this one in the session. */
  readonly turn: number;
  readonly reclaim?: Reclaim;
  /**
   * True when nothing in it can still change: repair had nothing to do, and no call is waiting. Otherwise the next view
   * is paired anew.
   */
  readonly settled: boolean;
  /** Ranges of pages that no item covers, because repair had to leave them out. Empty for a history that pairs. */
  readonly dropped: readonly (readonly [from: number, to: number])[];
  /** The pages it was derived from, without those of the tail. */
  readonly pages: readonly Page[];
  readonly tail: readonly Page[];
  /** How many of these pages the previous view had. */
  readonly seenBefore: number;
}

/** The refusal to make a view: what must be shown does not fit, and nothing is dropped to make it fit. */
export interface RefusedView {
  readonly ok: false;
  readonly fault: "floors-exceed-budget";
  readonly budget: number;
  /** Tokens that the floors and the held pages need. */
  readonly needed: number;
  readonly unmet: readonly Unmet[];
  /** What takes up most of the room: shortening one of these helps. */
  readonly largest: readonly Unmet[];
}

/** What entries cost together. */
export function tokensOf(entries: readonly ViewEntry[]): number {
  return entries.reduce((sum, { tokens }) => sum + tokens, 0);
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
