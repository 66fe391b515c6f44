import { degradationPath, minFidelity, type PageKind, type ResidencyLevel } from "./kind.ts";
import { type Page, type PinClass, recencyAt, representationAt } from "./page.ts";

/** What the selector knows about a page: its price and its worth, never its text. */
export interface Candidate {
  readonly id: string;
  readonly kind: PageKind;
  readonly pin: PinClass;
  readonly baseUtility: number;
  readonly recency: number;
  readonly recomputeCost: number;
  /** Tokens at each level that it can be shown at. A level that is missing cannot be chosen. */
  readonly tokens: Readonly<Partial<Record<ResidencyLevel, number>>>;
  /** A level that was asked for. The page is shown at this level or better, or is listed as unmet. */
  readonly demanded?: ResidencyLevel;
  /** Must be shown at its floor at least, although it is not pinned. */
  readonly required?: boolean;
  /** How often it will be wanted in the next turns, where that is known. */
  readonly coming?: number;
}

/** A page that does not fit. */
export interface Unmet {
  readonly page: string;
  readonly level: ResidencyLevel;
  /** Tokens that it needs; absent when the page has no such representation. */
  readonly needs?: number;
}

/** The level chosen for each page. */
export interface Selection {
  readonly levels: ReadonlyMap<string, ResidencyLevel>;
  readonly tokens: number;
  readonly unmet: readonly Unmet[];
}

/** How upgrades are ordered: by worth per token, by when the page was last wanted, or by place alone. */
export type UpgradeOrder = "utility" | "lru" | "place";

export interface SelectOptions {
  readonly budget: number;
  readonly order?: UpgradeOrder;
}

/**
 * Chooses a level for each page. First, what is required gets its floor, by priority; what does not fit is listed as
 * unmet, never dropped silently. Then the other pages get pointers, those that are hardest to get again first. Then
 * pages are upgraded one step at a time. Pure: the same candidates give the same levels; ties are broken by id and then
 * by level.
 */
export function selectLevels(candidates: readonly Candidate[], options: SelectOptions): Selection {
  const { budget, order = "utility" } = options;
  const levels = new Map<string, ResidencyLevel>();
  const unmet: Unmet[] = [];
  let left = budget;

  const install = (candidate: Candidate, level: ResidencyLevel): boolean => {
    const price = candidate.tokens[level];
    if (price === undefined || price > left) return false;
    left -= price;
    levels.set(candidate.id, level);
    return true;
  };

  for (const candidate of candidates.filter(isRequired).sort(byPriority)) {
    const level = requiredLevel(candidate);
    const needs = candidate.tokens[level];
    if (!install(candidate, level))
      unmet.push({ page: candidate.id, level, ...(needs === undefined ? {} : { needs }) });
  }
  const missed = new Set(unmet.map(({ page }) => page));
  const optional = candidates.filter(({ id }) => !levels.has(id) && !missed.has(id));
  for (const candidate of optional.toSorted(
    (a, b) => b.recomputeCost - a.recomputeCost || byUtility(a, b) || byId(a, b),
  ))
    install(candidate, minFidelity(candidate.kind));

  for (const { candidate, from, to, extra } of upgradesOf(candidates, levels, order)) {
    if (levels.get(candidate.id) !== from || extra > left) continue; // the step below is not installed, or it does not fit
    left -= extra;
    levels.set(candidate.id, to);
  }
  return { levels, tokens: budget - left, unmet };
}

interface Upgrade {
  readonly candidate: Candidate;
  readonly from: ResidencyLevel;
  readonly to: ResidencyLevel;
  readonly extra: number;
  readonly worth: number;
  readonly rank: number;
}

function upgradesOf(
  candidates: readonly Candidate[],
  installed: ReadonlyMap<string, ResidencyLevel>,
  order: UpgradeOrder,
): readonly Upgrade[] {
  const upgrades: Upgrade[] = [];
  for (const candidate of candidates) {
    const level = installed.get(candidate.id);
    if (level === undefined) continue;
    const utility = order === "place" ? 1 : order === "lru" ? candidate.recency : utilityOf(candidate);
    const path = degradationPath(candidate.kind).filter((step) => candidate.tokens[step] !== undefined);
    let worth = Number.POSITIVE_INFINITY;
    for (let rank = path.indexOf(level); rank > 0; rank -= 1) {
      const from = path[rank] as ResidencyLevel;
      const to = path[rank - 1] as ResidencyLevel;
      const extra = (candidate.tokens[to] as number) - (candidate.tokens[from] as number);
      // A step is never worth more than the one below it, or it would come up before it could be taken.
      worth = order === "place" ? 1 : Math.min(worth, utility / Math.max(1, extra));
      upgrades.push({ candidate, from, to, extra, worth, rank });
    }
  }
  return upgrades.sort(
    (a, b) =>
      b.worth - a.worth ||
      (order === "place" ? 0 : b.candidate.recency - a.candidate.recency) ||
      byId(a.candidate, b.candidate) ||
      b.rank - a.rank,
  );
}

/** The paper's weights. Its sweep and ours find the same faults for others: floors and pointers do the work, not these. */
export function utilityOf({ baseUtility, pin, recency, recomputeCost, coming = 0 }: Candidate): number {
  const boost = pin === "hard" ? 2 : pin === "soft" ? 0.6 : 0;
  return baseUtility + boost + 0.6 * recency + 0.4 * recomputeCost + 2.2 * coming;
}

export function candidateOf(page: Page, now: number, coming = 0): Candidate {
  const tokens: Partial<Record<ResidencyLevel, number>> = {};
  for (const level of degradationPath(page.kind)) {
    const found = representationAt(page, level);
    if (found !== undefined) tokens[level] = found.tokens;
  }
  const { id, kind, pin, baseUtility, recomputeCost } = page;
  return { id, kind, pin, baseUtility, recomputeCost, recency: recencyAt(page.demand, now), tokens, coming };
}

function isRequired({ pin, demanded, required }: Candidate): boolean {
  return pin === "hard" || demanded !== undefined || required === true;
}

/** The demand, but never below the floor. */
function requiredLevel({ kind, demanded }: Candidate): ResidencyLevel {
  const path = degradationPath(kind);
  if (demanded === undefined) return minFidelity(kind);
  return path.includes(demanded) ? demanded : "full";
}

const PIN_RANK: Readonly<Record<PinClass, number>> = { hard: 0, soft: 1, none: 2 };
const KIND_RANK: Readonly<Record<PageKind, number>> = {
  bootstrap: 0,
  constraint: 1,
  plan: 2,
  preference: 2,
  evidence: 2,
  conversation: 2,
};

function byPriority(a: Candidate, b: Candidate): number {
  return PIN_RANK[a.pin] - PIN_RANK[b.pin] || KIND_RANK[a.kind] - KIND_RANK[b.kind] || byUtility(a, b) || byId(a, b);
}

function byUtility(a: Candidate, b: Candidate): number {
  return utilityOf(b) - utilityOf(a);
}

function byId(a: Candidate, b: Candidate): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
