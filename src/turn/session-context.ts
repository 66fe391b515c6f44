import type { Json } from "../base/json.ts";
import type { Compressor } from "../contracts/compressor.ts";
import type { TokenCounter } from "../contracts/token-counter.ts";
import { deriveView, type Marks } from "../context/derive.ts";
import { type Explanation, explainPage } from "../context/explain.ts";
import { type CallSeen, type ContextCounts, FaultObserver } from "../context/faults.ts";
import { demandPage, type Page } from "../context/page.ts";
import type { Preference, Rule } from "../context/producers.ts";
import { HandleTable, type Recalled, type RecallRequest } from "../context/recall.ts";
import { traceLine, viewChosen } from "../context/record.ts";
import { resumeView } from "../context/resume.ts";
import { budgetWithin, type Calibration } from "../context/tokens/calibrate.ts";
import { estimateCounter } from "../context/tokens/estimate.ts";
import { countWithoutRuns } from "../context/tokens/runs.ts";
import type { DerivePolicy, RefusedView, View } from "../context/view.ts";
import type { JournalEntry } from "../journal/prove.ts";
import type { RecordDraft } from "../records/kinds.ts";
import { Plan } from "../state/default-slices.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import { type AnySlice, anyPartOf, type SliceEvent } from "../state/slice.ts";
import type { CallItem } from "../wire/item.ts";
import { ContextLineage, PinnedRules } from "./context-slices.ts";
import { type PageSources, SessionPages } from "./session-pages.ts";
import { ViewLog } from "./view-log.ts";

export interface ContextOptions {
  /** How many tokens the model reads and writes in one request. Default 128 000. */
  readonly window?: number;
  /** Default: an estimate, calibrated by what the provider reports. */
  readonly counter?: TokenCounter;
  readonly compressor?: Compressor;
  /** Default `incremental`. */
  readonly policy?: DerivePolicy;
  readonly marks?: Partial<Marks>;
  /** Hold in every session: the instruction file, the goals of a task file. */
  readonly rules?: readonly Rule[];
  readonly preferences?: readonly Preference[];
  /** `false`: the model is not offered `recall`. */
  readonly recall?: boolean;
}

/** What a view is asked for. */
export interface ViewAsk extends Pick<PageSources, "history" | "idOf"> {
  /** What stands around the conversation in the request: instructions, tools, stamp. */
  readonly around: readonly string[];
  /** Room for the answer. */
  readonly answer?: number;
  readonly window?: number;
  /** The provider refused the last request as too long. */
  readonly tooLong?: boolean;
}

const WINDOW = 128_000;
/** Of the window, what an answer is given when nobody says how long it may be. */
const ANSWER_SHARE = 0.25;
const MOST_ANSWER = 16_000;
const MOST_TRACED = 1_000;

/** What a session's model sees, and why. The pages follow the journal: nothing is kept here that it does not hold. */
export class SessionContext {
  readonly #state: ExecutionState;
  readonly #options: ContextOptions;
  readonly #counter: TokenCounter;
  readonly #log = new ViewLog();
  readonly #table = new HandleTable();
  readonly #observer = new FaultObserver();
  readonly #trace: string[] = [];
  /** What stands around a conversation changes seldom; it is counted once. */
  #around: { readonly texts: readonly string[]; readonly tokens: number } = { texts: [], tokens: 0 };
  #pages: SessionPages | undefined;
  #lineage = "";
  #view: View | undefined;
  /** So many tokens were too many for the provider. */
  #ceiling = Number.POSITIVE_INFINITY;

  constructor(state: ExecutionState, options: ContextOptions = {}) {
    this.#state = state;
    this.#options = options;
    this.#counter = options.counter ?? estimateCounter;
  }

  /** The view of the last request in this process. */
  get view(): View | undefined {
    return this.#view;
  }

  /** Faults, alerts and hits in this process. */
  get counts(): ContextCounts {
    return this.#observer.counts;
  }

  get calibration(): Calibration {
    return this.#log.calibration;
  }

  /** One line of JSON for each of the newest views that were chosen or refused, in this process. */
  get trace(): readonly string[] {
    return this.#trace;
  }

  /** Why a page is shown as it is; undefined for a page that the last view does not know. */
  explain(pageId: string): Explanation | undefined {
    return this.#view === undefined ? undefined : explainPage(this.#view, pageId);
  }

  /** What a handle names, or why it names nothing here. */
  recall(request: RecallRequest): Recalled {
    const answer = this.#table.recall(request);
    this.#observer.recalled(answer);
    const item = answer.ok ? answer.page?.representations.full?.item : undefined;
    const now = this.#view?.pages.reduce((latest, { demand }) => Math.max(latest, demand.turn), 0) ?? 0;
    if (item !== undefined) this.#pages?.replace(item, (page) => demandPage(page, now));
    return answer;
  }

  /** A rule that holds from now on, in this session and its forks. Inside a call: dispatch `PinnedRules.pinned`. */
  pin(rule: Rule): Promise<void> {
    return this.#state.session.dispatch(PinnedRules.pinned(rule));
  }

  unpin(id: string): Promise<void> {
    return this.#state.session.dispatch(PinnedRules.unpinned(id));
  }

  /** Hears what the journal holds, on its way to whoever reads it. */
  async *hearing(entries: AsyncIterable<JournalEntry>): AsyncIterable<JournalEntry> {
    for await (const entry of entries) {
      if (this.#log.take(entry)) this.#view = undefined; // taken back: now the journal says how the last view was
      yield entry;
    }
  }

  /** Station: the view of the next request. `notesOf` says what to write about it before anything is sent. */
  choose(ask: ViewAsk): View | RefusedView {
    const { policy = "incremental", marks, rules = [], preferences = [] } = this.#options;
    const pages = (this.#pages ??= this.#begin());
    const pinned = this.#has(PinnedRules) ? this.#state.session.get(PinnedRules) : [];
    const list = pages.list({ ...ask, rules, preferences, pinned }, this.#log.beside);
    const previous = this.#view ?? this.#resume(list);
    if (ask.tooLong === true && previous !== undefined) this.#ceiling = Math.min(this.#ceiling, previous.tokens);
    const budget = this.#budget(ask);
    if (budget <= 0) return this.#told(nothingFits(this.#around.tokens, budget));
    const plan = this.#state.session.latest(Plan);
    const view = deriveView(list, {
      budget,
      policy,
      counter: this.#counter,
      tail: plan?.status === "active" ? [pages.plan(plan)] : [],
      ...(previous === undefined ? {} : { previous }),
      ...(marks === undefined ? {} : { marks }),
      ...(ask.tooLong === true ? { reclaim: true } : {}),
    });
    if (view.ok) this.#chosen(view, previous);
    return this.#told(view);
  }

  /** What to write about a view before it is sent. */
  notesOf(view: View): { readonly drafts: readonly RecordDraft[]; readonly events: readonly SliceEvent[] } {
    const { levels, ...record } = viewChosen(view);
    const counted = view.tokens + this.#around.tokens;
    const notes = {
      ...(levels as object),
      counted,
      beside: this.#pages?.beside ?? {},
      around: this.#around.tokens,
      budget: view.budget,
      ...(view.reclaim === undefined ? {} : { reclaim: view.reclaim }),
    } as unknown as Json;
    const isKept = !this.#has(ContextLineage) || this.#state.session.get(ContextLineage) !== "";
    return { drafts: [{ ...record, levels: notes }], events: isKept ? [] : [ContextLineage.begun(this.#lineage)] };
  }

  /** A call of a tool that only reads, made while the model looked at the last view. */
  called(call: CallItem): CallSeen {
    return this.#view === undefined ? "first" : this.#observer.call(call, this.#view);
  }

  /** A state of its own, outside any session, need not have our slices. */
  #has(slice: AnySlice): boolean {
    return this.#state.truth.parts.has(anyPartOf(slice).name);
  }

  #begin(): SessionPages {
    const { compressor } = this.#options;
    const kept = this.#has(ContextLineage) ? this.#state.session.get(ContextLineage) : "";
    this.#lineage = kept === "" ? this.#state.random.hex(16) : kept;
    const deps = {
      counter: this.#counter,
      lineage: this.#lineage,
      ...(compressor === undefined ? {} : { compressor }),
    };
    return new SessionPages(deps, (page) => {
      this.#table.addPages([page]);
      this.#observer.note([page]);
    });
  }

  #resume(list: readonly Page[]): View | undefined {
    const resumed = resumeView(list, this.#log.records, this.#counter);
    if (resumed !== undefined) this.#table.addView(resumed);
    return resumed;
  }

  #chosen(view: View, previous: View | undefined): void {
    this.#view = view;
    if (view.reclaim === undefined && previous !== undefined && view.settled) return; // the one before, and what is new
    this.#table.addView(view);
    this.#observer.assembled(view);
  }

  #told<V extends View | RefusedView>(view: V): V {
    this.#trace.push(traceLine(view));
    if (this.#trace.length > MOST_TRACED) this.#trace.shift();
    return view;
  }

  #budget({ around, answer, window = this.#options.window ?? WINDOW }: ViewAsk): number {
    const known = this.#around.texts;
    if (around.length !== known.length || around.some((text, at) => text !== known[at])) {
      const tokens = around.reduce((sum, text) => sum + countWithoutRuns(this.#counter, text), 0);
      this.#around = { texts: around, tokens };
    }
    const limit = window - (answer ?? Math.min(MOST_ANSWER, window * ANSWER_SHARE));
    const within = budgetWithin(limit, this.#counter, this.#log.calibration) - this.#around.tokens;
    return Math.min(within, this.#ceiling);
  }
}

function nothingFits(needed: number, budget: number): RefusedView {
  const unmet = [{ page: "instructions and tools", level: "full" as const, needs: needed }];
  return { ok: false, fault: "floors-exceed-budget", budget: Math.max(0, budget), needed, unmet };
}
