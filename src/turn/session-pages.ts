import { canonicalHash } from "../base/hash.ts";
import type { Json } from "../base/json.ts";
import { AnswerClock, PageMaker } from "../context/ingest.ts";
import type { PageDeps } from "../context/make-page.ts";
import { isSummaryItem, summaryPage } from "../context/boundary/summary.ts";
import { inputOf } from "../context/facts.ts";
import { demandPage, type Page } from "../context/page.ts";
import { planPage, type Preference, preferencePage, type Rule } from "../context/producers.ts";
import type { Plan } from "../state/default-slices.ts";
import type { Handle } from "../context/handle.ts";
import type { ShownSpan } from "../context/recall.ts";
import type { Item } from "../wire/item.ts";
import { unkeepItems } from "../wire/keep.ts";
import { RECALL } from "./recall-tool.ts";
import { isMade, isThrough, madeId, placeIn } from "./made-id.ts";
import type { CrossedCut, KeptCut } from "./view-log.ts";
import { type Standing, standingRule } from "./what-holds.ts";

/** What a request's pages are made of. */
export interface PageSources {
  readonly rules: readonly Rule[];
  readonly preferences: readonly Preference[];
  /** What holds from some point of the conversation on: pinned rules, durable pages. */
  readonly pinned: readonly Standing[];
  /** The repaired history. */
  readonly history: readonly Item[];
  /** The log itself. What left at a boundary is listed as it was said, whatever is offered now. Default: the history. */
  readonly said?: readonly Item[];
  /** The name of an item that the journal holds. */
  readonly idOf: (item: Item) => string | undefined;
  /** Boundaries that left only a part of the history to show. */
  readonly cuts?: readonly CrossedCut[];
  /** Pointers that were shown, also by earlier processes. */
  readonly spans?: readonly ShownSpan[];
}

/** The pages of one session. Each is made once and handed to `made`; the list is put together for every request. */
export class SessionPages {
  readonly #deps: PageDeps;
  readonly #made: (page: Page) => void;
  readonly #listed: (handle: Handle, content: string) => void;
  readonly #maker: PageMaker;
  readonly #byItem = new WeakMap<Item, Page>();
  readonly #clock = new AnswerClock();
  /** By places in the log: in which turn that was said, whatever a request makes of it, and however often. */
  readonly #turns = new Map<string, number>();
  #timed = 0;
  /** What is said under a handle: the newest that says it. */
  readonly #named = new Map<string, Item>();
  /** Pages that asked to see another one again, each heard once. */
  readonly #heard = new Set<string>();
  readonly #standing = new Map<string, Page>();
  /** What each boundary left in place of what is gone. */
  readonly #left = new Map<number, readonly Page[]>();
  #spansListed = 0;
  #before: { readonly items: readonly Item[]; readonly pages: readonly Page[] } = NOTHING_SAID;
  /** Behind which page each pinned rule stands: where the conversation was when a request first showed the rule. */
  #beside: ReadonlyMap<string, string> = new Map();

  /** `listed` hears under which handle the pages that left at a boundary are listed. */
  constructor(deps: PageDeps, made: (page: Page) => void, listed: (handle: Handle, content: string) => void) {
    this.#deps = deps;
    this.#made = made;
    this.#listed = listed;
    this.#maker = new PageMaker(deps);
  }

  get beside(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#beside);
  }

  /** In the order of the request: what holds in every session, then what was said, with pins where they came. */
  list(sources: PageSources, besideBefore: Readonly<Record<string, string>>): readonly Page[] {
    const { rules, preferences, pinned, history, said: log = history, idOf } = sources;
    this.#time(log, idOf);
    const pins = new Map(pinned.map((one) => [one.id, one]));
    // A pin is the later word, and takes the place of a rule of its id: behind it, the model would be told both.
    const ruling = new Set(rules.map(standingRule).map((rule) => pins.get(rule.id) ?? rule));
    const front = [
      ...[...ruling].flatMap((rule) => this.stands(rule)),
      ...preferences.flatMap((one) =>
        this.stands({ id: one.id, what: one, make: (deps) => preferencePage(one, deps) }),
      ),
    ];
    const all = this.#said(history, idOf);
    const said = this.#afterCuts(all, sources);
    this.#listSpans(all, sources.spans ?? []);
    if (pinned.length === 0) {
      this.#beside = new Map(); // one that is pinned again stands where the conversation is by then
      return front.concat(said);
    }
    const shown = new Set(said.map(({ id }) => id));
    const known = new Set(all.map(({ id }) => id));
    const last = said.at(-1)?.id ?? "";
    this.#beside = new Map(
      pinned.map((one) => {
        const { id } = one;
        if (ruling.has(one)) return [id, ""];
        const place = besideBefore[id] ?? last; // of requests only: a list that was made for none left no trace
        if (place === "" || shown.has(place)) return [id, place];
        return [id, known.has(place) ? "" : last]; // what it stood behind has left; it stays, before everything
      }),
    );
    const behind = (place: string) =>
      pinned.filter((one) => !ruling.has(one) && this.#beside.get(one.id) === place).flatMap((one) => this.stands(one));
    return [...front, ...behind(""), ...said.flatMap((page) => [page, ...behind(page.id)])];
  }

  /** What the newest boundary lets requests show: what stays, what was left in place of the rest, and what came since. */
  #afterCuts(all: readonly Page[], { cuts = [], said, idOf }: PageSources): readonly Page[] {
    let shown = all;
    const before: Page[] = [];
    for (const { seq, cut } of cuts) {
      const { stays, rest } = splitAt(all, cut);
      // All that ever left, not only what left now: whoever looks for a page finds it in one list.
      const gone = () => splitAt(said?.map((item) => this.#pageOf(item, idOf)) ?? all, cut).gone;
      const left = this.#left.get(seq) ?? this.#leave(seq, cut, [...before, ...gone()]);
      before.push(...left);
      shown = [...stays, ...left, ...rest];
    }
    return shown;
  }

  /** What earlier requests showed in another form than this one: its handles resolve, whatever is offered now. */
  recollect(history: readonly Item[], { idOf, spans = [] }: Pick<PageSources, "idOf" | "spans">): void {
    const all = history.map((item) => this.#pageOf(item, idOf));
    this.#spansListed = 0;
    this.#listSpans(all, spans);
  }

  /** A handle of an older view lists the pages it listed then. */
  #listSpans(all: readonly Page[], spans: readonly ShownSpan[]): void {
    if (this.#spansListed === spans.length) return;
    const left = [...this.#left.values()].flat();
    const places = new Map(all.map(({ id }, at) => [id, at]));
    for (const [handle, from, to] of spans.slice(this.#spansListed)) {
      const first = left.filter(({ id }) => id === from || id === to);
      const end = places.get(to);
      const start = places.get(from) ?? (end === undefined ? undefined : 0);
      const between = start === undefined ? [] : all.slice(start, (end ?? start) + 1);
      // What a rewind took back has no pages any more; an empty list would be an answer.
      if (first.length + between.length > 0) this.#listed(handle, linesOf([...first, ...between]));
    }
    this.#spansListed = spans.length;
  }

  #leave(seq: number, cut: KeptCut, gone: readonly Page[]): readonly Page[] {
    const left = unkeepItems(cut.items).map((item, nth) => {
      const id = `boundary-${seq}.${nth}`;
      return isSummaryItem(item)
        ? summaryPage(id, item, { items: gone.length, listed: cut.handle }, this.#deps)
        : this.#maker.add(item, id, this.#turns.get(cut.through));
    });
    for (const page of left) this.#made(page);
    this.#listed(cut.handle, linesOf(gone));
    this.#left.set(seq, left);
    return left;
  }

  plan(plan: Plan): readonly Page[] {
    return this.stands({ id: "plan", what: plan, make: (deps) => planPage("plan", plan, deps) });
  }

  /** Mostly the conversation is the one before, and what is new: the pages it began with are looked up once. */
  #said(history: readonly Item[], idOf: PageSources["idOf"]): readonly Page[] {
    const { items, pages } = this.#before;
    let same = 0;
    while (same < items.length && items[same] === history[same]) same += 1;
    const fresh = history.slice(same).map((item) => this.#pageOf(item, idOf));
    const wasWanted = fresh.map((page) => this.#demand(page)).includes(true);
    const said = wasWanted ? history.map((item) => this.#pageOf(item, idOf)) : pages.slice(0, same).concat(fresh);
    this.#before = { items: history.slice(), pages: said }; // the list itself goes on growing
    return said;
  }

  /** What the model asked to see again it wants: read from the conversation, it is the same in every process. */
  #demand({ id, demand, representations }: Page): boolean {
    const item = representations.full?.item;
    if (item?.kind !== "call" || item.name !== RECALL || this.#heard.has(id)) return false;
    this.#heard.add(id);
    const { handle } = Object(inputOf(item));
    const wanted = typeof handle === "string" ? this.#named.get(handle.trim()) : undefined;
    const page = wanted === undefined ? undefined : this.#byItem.get(wanted);
    if (wanted === undefined || page === undefined) return false;
    this.#byItem.set(wanted, demandPage(page, demand.turn));
    return true;
  }

  /** The page of something that is not said but holds, if it has anything to say. */
  stands({ what, make }: Standing): readonly Page[] {
    const key = canonicalHash(what as Json);
    const known = this.#standing.get(key);
    if (known !== undefined) return [known];
    const page = make(this.#deps);
    if (page === undefined) return [];
    this.#standing.set(key, page);
    this.#made(page);
    return [page];
  }

  /** The log only grows as long as these pages are used. */
  #time(log: readonly Item[], idOf: PageSources["idOf"]): void {
    for (; this.#timed < log.length; this.#timed += 1) {
      const item = log[this.#timed] as Item;
      this.#turns.set(idOf(item) ?? "", this.#clock.tick(item));
    }
  }

  #pageOf(item: Item, idOf: PageSources["idOf"]): Page {
    const known = this.#byItem.get(item);
    if (known !== undefined) return known;
    const id = idOf(item) ?? madeId(item);
    const page = this.#maker.add(item, id, this.#turns.get(placeIn(id) ?? ""));
    this.#byItem.set(item, page);
    this.#named.set(page.handle, item);
    this.#made(page);
    return page;
  }
}

/**
 * Where a boundary parted the conversation. What repair made goes where what it stands for went: results of tools that are no
 * longer offered would leave with their neighbours otherwise, unseen and in no summary.
 */
function splitAt(all: readonly Page[], { through, stays }: KeptCut) {
  const last = all.findLastIndex(({ id }) => !isMade(id) && id <= through);
  const kept = new Set(stays);
  const parted = { gone: [] as Page[], stays: [] as Page[], rest: [] as Page[] };
  let side: keyof typeof parted = "gone";
  for (const [at, page] of all.entries()) {
    const place = placeIn(page.id);
    // One that stands for nothing by name goes with what it follows.
    if (place !== undefined) {
      const isOlder = isMade(page.id) ? isThrough(place, through) : at <= last;
      side = !isOlder ? "rest" : kept.has(place) ? "stays" : "gone";
    }
    parted[side].push(page);
  }
  return parted;
}

function linesOf(pages: readonly Page[]): string {
  return pages.map(({ handle, title }) => `${handle} ${title}`).join("\n");
}

const NOTHING_SAID = { items: [], pages: [] };
