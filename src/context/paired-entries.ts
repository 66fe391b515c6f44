import type { TokenCounter } from "../contracts/token-counter.ts";
import { repairHistory } from "../history/repair.ts";
import type { Item } from "../wire/item.ts";
import { itemTokens } from "./tokens/count.ts";
import type { ViewEntry } from "./view.ts";

export interface PairedEntries {
  readonly entries: readonly ViewEntry[];
  readonly items: Item[];
  /** Pairing had nothing to do and nothing is awaited. */
  readonly settled: boolean;
}

/** What was chosen, as a provider takes it. Items that repair adds belong to no page, and are paid for like the others. */
export function pairedEntries(chosen: readonly ViewEntry[], counter: TokenCounter): PairedEntries {
  const said = chosen.map(({ item }) => item);
  const { history, report } = repairHistory(said);
  const byItem = Map.groupBy(chosen, ({ item }) => item); // a host may send one object twice: it has several entries
  let at = 0;
  const entries = history.map((item): ViewEntry => {
    const entry = byItem.get(item)?.shift();
    at = entry?.to ?? at;
    return entry ?? { item, tokens: itemTokens(item, counter), level: "full", why: "changed", from: at, to: at };
  });
  const settled = (history as readonly Item[]) === said && report.inFlight.length === 0;
  return { entries, items: history.slice(), settled };
}
