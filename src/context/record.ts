import { canonicalJson } from "../base/canonical.ts";
import { deepFreeze } from "../base/freeze.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { BodyOf, RecordDraft } from "../records/kinds.ts";
import { RENDERER } from "./renderer.ts";
import type { ResidencyLevel } from "./kind.ts";
import type { Page } from "./page.ts";
import { isSpan } from "./place.ts";
import { behindView, type RefusedView, type View, type ViewEntry } from "./view.ts";

/** A run of neighbouring pages at one level; `span` means one pointer for all of them. */
export type LevelRun = readonly [level: ResidencyLevel | "span", pages: number];

/** The levels of a view as they are journalled: all of them, or only those of the new pages. */
export interface ChosenLevels {
  readonly from: number;
  /**
   * The ids of the page before `from` and of the last page. Levels are stored by place, so both must still match when
   * they are read.
   */
  readonly after: string | null;
  readonly last: string | null;
  readonly runs: readonly LevelRun[];
  readonly turn: number;
}

/**
 * The record to journal about a view, so that the next process to open the session can continue with the same bytes.
 */
export function viewChosen(view: View): Extract<RecordDraft, { readonly kind: "view-chosen" }> {
  let levels = chosen.get(view);
  if (levels === undefined) chosen.set(view, (levels = deepFreeze(levelsOf(view))));
  return { kind: "view-chosen", levels: levels as unknown as Json, renderer: RENDERER };
}

/** A view is asked twice, for its trace and for the journal. */
const chosen = new WeakMap<View, ChosenLevels>();

function levelsOf(view: View): ChosenLevels {
  const anew = view.policy !== "incremental" || view.turn === 0 || view.reclaim !== undefined || !view.settled;
  const from = anew ? 0 : view.seenBefore;
  const { list, count } = behindView(view);
  return {
    from,
    after: idAt(list, from - 1),
    last: idAt(list, count - 1),
    runs: runsOf(beyond(view.entries.slice(0, view.stableItems), from), from, count),
    turn: view.turn,
  };
}

/** One line of the decision trace. Equal inputs give equal bytes. */
export function traceLine(outcome: View | RefusedView): string {
  return canonicalJson(traceFacts(outcome));
}

/** What the line says. The view itself, with all that it shows, is not held for it. */
export function traceFacts(outcome: View | RefusedView): JsonObject {
  if (!outcome.ok) return outcome as unknown as JsonObject;
  const { turn, policy, budget, tokens, tailTokens, stableItems, reclaim, dropped } = outcome;
  const { levels } = viewChosen(outcome);
  const facts = { ok: true, turn, policy, budget, tokens, tailTokens, stableItems, levels, dropped };
  return { ...facts, ...(reclaim === undefined ? {} : { reclaim: { ...reclaim } }) } as unknown as JsonObject;
}

/** The levels that a sequence of records leaves, or undefined when they are not about these pages. */
export function chosenRuns(
  pages: readonly Page[],
  records: readonly BodyOf<"view-chosen">[],
  by: string,
): { readonly runs: readonly LevelRun[]; readonly turn: number } | undefined {
  const start = records.findLastIndex(({ levels }) => (levels as unknown as ChosenLevels).from === 0);
  if (start === -1) return undefined;
  const runs: LevelRun[] = [];
  let through = 0;
  let turn = 0;
  for (const { levels, renderer } of records.slice(start)) {
    const written = levels as unknown as ChosenLevels;
    if (renderer !== by || written.from !== through) return undefined;
    const size = written.runs.reduce((sum, [, count]) => sum + count, 0);
    if (written.after !== idAt(pages, through - 1) || written.last !== idAt(pages, through + size - 1))
      return undefined;
    runs.push(...written.runs);
    through += size;
    turn = written.turn;
  }
  return { runs, turn };
}

function runsOf(entries: readonly ViewEntry[], from: number, count: number): readonly LevelRun[] {
  const runs: [ResidencyLevel | "span", number][] = [];
  let next = from;
  const push = (level: ResidencyLevel | "span", size: number) => {
    const last = runs.at(-1);
    if (level !== "span" && last?.[0] === level) last[1] += size;
    else runs.push([level, size]);
  };
  for (const entry of entries.toSorted((a, b) => a.from - b.from)) {
    if (entry.from < next || entry.from === entry.to) continue;
    if (entry.from > next) push("full", entry.from - next); // repair took it out; it comes back whole
    push(isSpan(entry) ? "span" : entry.level, entry.to - entry.from);
    next = entry.to;
  }
  if (next < count) push("full", count - next);
  return runs;
}

/** What stands before `from` was written about with an earlier view: a long one is not gone through for what is new. */
function beyond(entries: readonly ViewEntry[], from: number): readonly ViewEntry[] {
  return from === 0 ? entries : entries.filter(({ to }) => to > from);
}

function idAt(pages: readonly Page[], at: number): string | null {
  return pages[at]?.id ?? null;
}
