import type { Item } from "../wire/item.ts";

interface Made {
  readonly beside: Item | undefined;
  readonly item: Item;
}

/**
 * What repair made of the items of a log, so that the next repair of the same log returns the same objects. Where a server
 * reuses the ids of its calls, every request repairs all of them again: made anew, each would lose the page, the counts and
 * the shorter versions that were made of it.
 */
export class MadeItems {
  readonly #made = new WeakMap<Item, Map<string, Made>>();

  /** `how` and `beside` say everything, besides the item itself, that decides what `make` makes of it. */
  once<I extends Item>(item: Item, how: string, make: () => I, beside?: Item): I {
    const ways = this.#made.get(item) ?? new Map<string, Made>();
    const known = ways.get(how);
    if (known !== undefined && known.beside === beside) return known.item as I;
    const made = make();
    this.#made.set(item, ways.set(how, { beside, item: made }));
    return made;
  }
}
