import { canonicalHash } from "../base/hash.ts";
import type { Json } from "../base/json.ts";
import { PageMaker } from "../context/ingest.ts";
import type { PageDeps } from "../context/make-page.ts";
import type { Page } from "../context/page.ts";
import { constraintPage, planPage, type Preference, preferencePage, type Rule } from "../context/producers.ts";
import type { Plan } from "../state/default-slices.ts";
import type { Item } from "../wire/item.ts";

/** What a request's pages are made of. */
export interface PageSources {
  readonly rules: readonly Rule[];
  readonly preferences: readonly Preference[];
  readonly pinned: readonly Rule[];
  /** The repaired history. */
  readonly history: readonly Item[];
  /** The name of an item that the journal holds. */
  readonly idOf: (item: Item) => string | undefined;
}

/** The pages of one session. Each is made once and handed to `made`; the list is put together for every request. */
export class SessionPages {
  readonly #deps: PageDeps;
  readonly #made: (page: Page) => void;
  readonly #maker: PageMaker;
  readonly #byItem = new WeakMap<Item, Page>();
  readonly #standing = new Map<string, Page>();
  #before: { readonly items: readonly Item[]; readonly pages: readonly Page[] } = NOTHING_SAID;
  /** Behind which page each pinned rule stands: where the conversation was when the rule was first seen. */
  #beside: ReadonlyMap<string, string> = new Map();

  constructor(deps: PageDeps, made: (page: Page) => void) {
    this.#deps = deps;
    this.#made = made;
    this.#maker = new PageMaker(deps);
  }

  get beside(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#beside);
  }

  /** In the order of the request: what holds in every session, then what was said, with pins where they came. */
  list(sources: PageSources, besideBefore: Readonly<Record<string, string>>): readonly Page[] {
    const { rules, preferences, pinned, history, idOf } = sources;
    const front = [
      ...rules.map((rule) => this.#rule(rule)),
      ...preferences.map((one) => this.#stands(one, () => preferencePage(one, this.#deps))),
    ];
    const said = this.#said(history, idOf);
    if (pinned.length === 0) return [...front, ...said];
    const known = new Set(said.map(({ id }) => id));
    const last = said.at(-1)?.id ?? "";
    this.#beside = new Map(
      pinned.map(({ id }) => {
        const place = this.#beside.get(id) ?? besideBefore[id] ?? last;
        return [id, place === "" || known.has(place) ? place : last];
      }),
    );
    const behind = (place: string) =>
      pinned.filter(({ id }) => this.#beside.get(id) === place).map((rule) => this.#rule(rule));
    return [...front, ...behind(""), ...said.flatMap((page) => [page, ...behind(page.id)])];
  }

  plan(plan: Plan): Page {
    return this.#stands(plan, () => planPage("plan", plan, this.#deps));
  }

  /** The page of an item with another demand. */
  replace(item: Item, change: (page: Page) => Page): void {
    const page = this.#byItem.get(item);
    if (page === undefined) return;
    this.#byItem.set(item, change(page));
    this.#before = NOTHING_SAID;
  }

  /** Mostly the conversation is the one before, and what is new: the pages it began with are looked up once. */
  #said(history: readonly Item[], idOf: PageSources["idOf"]): readonly Page[] {
    const { items, pages } = this.#before;
    let same = 0;
    while (same < items.length && items[same] === history[same]) same += 1;
    const said = [...pages.slice(0, same), ...history.slice(same).map((item) => this.#pageOf(item, idOf))];
    this.#before = { items: [...history], pages: said }; // the list itself goes on growing
    return said;
  }

  #rule(rule: Rule): Page {
    return this.#stands(rule, () => constraintPage(rule, this.#deps));
  }

  /** A page for something that is not said but holds: made anew when it changes. */
  #stands(what: object, make: () => Page): Page {
    const key = canonicalHash(what as Json);
    const known = this.#standing.get(key);
    if (known !== undefined) return known;
    const page = make();
    this.#standing.set(key, page);
    this.#made(page);
    return page;
  }

  #pageOf(item: Item, idOf: PageSources["idOf"]): Page {
    const known = this.#byItem.get(item);
    if (known !== undefined) return known;
    const page = this.#maker.add(item, idOf(item) ?? madeId(item));
    this.#byItem.set(item, page);
    this.#made(page);
    return page;
  }
}

const NOTHING_SAID = { items: [], pages: [] };

/** An item that repair made has no place in the journal, and is made the same way each time. */
function madeId(item: Item): string {
  const { origin: _origin, ...rest } = item;
  return `made-${canonicalHash(rest as unknown as Json).slice(0, 16)}`;
}
