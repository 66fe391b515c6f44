import type { TokenCounter } from "../contracts/token-counter.ts";
import { minFidelity, type ResidencyLevel } from "./kind.ts";
import { type Page, representationAt } from "./page.ts";
import { enteringLevel, entryAt, levelBelow, spanEntry, unshowable } from "./place.ts";
import { type Candidate, candidateOf, type Selection, selectLevels, type Unmet, type UpgradeOrder } from "./select.ts";
import { heldIn, isFoldable, spansIn, type Unit, unitsOf } from "./units.ts";
import { type RefusedView, tokensOf, type ViewEntry } from "./view.ts";

export interface ReclaimAsk {
  readonly pages: readonly Page[];
  /** As they stand; spans among them stay where they are. */
  readonly entries: readonly ViewEntry[];
  /** What everything must fit in. */
  readonly limit: number;
  /** What it should come down to. */
  readonly target: number;
  /** The same for a view that is chosen without one before it. */
  readonly targetAnew: number;
  /** The most that one output may take. */
  readonly cap: number;
  readonly order: UpgradeOrder;
  readonly demands: ReadonlyMap<string, ResidencyLevel>;
  readonly coming: ReadonlyMap<string, number>;
  readonly counter: TokenCounter;
}

export type Reclaimed =
  | { readonly ok: true; readonly entries: readonly ViewEntry[] }
  | Pick<RefusedView, "ok" | "needed" | "unmet" | "largest">;

/** Of the target, what floors may take before the oldest units are folded into spans: the rest is for upgrades. */
const FLOOR_SHARE = 0.6;
/** A span's pointer, until it is written and counted. */
const SPAN_TOKENS = 160;
/** Each reclaim adds a span; beyond so many they become one. */
const MOST_SPANS = 8;
/** So many of the largest pages are named when nothing fits. */
const MOST_NAMED = 3;

/**
 * Chooses the level of every page anew, in one batch: old units into spans, floors for the rest, upgrades to the target. When
 * that does not fit, the spans that earlier reclaims have left become as few as they can: a pointer for each of them is more
 * than there is room for, and sending nothing costs more than a prefix.
 */
export function reclaim(ask: ReclaimAsk): Reclaimed {
  const spans = spansIn(ask.entries);
  const chosen = reclaimBeside(ask, spans);
  if (chosen.ok || spans.length === 0) return chosen;
  const fewer = reclaimBeside(ask, []);
  // Nothing is refused that would have been sent in a session without a past.
  return fewer.ok ? fewer : reclaimBeside({ ...ask, target: ask.targetAnew }, []);
}

function reclaimBeside(ask: ReclaimAsk, before: readonly ViewEntry[]): Reclaimed {
  const { pages, limit, target } = ask;
  const unfolded = openPositions(pages.length, before);
  const missing = unfolded.filter((at) => enteringLevel(pages[at] as Page, Number.POSITIVE_INFINITY) === undefined);
  if (missing.length > 0)
    return { ok: false, needed: 0, unmet: missing.map((at) => unshowable(pages[at] as Page)), largest: [] };

  const units = unitsOf(pages, unfolded);
  const held = heldLevels(ask, heldIn(units, pages));
  const foldable = units.filter((unit) => isFoldable(unit, pages, new Set(held.keys())));
  const spans = foldOldest(ask, before, units, foldable, held);
  const spanTokens = tokensOf(spans);
  const open = openPositions(pages.length, spans);

  const running = new Set(units.flatMap(({ members, complete }) => (complete ? [] : members)));
  fitHeld(pages, open, held, limit - spanTokens, running);
  const now = open.reduce((latest, at) => Math.max(latest, (pages[at] as Page).demand.turn), 0);
  const candidates = open.map((at): Candidate => {
    const page = pages[at] as Page;
    const level = held.get(at) ?? ask.demands.get(page.id);
    const candidate = candidateOf(page, now, ask.coming.get(page.id));
    return {
      ...candidate,
      id: sortable(at, page),
      required: true,
      ...(level === undefined ? {} : { demanded: level }),
    };
  });
  // Floors may need more than the target, and are given up to the limit.
  const wanted = selectLevels(candidates, { budget: target - spanTokens, order: ask.order });
  const selection = wanted.unmet.length === 0 ? wanted : floorsOnly(candidates, limit - spanTokens, ask.order);
  if (selection.unmet.length > 0) {
    const needed = spanTokens + selection.tokens + selection.unmet.reduce((sum, { needs = 0 }) => sum + needs, 0);
    const told = (all: readonly Unmet[]) => all.map((one) => ({ ...one, page: named(one.page) }));
    return { ok: false, needed, unmet: told(selection.unmet), largest: told(largestOf(candidates)) };
  }
  return { ok: true, entries: entriesOf(ask, open, spans, selection, held) };
}

/** The pages whose floors need most. */
function largestOf(candidates: readonly Candidate[]): readonly Unmet[] {
  return candidates
    .map(({ id, kind, demanded, tokens }) => {
      const level = demanded ?? minFidelity(kind);
      return { page: id, level, needs: tokens[level] ?? 0 };
    })
    .sort((a, b) => b.needs - a.needs || (a.page < b.page ? -1 : 1))
    .slice(0, MOST_NAMED);
}

/** What must be there and nothing more, when even that is over the target. */
function floorsOnly(candidates: readonly Candidate[], budget: number, order: UpgradeOrder): Selection {
  const bare = candidates.map((candidate): Candidate => {
    const level = candidate.demanded ?? minFidelity(candidate.kind);
    const price = candidate.tokens[level];
    return { ...candidate, tokens: price === undefined ? {} : { [level]: price } };
  });
  return selectLevels(bare, { budget, order });
}

/** Held pages at full; an output over its share at what fits it. */
function heldLevels({ pages, cap }: ReclaimAsk, held: ReadonlySet<number>): Map<number, ResidencyLevel> {
  return new Map([...held].map((at) => [at, enteringLevel(pages[at] as Page, cap) as ResidencyLevel]));
}

/**
 * Lowers the largest held outputs until everything held fits beside the floors of the rest; when no output is left to lower,
 * calls that have ended. A call that is still running stays whole, and so do words.
 */
function fitHeld(
  pages: readonly Page[],
  open: readonly number[],
  held: Map<number, ResidencyLevel>,
  limit: number,
  running: ReadonlySet<number>,
): void {
  const tokensAt = (at: number, level: ResidencyLevel) => representationAt(pages[at] as Page, level)?.tokens ?? 0;
  let total = open.reduce((sum, at) => {
    return sum + tokensAt(at, held.get(at) ?? minFidelity((pages[at] as Page).kind));
  }, 0);
  while (total > limit) {
    const lowerable = [...held]
      .filter(([at, level]) => levelBelow(pages[at] as Page, level) !== undefined)
      .sort(([a, high], [b, other]) => tokensAt(b, other) - tokensAt(a, high) || a - b);
    const largest =
      lowerable.find(([at]) => pages[at]?.kind === "evidence") ??
      lowerable.find(([at]) => pages[at]?.representations.full?.item.kind === "call" && !running.has(at));
    if (largest === undefined) return;
    const [at, level] = largest;
    const lower = levelBelow(pages[at] as Page, level) as ResidencyLevel;
    total += tokensAt(at, lower) - tokensAt(at, level);
    held.set(at, lower);
  }
}

/** Folds the oldest units until the floors of the rest take no more than their share. */
function foldOldest(
  ask: ReclaimAsk,
  before: readonly ViewEntry[],
  units: readonly Unit[],
  foldable: readonly Unit[],
  held: ReadonlyMap<number, ResidencyLevel>,
): readonly ViewEntry[] {
  const { pages, target, counter } = ask;
  const floorOf = (at: number) => {
    const page = pages[at] as Page;
    return representationAt(page, held.get(at) ?? minFidelity(page.kind))?.tokens ?? 0;
  };
  const share = target * FLOOR_SHARE - tokensOf(before);
  let floors = units.reduce((sum, { members }) => members.reduce((more, at) => more + floorOf(at), sum), 0);
  const ranges: { from: number; to: number }[] = [];
  for (const { members } of foldable) {
    if (floors + ranges.length * SPAN_TOKENS <= share) break;
    const from = members[0] as number;
    const to = (members.at(-1) as number) + 1;
    floors -= members.reduce((sum, at) => sum + floorOf(at), 0);
    const last = ranges.at(-1);
    if (last?.to === from) last.to = to;
    else ranges.push({ from, to });
  }
  // A pointer that is longer than what it stands for makes no room.
  const fresh = ranges
    .map(({ from, to }) => spanEntry(pages, from, to, counter))
    .filter(({ from, to, tokens }) => tokens < range(from, to).reduce((sum, at) => sum + floorOf(at), 0));
  const spans = [...before, ...fresh].sort((a, b) => a.from - b.from);
  return spans.length <= MOST_SPANS ? spans : merged(spans, pages, counter);
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, nth) => from + nth);
}

/** Neighbouring spans as one. */
function merged(spans: readonly ViewEntry[], pages: readonly Page[], counter: TokenCounter): readonly ViewEntry[] {
  const ranges: { from: number; to: number; only: ViewEntry | undefined }[] = [];
  for (const span of spans) {
    const last = ranges.at(-1);
    if (last?.to === span.from) Object.assign(last, { to: span.to, only: undefined });
    else ranges.push({ from: span.from, to: span.to, only: span });
  }
  return ranges.map(({ from, to, only }) => only ?? spanEntry(pages, from, to, counter));
}

function openPositions(count: number, spans: readonly ViewEntry[]): readonly number[] {
  const open: number[] = [];
  let at = 0;
  for (const span of [...spans, { from: count, to: count }]) {
    for (; at < span.from; at += 1) open.push(at);
    at = span.to;
  }
  return open;
}

function entriesOf(
  ask: ReclaimAsk,
  open: readonly number[],
  spans: readonly ViewEntry[],
  { levels }: Selection,
  held: ReadonlyMap<number, ResidencyLevel>,
): readonly ViewEntry[] {
  const single = open.map((at) => {
    const page = ask.pages[at] as Page;
    const level = levels.get(sortable(at, page)) as ResidencyLevel;
    return entryAt(page, at, level, held.has(at) ? "held" : "reclaimed") as ViewEntry;
  });
  return [...single, ...spans].sort((a, b) => a.from - b.from);
}

/** Names are the caller's and may repeat after a rewind; places are not. Ties fall to the older page. */
function sortable(at: number, { id }: Page): string {
  return `${String(at).padStart(9, "0")} ${id}`;
}

function named(sorted: string): string {
  return sorted.slice(10);
}
