import { HoldfastError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import { AMOUNT, checkOptions, having, OBJECT, type OptionRules, whole } from "../base/options.ts";
import { type CutLimits, planCut } from "../context/boundary/cut.ts";
import { leaveBehind, plainSummary, pointTo } from "../context/boundary/summary.ts";
import { head } from "../context/compress/cut.ts";
import type { Page } from "../context/page.ts";
import { unitsOf } from "../context/units.ts";
import type { Summariser, Summary } from "../contracts/summariser.ts";
import type { BodyOf, RecordDraft } from "../records/kinds.ts";
import type { Item } from "../wire/item.ts";
import { keepItems } from "../wire/keep.ts";
import { aside } from "./aside.ts";
import { catchUp, type Ground } from "./ground.ts";
import { isThrough } from "./made-id.ts";
import { faultRecord } from "./story.ts";
import type { KeptCut } from "./view-log.ts";
import { type Flushed, outOfReach } from "./writeback.ts";
import { isNumbered } from "./writeback-slices.ts";

/** A moment that gives context up. */
export type Boundary = BodyOf<"boundary-crossed">["boundary"];

/** Options of `session.compact`. */
export interface CompactOptions {
  /** Writes the summary. Default: the session's `context.compaction.summariser`, or one that asks no model. */
  readonly summariser?: Summariser;
  /** Tokens for the newest groups, which are kept whole. Default: a quarter of the budget, at most 20 000. */
  readonly tail?: number;
  /** Tokens for older words of the user's. Default: an eighth of the budget, at most 20 000. */
  readonly said?: number;
  /** Stops the summariser. Nothing changes then. */
  readonly signal?: AbortSignal;
}

const COMPACT_OPTIONS: OptionRules<CompactOptions> = {
  summariser: having("summarise"),
  tail: AMOUNT,
  said: AMOUNT,
  signal: OBJECT,
};

/** Options of `session.prune`. */
export interface PruneOptions {
  /** How many of the newest groups stay. Default 16. */
  readonly keep?: number;
}

/** What crossing a boundary did. */
export interface Crossed extends Flushed {
  /** False when no page could leave. */
  readonly crossed: boolean;
  /** How many pages left the requests. All of them can still be recalled by their handles. */
  readonly left: number;
}

const MOST_TAIL = 20_000;
const TAIL_SHARE = 0.25;
const SAID_SHARE = 0.125;
/** Attempts in a row that commit nothing of what waits. */
const MOST_IDLE = 3;
/** Of the budget, what a summary may take. */
const SUMMARY_SHARE = 0.125;
/** Characters that a token has at the most, as far as a summary is concerned. */
const LONGEST_TOKEN = 6;

/** Everything but the newest groups and the user's words becomes a summary. Nothing changes when that fails. */
export async function compact(ground: Ground, options: CompactOptions = {}): Promise<Crossed> {
  checkOptions(options, COMPACT_OPTIONS);
  await catchUp(ground); // what the last request had room for is read from the journal, or a restart would cut elsewhere
  return compactWithin(ground, ground.context.budget, options);
}

/** The same within a budget that is not that of the last request: another model may read less, and all would seem to fit. */
export async function compactWithin(ground: Ground, budget: number, options: CompactOptions = {}): Promise<Crossed> {
  const { compaction } = ground.context;
  const { tail = Math.min(MOST_TAIL, budget * TAIL_SHARE), said = Math.min(MOST_TAIL, budget * SAID_SHARE) } = options;
  const summariser = options.summariser ?? compaction?.summariser ?? plainSummary;
  return cut(ground, "compaction", { tail, said }, async (gone, kept) => {
    const room = Math.round(budget * SUMMARY_SHARE);
    const summary = await summarised(ground, summariser, { gone, room, signal: options.signal });
    try {
      return leaveBehind(gone, summary, kept);
    } catch (error) {
      if (HoldfastError.is(error, "SUMMARY_FAILED")) throw error;
      throw new HoldfastError("SUMMARY_FAILED", { summariser: summariser.name }, { cause: error }); // items that are none
    }
  });
}

/** Later requests begin anew: with what holds, and one pointer to what was. */
export function reset(ground: Ground): Promise<Crossed> {
  return cut(ground, "reset", { tail: 0, groups: 0, said: 0 }, async (gone) => pointTo(gone));
}

/** Later requests show the newest groups and one pointer to the rest: a long session goes on without all of its weight. */
export async function prune(ground: Ground, options: PruneOptions = {}): Promise<Crossed> {
  checkOptions(options, { keep: whole(0) });
  const { keep: groups = 16 } = options;
  return cut(ground, "prune", { tail: Number.POSITIVE_INFINITY, groups, said: 0 }, async (gone) => pointTo(gone));
}

/**
 * Commits what is dirty; only then does `records` happen. Whatever is staged while it waits is committed, too. If that fails
 * the boundary is refused, and the miss is told.
 */
export async function cross(
  ground: Ground,
  boundary: Boundary,
  records: () => readonly RecordDraft[],
): Promise<Flushed> {
  const { writeback } = ground;
  let done: Flushed = { committed: [], rejected: [] };
  for (let idle = 0; ; ) {
    const settled = await flushed(ground, boundary);
    done = both(done, settled);
    idle = settled.committed.length + settled.rejected.length === 0 ? idle + 1 : 0;
    const crossed = await ground.decide(() => {
      const clean = (writeback?.pending.length ?? 0) === 0;
      return { drafts: clean ? records() : [], answer: clean };
    });
    if (crossed) return done;
    // What came meanwhile, or was taken back, is committed next. What nobody commits would keep a session from ever closing.
    if (idle < MOST_IDLE) continue;
    const staged = writeback?.pending.filter(isNumbered).map(({ id }) => id) ?? [];
    await refuse(ground, boundary, new HoldfastError("WRITEBACK_UNREACHABLE", { staged }));
  }
}

/** Commits what is dirty, or refuses the boundary. */
export async function flushed(ground: Ground, boundary: Boundary): Promise<Flushed> {
  try {
    return (await ground.writeback?.commit()) ?? { committed: [], rejected: [] };
  } catch (error) {
    return refuse(ground, boundary, error);
  }
}

/** Tells the miss, here and in the journal as far as it can be reached, and throws. */
export async function refuse(ground: Ground, boundary: Boundary, error: unknown): Promise<never> {
  const miss = outOfReach(error);
  ground.context.missed("flush-miss");
  const causes: unknown[] = [miss];
  const staged = miss.details["staged"] ?? [];
  await ground.write([faultRecord("flush-miss", { boundary, staged })]).catch((more: unknown) => causes.push(more));
  throw new HoldfastError("BOUNDARY_REFUSED", { boundary, staged }, { cause: new AggregateError(causes) });
}

type LeaveBehind = (gone: readonly Page[], kept: readonly Item[]) => Promise<ReturnType<typeof pointTo>>;

async function cut(ground: Ground, boundary: Boundary, limits: CutLimits, leave: LeaveBehind): Promise<Crossed> {
  const { conversation, context, rewrittenAt } = ground;
  await catchUp(ground);
  const pages = context.know(conversation.items, (item) => conversation.idOf(item));
  const plan = planCut(pages, limits);
  const gone = plan.gone.map((at) => pages[at] as Page);
  const through = newestOf(gone.map(({ id }) => id).filter(isNamed));
  if (through === undefined) return { crossed: false, left: 0, committed: [], rejected: [] };
  const leaving = new Set(plan.gone); // looked up for every page there ever was
  const stays = pages.filter((page, at) => isNamed(page.id) && isThrough(page.id, through) && !leaving.has(at));
  const kept = pages.slice(plan.tailFrom).flatMap((page) => page.representations.full?.item ?? []);
  const left = await leave(gone, kept);
  const keptCut: KeptCut = {
    through,
    stays: stays.map(({ id }) => id),
    handle: left.handle,
    items: keepItems(left.items),
  };
  const record: RecordDraft = { kind: "boundary-crossed", boundary, cut: keptCut as unknown as Json };
  let isOutdated = false;
  const done = await cross(ground, boundary, () => {
    isOutdated = ground.rewrittenAt !== rewrittenAt;
    return isOutdated ? [] : [record];
  });
  if (!isOutdated) return { crossed: true, left: gone.length, ...done };
  // Somebody went back meanwhile: a summary would tell of what was taken back. It is made of what there is now.
  const anew = await cut(ground, boundary, limits, leave);
  return { ...anew, ...both(done, anew) };
}

function both(one: Flushed, other: Flushed): Flushed {
  return { committed: [...one.committed, ...other.committed], rejected: [...one.rejected, ...other.rejected] };
}

/**
 * Asks for a summary, each time of less, until it is not too much. The last group that is left is no less. What is
 * left out doubles, and is never more than half of what is left: one group less each time, a long conversation would cost as
 * many questions as it has groups.
 */
async function summarised(
  ground: Ground,
  summariser: Summariser,
  what: { readonly gone: readonly Page[]; readonly room: number; readonly signal: AbortSignal | undefined },
): Promise<Summary> {
  const { gone, room, signal = new AbortController().signal } = what;
  const units = unitsOf(gone, [...gone.keys()]);
  for (let from = 0; ; from += Math.min(from + 1, (units.length - from) >> 1)) {
    const members = units.slice(from).flatMap(({ members: all }) => all);
    const items = members.toSorted((a, b) => a - b).flatMap((at) => gone[at]?.representations.full?.item ?? []);
    try {
      const about = { purpose: "summarise", name: `${ground.head}.${ground.state.ids.next()}`, signal } as const;
      const summary = await aside(ground, about, ({ used }) => summariser.summarise({ items, room, signal, used }));
      return "text" in summary ? { text: head(summary.text, room * LONGEST_TOKEN) } : summary;
    } catch (error) {
      if (HoldfastError.is(error, "SUMMARY_TOO_LONG") && from + 1 < units.length) continue;
      throw new HoldfastError("SUMMARY_FAILED", { summariser: summariser.name }, { cause: error });
    }
  }
}

/** Results are told in the order of their calls: the last one need not be the newest. */
function newestOf(places: readonly string[]): string | undefined {
  return places.reduce<string | undefined>(
    (newest, place) => (newest !== undefined && isThrough(place, newest) ? newest : place),
    undefined,
  );
}

/** Pages of the conversation are named by their place in the journal; those that a boundary left are not. */
function isNamed(id: string): boolean {
  return /^\d{9}\./.test(id);
}
