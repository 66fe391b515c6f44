import type { Sha256 } from "../base/hash.ts";
import type { Usage } from "../contracts/model.ts";
import type { ResidencyLevel } from "../context/kind.ts";
import type { Page } from "../context/page.ts";
import { entryAt, spanEntry } from "../context/place.ts";
import type { ChosenLevels, LevelRun } from "../context/record.ts";
import { estimateCounter } from "../context/tokens/estimate.ts";
import { asView, type Reason, type Reclaim, type View, type ViewEntry } from "../context/view.ts";
import type { JournalEntry } from "../journal/prove.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import { ContextLineage, PinnedRules } from "./context-slices.ts";
import { Conversation } from "./conversation.ts";
import type { ContextOptions } from "./context-options.ts";
import { SessionPages } from "./session-pages.ts";
import type { Item } from "../wire/item.ts";
import { levelsFault, usageFault } from "./told-shapes.ts";
import { ViewLog, type ViewNotes } from "./view-log.ts";
import { type Standing, standingDurable, standingRule } from "./what-holds.ts";
import { DurableState } from "./writeback-slices.ts";

/** What a model saw in one request, rebuilt from the journal. */
export interface LookedView {
  /** Sequence number of the record that describes it. */
  readonly seq: number;
  readonly at: string;
  /** How many views came before it. */
  readonly turn: number;
  /** How many pages were shown at each level, in the order of the request. */
  readonly runs: readonly LevelRun[];
  /** Tokens of the whole request, as counted when it was sent. */
  readonly counted: number;
  /** How many of those surround the conversation: instructions, tools and so on. */
  readonly around?: number;
  /** Tokens that there were for the conversation. */
  readonly budget?: number;
  /** The reclaim that set its levels, if there was one. */
  readonly reclaim?: Reclaim;
  /**
   * How many pages before the conversation (rules and preferences) are known only to the program that sent the request.
   */
  readonly unknownPages: number;
  /** The view page by page, for `explainPage`. Undefined when its pages cannot be made again here. */
  readonly view?: View;
  /** Pages of what was said since, which will be in the next request. */
  readonly since: readonly Page[];
  /** What the provider reported for the answer. */
  readonly usage?: Usage;
  /** What all answers up to this one have used. */
  readonly spent: Required<Pick<Usage, "input" | "output" | "cacheRead">>;
}

type ViewRecord = Extract<JournalEntry, { readonly kind: "view-chosen" }>;
type Levels = ChosenLevels & Partial<ViewNotes>;

interface LookOptions {
  readonly turn?: number;
  readonly context: ContextOptions;
  /** The state as it was after a record, if that is still kept. */
  readonly stateAt: (seq: number) => Promise<ExecutionState | undefined>;
}

/** Reads a session to a request of it, or to its end. */
export async function lookAtView(
  entries: AsyncIterable<JournalEntry>,
  state: ExecutionState,
  { turn, context, stateAt }: LookOptions,
): Promise<LookedView | undefined> {
  const conversation = new Conversation();
  const log = new ViewLog();
  let chosen: ViewRecord[] = [];
  let usage: Usage | undefined;
  const spent = { input: 0, output: 0, cacheRead: 0 };
  for await (const entry of entries) {
    // What follows the request that was asked for is only heard for its answer.
    const over = turn !== undefined && (chosen.length === 0 ? -1 : levelsOf(chosen.at(-1)).turn) >= turn;
    if (over && (entry.kind === "view-chosen" || usage !== undefined)) break;
    if (entry.kind === "rewound" && entry.scope.includes("conversation"))
      chosen = chosen.filter(({ seq }) => seq <= entry.to);
    if (entry.kind === "view-chosen" && levelsFault(entry.levels) === undefined) {
      chosen.push(entry);
      usage = undefined;
    }
    if (entry.kind === "model-said" && entry.usage !== undefined && usageFault(entry.usage) === undefined) {
      usage = entry.usage as unknown as Usage;
      spent.input += usage.input;
      spent.output += usage.output;
      spent.cacheRead += usage.cacheRead ?? 0;
    }
    if (over) continue;
    conversation.take(entry);
    log.take(entry);
  }
  const last = chosen.at(-1);
  if (last === undefined || (turn !== undefined && levelsOf(last).turn !== turn)) return undefined;
  const { around, budget, counted = 0 } = levelsOf(last);
  const reclaim = chosen.map(levelsOf).findLast(({ from }) => from === 0)?.reclaim;
  // Rules are changed in their place: those of now may say what nobody had said then.
  const held = Object.keys(log.beside).length === 0 ? [] : standingIn(await stateAt(last.seq));
  const pages = pagesOf(conversation, log, {
    lineage: state.session.get(ContextLineage),
    held,
    context,
    tools: log.tools,
  });
  const told = placed(chosen.map(levelsOf), pages, context);
  return {
    seq: last.seq,
    at: last.at,
    turn: levelsOf(last).turn,
    counted,
    ...(around === undefined ? {} : { around }),
    ...(budget === undefined ? {} : { budget }),
    ...(reclaim === undefined ? {} : { reclaim }),
    ...told,
    ...(usage === undefined ? {} : { usage }),
    spent,
  };
}

function levelsOf(record: ViewRecord | undefined): Levels {
  return record?.levels as unknown as Levels;
}

/** What held beside the conversation: pinned rules and durable pages of the session's own. */
function standingIn(state: ExecutionState | undefined): readonly Standing[] {
  if (state === undefined) return [];
  const durable = Object.values(state.session.get(DurableState)).map((one) => standingDurable(one, false));
  return [...state.session.get(PinnedRules).map(standingRule), ...durable];
}

interface PagesAround {
  readonly lineage: string;
  readonly held: readonly Standing[];
  readonly context: ContextOptions;
  readonly tools: ReadonlySet<string> | undefined;
}

/** The pages of the conversation as it stands, made as the session makes them. None when not all of them can be. */
function pagesOf(
  conversation: Conversation,
  { beside, cuts, prepared }: ViewLog,
  { lineage, held, context, tools }: PagesAround,
): readonly Page[] {
  const { counter = estimateCounter, compressor, rules = [], preferences = [] } = context;
  const deps = {
    counter,
    lineage,
    prepared: (digest: Sha256) => prepared.get(digest),
    ...(compressor === undefined ? {} : { compressor }),
  };
  const pages = new SessionPages(
    deps,
    () => {},
    () => {},
  );
  // Looked at, not sent: a call that runs, or that a crash cut off, is no reason to refuse.
  const history = conversation.offering(tools);
  const pinned = held.filter(({ id }) => Object.hasOwn(beside, id));
  if (pinned.length < Object.keys(beside).length) return []; // no longer kept; and pages that sessions share are not looked up here
  const said = { history, said: conversation.items, idOf: (item: Item) => conversation.idOf(item) };
  return pages.list({ rules, preferences, pinned, cuts, ...said }, beside);
}

type Placed = Pick<LookedView, "runs" | "unknownPages" | "view" | "since">;

/** Lays the levels that were written down over the pages: by place, so the places must be found again. */
function placed(chosen: readonly Levels[], pages: readonly Page[], context: ContextOptions): Placed {
  const records = chosen.slice(
    Math.max(
      0,
      chosen.findLastIndex(({ from }) => from === 0),
    ),
  );
  const runs = records.flatMap((levels) => levels.runs);
  const size = runs.reduce((sum, [, count]) => sum + count, 0);
  const last = pages.findIndex(({ id }) => id === records.at(-1)?.last);
  const unknownPages = size - last - 1;
  const blind = { runs, unknownPages: 0, since: [] };
  if (last === -1 || unknownPages < 0) return blind;
  const reasons = records.flatMap((levels) =>
    levels.runs.map(([level, count]) => [level, count, whyOf(levels, level)] as const),
  );
  const entries: ViewEntry[] = [];
  let at = -unknownPages;
  for (const [level, count, why] of reasons) {
    const [from, to] = [Math.max(0, at), at + count];
    at = to;
    if (to <= 0) continue;
    if (level === "span") entries.push(spanEntry(pages, from, to, context.counter ?? estimateCounter));
    else
      for (let one = from; one < to; one += 1) {
        const entry = entryAt(pages[one] as Page, one, level, why);
        if (entry === undefined) return blind;
        entries.push(entry);
      }
  }
  const tokens = entries.reduce((sum, entry) => sum + entry.tokens, 0);
  const newest = records.at(-1);
  const view = asView(
    {
      ok: true,
      items: entries.map(({ item }) => item),
      entries,
      stableItems: entries.length,
      tokens,
      tailTokens: 0,
      budget: newest?.budget ?? tokens,
      policy: context.policy ?? "incremental",
      turn: newest?.turn ?? 0,
      settled: true,
      dropped: [],
      tail: [],
      seenBefore: entries.length,
    },
    { list: pages, count: last + 1 },
  );
  return { runs, unknownPages, view, since: pages.slice(last + 1) };
}

/** What the record says about why: a level that stands beside a reclaim was chosen by it. */
function whyOf({ reclaim, turn, from }: Levels, level: ResidencyLevel | "span"): Reason {
  if (level === "span") return "folded";
  if (reclaim !== undefined && from === 0) return level === "full" ? "kept" : "reclaimed";
  if (level === "full") return "new";
  return turn === 0 || from > 0 ? "over-cap" : "resumed";
}
