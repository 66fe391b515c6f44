import { canonicalJson } from "../base/canonical.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { overDefaults } from "../base/options.ts";
import { type Pressure, pressureOf } from "../context/boundary/pressure.ts";
import { deriveView, MARKS } from "../context/derive.ts";
import { explainPage, type Explanation } from "../context/explain.ts";
import {
  type CallSeen,
  type ContextCounts,
  type ContextFault,
  FaultObserver,
  isContextFault,
  withFault,
} from "../context/faults.ts";
import type { CompressorFailure } from "../context/make-page.ts";
import type { Page } from "../context/page.ts";
import type { Rule } from "../context/producers.ts";
import { HandleTable, type Recalled, type RecallRequest, type ShownSpan } from "../context/recall.ts";
import { traceFacts, viewChosen } from "../context/record.ts";
import { rendererWith } from "../context/renderer.ts";
import { resumeView } from "../context/resume.ts";
import type { Calibration } from "../context/tokens/calibrate.ts";
import { estimateCounter } from "../context/tokens/estimate.ts";
import { isUserTurn } from "../context/units.ts";
import type { RefusedView, View } from "../context/view.ts";
import type { Compressed, Compressor } from "../contracts/compressor.ts";
import type { Filesystem } from "../contracts/filesystem.ts";
import type { TokenCounter } from "../contracts/token-counter.ts";
import type { JournalEntry } from "../journal/prove.ts";
import type { RecordDraft } from "../records/kinds.ts";
import { Plan } from "../state/default-slices.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import type { SliceEvent } from "../state/slice.ts";
import type { CallItem, Item } from "../wire/item.ts";
import type { CompactionOptions, ContextOptions, ContextOrigin, ViewAsk } from "./context-options.ts";
import { ContextLineage, PinnedRules } from "./context-slices.ts";
import { PreparedTexts, type UnpreparedOutput } from "./prepared-texts.ts";
import { NO_PROJECT, type ProjectFault, type ProjectRules, readProjectRules } from "./project-rules.ts";
import { RequestBudget } from "./request-budget.ts";
import { type PageSources, SessionPages } from "./session-pages.ts";
import type { Shelves } from "./shelves.ts";
import { ViewLog } from "./view-log.ts";
import { hasSlice, pinnedIn, plansIn, stoodIn, valueIn } from "./what-holds.ts";

const MOST_TRACED = 1_000;
const PATIENCE_MS = 20_000;

/** What a session's model sees, and why. Everything here follows from the journal. */
export class SessionContext {
  readonly #state: ExecutionState;
  readonly #options: ContextOptions;
  readonly #shelves: Pick<Shelves, "pages"> | undefined;
  readonly #openedAt: number;
  readonly #counter: TokenCounter;
  readonly #budget: RequestBudget;
  readonly #log = new ViewLog();
  readonly #prepared: PreparedTexts;
  readonly #table = new HandleTable();
  readonly #observer = new FaultObserver();
  readonly #trace: JsonObject[] = [];
  #pages: SessionPages | undefined;
  #project: ProjectRules = NO_PROJECT;
  /** Of the compressor, by its words: a host that is told once knows where to look. */
  readonly #uncompressed = new Map<string, CompressorFailure | "told">();
  #lineage = "";
  #isRecollected = false;
  #beside: Readonly<Record<string, string>> = {};
  #view: View | undefined;

  constructor(state: ExecutionState, options: ContextOptions = {}, origin: ContextOrigin = {}) {
    this.#state = state;
    this.#shelves = origin.shelves;
    this.#openedAt = origin.openedAt ?? 0;
    this.#options = options;
    this.#counter = options.counter ?? estimateCounter;
    this.#budget = new RequestBudget(this.#counter, options.window);
    const { redact = (text) => text } = origin;
    this.#prepared = new PreparedTexts(this.#log, { openedAt: this.#openedAt, redact });
  }

  /** The view of the last request that this process made. */
  get view(): View | undefined {
    return this.#view;
  }

  /** Counts the session's faults, as far as its journal was read, and the alerts and hits of this process. */
  get counts(): ContextCounts {
    return this.#observer.counts;
  }

  /** How the token counter is calibrated by what the provider has reported. */
  get calibration(): Calibration {
    return this.#log.calibration;
  }

  /** One line of JSON for each of the newest 1 000 views that this process chose or refused. */
  get trace(): readonly string[] {
    return this.#trace.map(canonicalJson);
  }

  /** Explains why a page is shown as it is. Undefined for a page that is not in the last view. */
  explain(pageId: string): Explanation | undefined {
    return this.#view === undefined ? undefined : explainPage(this.#view, pageId);
  }

  /** Gets back what a handle names, or says why it names nothing here. */
  recall(request: RecallRequest): Recalled {
    const answer = this.#table.recall(request);
    this.#observer.recalled(answer);
    return answer;
  }

  /** Pins a rule in this session and its forks. Inside a call, dispatch `PinnedRules.pinned` instead. */
  pin(rule: Rule): Promise<void> {
    return this.#state.session.dispatch(PinnedRules.pinned(rule));
  }

  /** Removes a pinned rule. Inside a call, dispatch `PinnedRules.unpinned` instead. */
  unpin(id: string): Promise<void> {
    return this.#state.session.dispatch(PinnedRules.unpinned(id));
  }

  /** Takes in a journal entry, before the conversation does. */
  hear(entry: JournalEntry): void {
    // Of earlier processes; this one counts its own when they happen.
    if (entry.kind === "fault-raised" && entry.seq <= this.#openedAt && isContextFault(entry.fault))
      this.missed(entry.fault);
    this.#budget.hear(entry);
    const isTakenBack = this.#log.take(entry);
    if (isTakenBack) this.#view = undefined; // now the journal says how the last view was
    if (!isTakenBack && entry.kind !== "history-cut") return;
    // Made anew of what is left, as the next process makes them: as old, and as often wanted.
    this.#pages = undefined;
    this.#isRecollected = false;
  }

  /** The rules from the project's files when the turn began, and what could not be read. */
  get project(): ProjectRules {
    return this.#project;
  }

  /**
   * Reads the project's files again, and returns the faults that are new. It happens when a turn begins and never
   * within one: what an agent writes there in the middle of its work must neither change its rules nor cost it the
   * stable prefix.
   */
  async readProject(files: () => Filesystem): Promise<readonly ProjectFault[]> {
    const { project, rules } = this.#options;
    if (project === undefined) return [];
    const told = new Set(this.#project.faults.map((fault) => JSON.stringify(fault)));
    this.#project = await readProjectRules(files(), project === true ? {} : project, rules);
    return this.#project.faults.filter((fault) => !told.has(JSON.stringify(fault)));
  }

  /** The compressor of the session's options, if any. */
  get compressor(): Compressor | undefined {
    return this.#options.compressor;
  }

  /** How long a request waits for a compressor that asks a model, in milliseconds. */
  get patienceMs(): number {
    return this.#options.patienceMs ?? PATIENCE_MS;
  }

  /** New outputs for a compressor that asks a model; each is returned once. */
  unprepared(items: readonly Item[], idOf: ViewAsk["idOf"]): readonly UnpreparedOutput[] {
    return this.#options.compressor?.prepare === undefined ? [] : this.#prepared.wanting(items, idOf);
  }

  /** Takes what the compressor made of an output. Returns false when no page may show it. */
  takePrepared(output: UnpreparedOutput, answer: Compressed | undefined): boolean {
    return this.#prepared.take(output, answer);
  }

  /** Station: chooses the view of the next request. `notesOf` says what to write about it before anything is sent. */
  choose(ask: ViewAsk): View | RefusedView {
    const previous = this.#view ?? this.#resume(ask);
    const list = this.#list(this.#knownPages, ask);
    this.#beside = this.#knownPages.beside; // a boundary that is tried before the request is sent lists other pages
    this.#recollect(ask);
    const declared = this.#budget.declared(ask, this.#log.calibration);
    const held = this.#budget.held(declared, ask);
    const view = this.#derive(list, ask, held, previous);
    if (view.ok || held === declared || ask.tooLong === true) return this.#told(view);
    // Nothing goes on within what was once too long: the provider is asked again.
    this.#budget.forgetTooLong();
    return this.#told(this.#derive(list, ask, declared, previous));
  }

  #derive(list: readonly Page[], ask: ViewAsk, budget: number, previous: View | undefined): View | RefusedView {
    const { policy = "incremental", marks, order, foresight } = this.#options;
    if (budget <= 0) return nothingFits(this.#budget.around, budget);
    const pages = this.#knownPages;
    const plan = this.#state.session.latest(Plan);
    const standing = plansIn(this.#state, this.#shelves);
    return deriveView(list, {
      budget,
      policy,
      counter: this.#counter,
      tail: [...(plan?.status === "active" ? pages.plan(plan) : []), ...standing.flatMap((one) => pages.stands(one))],
      ...(previous === undefined ? {} : { previous }),
      ...(marks === undefined ? {} : { marks }),
      ...(order === undefined ? {} : { order }),
      ...(foresight === undefined ? {} : { coming: new Map(list.map((page) => [page.id, foresight(page)])) }),
      ...(ask.tooLong === true || (previous !== undefined && this.#makesRoom()) ? { reclaim: true } : {}),
    });
  }

  /** Makes the pages that the next request chooses from. Only then can their handles be recalled. */
  know(history: readonly Item[], idOf: ViewAsk["idOf"]): readonly Page[] {
    return this.#list(this.#knownPages, { history, idOf });
  }

  /**
   * Tokens for the conversation in one request: the budget of the last view, or before the first one, from the window.
   */
  get budget(): number {
    return this.#view?.budget ?? this.#log.size?.budget ?? this.#budget.beforehand;
  }

  /** How near the conversation is to being compacted. Always "none" without `compaction`. */
  get pressure(): Pressure {
    return this.#view === undefined ? "none" : this.pressureOf(this.#view);
  }

  /** How near a view is to the compaction trigger. Always "none" without `compaction`. */
  pressureOf({ tokens, budget }: View): Pressure {
    const { compaction } = this.#options;
    return compaction === undefined ? "none" : pressureOf(tokens, compaction.at * budget);
  }

  /** The compaction options of the session, if any. */
  get compaction(): CompactionOptions | undefined {
    return this.#options.compaction;
  }

  /** Counts a promise about context that was not kept. */
  missed(fault: ContextFault): void {
    this.#observer.counts = withFault(this.#observer.counts, fault);
  }

  /** Whether a handle names something here. This does not count as a recall. */
  resolves(handle: string): boolean {
    return this.#table.recall({ handle }).ok;
  }

  /** The page that a handle names, if it names one. */
  pageOf(handle: string): Page | undefined {
    const found = this.#table.recall({ handle });
    return found.ok ? found.page : undefined;
  }

  /** The page of what the user said last, in the last view. */
  get saidLast(): Page | undefined {
    return this.#view?.pages.findLast(isUserTurn);
  }

  /** The compressor's failures since this was last called. */
  takeUncompressed(): readonly CompressorFailure[] {
    const news = [...this.#uncompressed].flatMap(([key, one]) => (one === "told" ? [] : [[key, one] as const]));
    for (const [key] of news) this.#uncompressed.set(key, "told");
    return news.map(([, one]) => one);
  }

  /** Takes a view as the one to be sent next, and returns what to write about it first. */
  notesOf(view: View): { readonly drafts: readonly RecordDraft[]; readonly events: readonly SliceEvent[] } {
    const spans = this.#chosen(view);
    const { levels, kind } = viewChosen(view);
    const counted = view.tokens + this.#budget.around;
    const prepared = this.#prepared.unwritten;
    const notes = {
      ...(levels as object),
      counted,
      beside: this.#beside,
      around: this.#budget.around,
      budget: view.budget,
      window: this.#budget.window,
      ...(spans.length === 0 ? {} : { spans }),
      ...(Object.keys(prepared).length === 0 ? {} : { prepared }),
      ...(view.reclaim === undefined ? {} : { reclaim: view.reclaim }),
    } as unknown as Json;
    const isNew = hasSlice(this.#state, ContextLineage) && this.#state.session.get(ContextLineage) === "";
    return {
      drafts: [{ kind, levels: notes, renderer: rendererWith(this.compressor) }],
      events: isNew ? [ContextLineage.begun(this.#lineage)] : [],
    };
  }

  /** Notes a call of a read-only tool that the model made while it saw the last view. */
  called(call: CallItem): CallSeen {
    return this.#view === undefined ? "first" : this.#observer.call(call, this.#view);
  }

  #list(
    pages: SessionPages,
    { history, said, idOf }: Pick<ViewAsk, "history" | "said" | "idOf">,
    then?: Required<Pick<PageSources, "pinned" | "cuts">>,
  ): readonly Page[] {
    const { rules = [], preferences = [] } = this.#options;
    const { pinned, cuts } = then ?? { pinned: pinnedIn(this.#state, this.#shelves), cuts: this.#log.cuts };
    const { spans, beside } = this.#log;
    const all = [...rules, ...this.#project.rules];
    const log = { history, idOf, ...(said === undefined ? {} : { said }) };
    return pages.list({ ...log, rules: all, preferences, pinned, cuts, spans }, beside);
  }

  /** Once in a process: calls of tools that were hidden were shown as notes, and of those that are hidden now as calls. */
  #recollect({ history, said = history, idOf, offers }: ViewAsk): void {
    if (this.#isRecollected) return;
    this.#isRecollected = true;
    const { spans, toolsBefore } = this.#log;
    const others = toolsBefore.flatMap((tools) =>
      offers === undefined || isSame(tools, offers.tools) ? [] : [offers.other(tools)],
    );
    for (const shown of new Set([said, history, ...others])) this.#knownPages.recollect(shown, { idOf, spans });
  }

  get #knownPages(): SessionPages {
    return (this.#pages ??= this.#begin());
  }

  #begin(): SessionPages {
    const { compressor } = this.#options;
    const kept = valueIn(this.#state, ContextLineage);
    this.#lineage = kept === "" ? this.#state.random.hex(16) : kept;
    const deps = {
      counter: this.#counter,
      lineage: this.#lineage,
      prepared: this.#prepared.of,
      uncompressed: (one: CompressorFailure) => {
        const key = `${one.tool}: ${one.failure}`;
        if (!this.#uncompressed.has(key)) this.#uncompressed.set(key, one);
      },
      ...(compressor === undefined ? {} : { compressor }),
    };
    return new SessionPages(
      deps,
      (page) => {
        this.#table.addPages([page]);
        this.#observer.note([page]);
      },
      (handle, content) => this.#table.addList(handle, content),
    );
  }

  /** The last view as it was, also where tools, rules or preferences have changed since: what it had lowered stays low. */
  #resume(ask: ViewAsk): View | undefined {
    const { tools } = this.#log;
    const { offers } = ask;
    const isOther = offers !== undefined && tools !== undefined && !isSame(tools, offers.tools);
    const pinned = stoodIn(this.#log.beside, pinnedIn(this.#state, this.#shelves));
    const then = { pinned, cuts: this.#log.cutsShown }; // a boundary that came since gives up nothing of it yet
    const list = this.#list(this.#knownPages, isOther ? { ...ask, history: offers.other(tools) } : ask, then);
    const resumed = resumeView(list, this.#log.records, this.#counter, rendererWith(this.compressor));
    if (resumed !== undefined) this.#table.addView(resumed);
    return resumed;
  }

  /** After a mode flip the provider reads everything anew anyway. */
  #makesRoom(): boolean {
    const { low } = overDefaults(MARKS, this.#options.marks);
    const { flipped, size } = this.#log;
    return flipped && size !== undefined && size.tokens > low * size.budget;
  }

  /** Answers the pointers that nobody has seen before. */
  #chosen(view: View): readonly ShownSpan[] {
    this.#view = view;
    if (view.reclaim === undefined && view.turn > 0 && view.settled) return []; // the one before, and what is new
    this.#observer.assembled(view);
    return this.#table.addView(view);
  }

  #told<V extends View | RefusedView>(view: V): V {
    this.#trace.push(traceFacts(view));
    if (this.#trace.length > MOST_TRACED) this.#trace.shift();
    return view;
  }
}

function isSame(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((name) => other.has(name));
}

function nothingFits(needed: number, budget: number): RefusedView {
  const unmet = [{ page: "instructions and tools", level: "full" as const, needs: needed }];
  return { ok: false, fault: "floors-exceed-budget", budget: Math.max(0, budget), needed, unmet, largest: unmet };
}
