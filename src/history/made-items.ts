import type { Item } from "../wire/item.ts";

/**
 * What repair made of the items of a log, so that the next repair of the same log returns the same objects. Where a server
 * reuses the ids of its calls, every request repairs all of them again: made anew, each would lose the page, the counts and
 * the shorter versions that were made of it.
 */
export class MadeItems {
  readonly #made = new WeakMap<Item, WeakMap<Item, Map<string, Item>>>();

  /** `how` and `beside` say everything, besides the item itself, that decides what `make` makes of it. */
  once<I extends Item>(item: Item, how: string, make: () => I, beside: Item = item): I {
    const ways = waysOf(
      waysOf(this.#made, item, () => new WeakMap()),
      beside,
      () => new Map(),
    );
    const known = ways.get(how);
    if (known !== undefined) return known as I;
    const made = make();
    ways.set(how, made);
    return made;
  }
}

function waysOf<V>(all: WeakMap<Item, V>, item: Item, none: () => V): V {
  const known = all.get(item) ?? none();
  all.set(item, known);
  return known;
}
