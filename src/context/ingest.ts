import type { CallItem, Item } from "../wire/item.ts";
import { makePage, type PageDeps } from "./make-page.ts";
import type { Page } from "./page.ts";

/**
 * Turns items into pages as they are appended. Each gets its kind, its representations and its token counts once. To
 * make the pages of an existing session, pass its whole history; the result is the same.
 */
export class PageMaker {
  readonly #deps: PageDeps;
  readonly #calls = new Map<string, CallItem>();
  readonly #clock = new AnswerClock();
  #count = 0;

  constructor(deps: PageDeps) {
    this.#deps = deps;
  }

  /** Turns several items into pages. */
  append(items: readonly Item[]): readonly Page[] {
    return items.map((item) => this.add(item));
  }

  /**
   * Turns one item into a page. `id` names the page; by default it is its place. `turn`: when it was said; by default, so
   * many answers of the model were added before it.
   */
  add(item: Item, id = placeId(this.#count), turn = this.#clock.tick(item)): Page {
    if (item.kind === "call" && item.callId !== undefined) this.#calls.set(item.callId, item);
    const call = item.kind === "output" && item.callId !== undefined ? this.#calls.get(item.callId) : undefined;
    this.#count += 1;
    return makePage({ id, item, turn, ...(call === undefined ? {} : { call }) }, this.#deps);
  }
}

/** A turn of the clock is one answer of the model: pages fade by the requests that did without them. */
export class AnswerClock {
  #turn = 0;
  #step: number | string | undefined;
  #modelSpoke = false;

  /** The turn in which the next item was said. */
  tick(item: Item): number {
    const byModel = item.kind === "assistant" || item.kind === "reasoning" || item.kind === "call";
    if (byModel && (!this.#modelSpoke || item.step !== this.#step)) this.#turn += 1;
    if (byModel) this.#step = item.step;
    this.#modelSpoke = byModel;
    return this.#turn;
  }
}

/** Makes the pages of a whole history. */
export function pagesOf(items: readonly Item[], deps: PageDeps): readonly Page[] {
  return new PageMaker(deps).append(items);
}

/** Sorts like the places do. */
function placeId(at: number): string {
  return `page-${String(at).padStart(9, "0")}`;
}
