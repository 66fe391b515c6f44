import { HoldfastError } from "../base/errors.ts";
import { overDefaults } from "../base/options.ts";
import type { TokenCounter } from "../contracts/token-counter.ts";
import type { Item } from "../wire/item.ts";
import type { ResidencyLevel } from "./kind.ts";
import type { Page } from "./page.ts";
import { entering, placeTail, unshowable } from "./place.ts";
import { reclaim, type ReclaimAsk } from "./reclaim.ts";
import type { Unmet, UpgradeOrder } from "./select.ts";
import { pairedEntries } from "./paired-entries.ts";
import { followOn, isSoundAlone } from "./sound.ts";
import { takeOver } from "./take-over.ts";
import { estimateCounter } from "./tokens/estimate.ts";
import {
  asView,
  behindView,
  type DerivePolicy,
  type Reclaim,
  type RefusedView,
  tokensOf,
  type View,
  type ViewEntry,
} from "./view.ts";

/** Options of `deriveView`. */
export interface DeriveOptions {
  /** Tokens for the whole request, counted in the counter's own tokens; see `budgetWithin`. */
  readonly budget: number;
  /** The previous view. Between two reclaims the new view begins with the same bytes. */
  readonly previous?: View | undefined;
  /** How levels are chosen. Default `incremental`. */
  readonly policy?: DerivePolicy;
  /** Pages that follow all items and may differ in every request: plan, mode, stamp. */
  readonly tail?: readonly Page[];
  /** Levels that were asked for, by page id. */
  readonly demands?: ReadonlyMap<string, ResidencyLevel>;
  /** For `oracle`: how often each page will be wanted in the next three turns. */
  readonly coming?: ReadonlyMap<string, number>;
  /**
   * Reclaim now, whatever the pressure, because the provider said that the last request was too long. Default `false`.
   */
  readonly reclaim?: boolean;
  /** Default `MARKS`. */
  readonly marks?: Partial<Marks>;
  /** How upgrades are ordered. Default `utility`. */
  readonly order?: UpgradeOrder;
  /** Counts the pointers of spans, which are made only when needed. Default: `estimateCounter`. */
  readonly counter?: TokenCounter;
}

/** When to reclaim, as shares of the budget. */
export interface Marks {
  /** Reclaim when the view takes more than this share. Default 0.95. */
  readonly high: number;
  /** How far a reclaim goes down. Default 0.4. */
  readonly low: number;
  /** The largest share that one output may take when it comes in. Default 0.25. */
  readonly output: number;
}

export const MARKS: Marks = { high: 0.95, low: 0.4, output: 0.25 };
/** Tokens reserved for the tail, unless its floors need more. */
export const TAIL_TOKENS = 1_000;

/**
 * Chooses the view of a request. Pure and deterministic: new pages are appended to the previous view, and pages are
 * lowered only when the high mark is crossed, in one batch, never below their floor. If what must be shown does not
 * fit, the answer is a refusal. A list of pages that was passed in once may grow but is not examined again: pass
 * another list when one of its pages has changed.
 */
export function deriveView(pages: readonly Page[], options: DeriveOptions): View | RefusedView {
  const { budget, policy = "incremental", tail = [] } = options;
  if (!Number.isFinite(budget) || budget <= 0)
    throw new HoldfastError("BAD_OPTION", { option: "budget", value: String(budget) });
  const marks = overDefaults(MARKS, options.marks);
  const previous = policy === "incremental" ? options.previous : undefined;
  const cap = budget * marks.output;
  const { entries: tailEntries, unmet } = placeTail(tail, TAIL_TOKENS, pages.length);
  if (unmet.length > 0) return refused(budget, 0, unmet);
  const tailTokens = tokensOf(tailEntries);
  if (tailTokens > budget) {
    const needs = tailEntries.map(({ level, tokens }, at) => ({ page: tail[at]?.id ?? "", level, needs: tokens }));
    return refused(budget, tailTokens, needs);
  }

  const counter = options.counter ?? estimateCounter;
  const kept = takeOver(previous, pages, cap, counter);
  if (kept.unshowable !== undefined) return refused(budget, 0, [unshowable(kept.unshowable)]);
  const fresh: ViewEntry[] = [];
  for (let at = kept.through; at < pages.length; at += 1) {
    const entry = entering(pages[at] as Page, at, cap);
    if (entry === undefined) return refused(budget, 0, [unshowable(pages[at] as Page)]);
    fresh.push(entry);
  }
  const tokens = kept.tokens + tokensOf(fresh) + tailTokens;
  const seenBefore = options.previous === undefined ? 0 : behindView(options.previous).count;
  const state = {
    pages,
    tail,
    tailEntries,
    tailTokens,
    budget,
    policy,
    seenBefore,
    counter,
    previous: options.previous,
  };

  const crossed = tokens > budget * marks.high && !(tokens <= budget && isStuck(previous, budget * marks.high));
  if (!crossed && options.reclaim !== true) {
    if (kept.whole && previous !== undefined && isSoundAlone(fresh, previous))
      return extended(state, previous, fresh, tokens);
    const view = whole(state, [...kept.entries, ...fresh], kept.why);
    if (view.tokens <= budget) return view;
  }
  const why = options.reclaim === true && !crossed ? "asked" : policy === "incremental" ? "pressure" : "reset";
  return afterReclaim(state, [...kept.entries, ...fresh], options, { why, marks, cap, tokens });
}

/** What a reclaim is about: why there is one, and how much of the budget may be used. */
interface ReclaimFor {
  readonly why: Reclaim["why"];
  readonly marks: Marks;
  /** The most that one output may take. */
  readonly cap: number;
  /** What everything would take without it. */
  readonly tokens: number;
}

/** The view that a reclaim leaves: chosen beside what stands and, where that is not wanted or does not fit, anew. */
function afterReclaim(
  state: State,
  entries: readonly ViewEntry[],
  options: DeriveOptions,
  { why, marks, cap, tokens }: ReclaimFor,
): View | RefusedView {
  const { pages, policy, budget, counter } = state;
  const ask = {
    pages,
    cap,
    order: options.order ?? "utility",
    demands: options.demands ?? new Map(),
    coming: policy === "oracle" ? (options.coming ?? new Map()) : new Map(),
    counter,
  };
  const view = (chosen: readonly ViewEntry[]) => whole(state, chosen, why, tokens);
  const targetAnew = marks.high * budget;
  const anew = () => fitted(state, { ...ask, entries: [], target: targetAnew, targetAnew }, view);
  if (policy !== "incremental") return anew();
  const target = marks.low * budget;
  const next = fitted(state, { ...ask, entries, target, targetAnew }, view);
  // What repair adds to what was chosen beside earlier spans may be more than it adds to a choice without them.
  return next.ok ? next : anew();
}

/** Repair may add items that no page paid for; then there is that much less room. */
function fitted(
  { budget, tailTokens }: State,
  ask: Omit<ReclaimAsk, "limit">,
  viewOf: (entries: readonly ViewEntry[]) => View,
): View | RefusedView {
  for (let taken = tailTokens; ; ) {
    const [limit, target, targetAnew] = [budget - taken, ask.target - taken, ask.targetAnew - taken];
    const chosen = reclaim({ ...ask, limit, target, targetAnew });
    if (!chosen.ok) return refused(budget, chosen.needed + taken, chosen.unmet, chosen.largest);
    const view = viewOf(chosen.entries);
    if (view.tokens <= budget) return view;
    taken += view.tokens - budget;
  }
}

interface State {
  readonly pages: readonly Page[];
  readonly tail: readonly Page[];
  readonly tailEntries: readonly ViewEntry[];
  readonly tailTokens: number;
  readonly budget: number;
  readonly policy: DerivePolicy;
  readonly seenBefore: number;
  readonly counter: TokenCounter;
  readonly previous: View | undefined;
}

/** The view before and what is new: no page is looked at twice. */
function extended(state: State, previous: View, fresh: readonly ViewEntry[], tokens: number): View {
  const stable = previous.stableItems;
  const entries = previous.entries.slice(0, stable).concat(fresh);
  const items = previous.items.slice(0, stable);
  for (const { item } of fresh) items.push(item);
  followOn(previous, items);
  return finished(state, entries, items, tokens, { settled: true, loss: undefined });
}

/** A view whose older part may have changed: paired again after the last cut, and compared with the one before. */
function whole(state: State, chosen: readonly ViewEntry[], why: Reclaim["why"] | undefined, before?: number): View {
  const { entries, items, settled } = pairedEntries(chosen, state.counter);
  const tokens = tokensOf(entries) + state.tailTokens;
  const { previous } = state;
  const loss =
    why === undefined || previous === undefined ? undefined : lossOf(previous, entries, why, before ?? tokens);
  return finished(state, entries, items, tokens, { settled, loss });
}

function finished(
  state: State,
  entries: readonly ViewEntry[],
  items: Item[],
  tokens: number,
  { settled, loss }: { readonly settled: boolean; readonly loss: Reclaim | undefined },
): View {
  const { tailEntries, previous, pages } = state;
  for (const { item } of tailEntries) items.push(item);
  const fields = {
    ok: true as const,
    items,
    entries: tailEntries.length === 0 ? entries : entries.concat(tailEntries),
    stableItems: entries.length,
    tokens,
    tailTokens: state.tailTokens,
    budget: state.budget,
    policy: state.policy,
    turn: previous === undefined ? 0 : previous.turn + 1,
    settled,
    dropped: settled ? [] : uncovered(entries, pages.length),
    tail: state.tail,
    seenBefore: state.seenBefore,
    ...(loss === undefined ? {} : { reclaim: loss }),
  };
  return asView(fields, { list: pages, count: pages.length });
}

/** What the provider has to read again. */
function lossOf(
  previous: View,
  entries: readonly ViewEntry[],
  why: Reclaim["why"],
  tokensBefore: number,
): Reclaim | undefined {
  const before = previous.entries.slice(0, previous.stableItems);
  let same = 0;
  while (same < before.length && before[same]?.item === entries[same]?.item) same += 1;
  if (why === "changed" && same === before.length) return undefined; // it could have changed, and has not
  const sent = new Set(before.map(({ item }) => item));
  const behind = entries.slice(same);
  return {
    why,
    tokensBefore,
    tokensAfter: tokensOf(entries) + previous.tailTokens,
    prefixTokens: tokensOf(entries.slice(0, same)),
    cacheLoss: tokensOf(behind.filter(({ item }) => sent.has(item))),
    changed: behind.filter(({ item, to }) => !sent.has(item) && to <= behindView(previous).count).length,
  };
}

/** The last reclaim could not get below the high mark: another one before the limit would break the prefix for nothing. */
function isStuck(previous: View | undefined, high: number): boolean {
  return previous !== undefined && previous.tokens > high;
}

function uncovered(entries: readonly ViewEntry[], count: number): readonly (readonly [number, number])[] {
  const gaps: (readonly [number, number])[] = [];
  let next = 0;
  for (const { from, to } of entries.toSorted((a, b) => a.from - b.from || a.to - b.to)) {
    if (from > next) gaps.push([next, from]);
    next = Math.max(next, to);
  }
  if (next < count) gaps.push([next, count]);
  return gaps;
}

function refused(budget: number, needed: number, unmet: readonly Unmet[], largest: readonly Unmet[] = []): RefusedView {
  return { ok: false, fault: "floors-exceed-budget", budget, needed, unmet, largest };
}
