import type { Item } from "../wire/item.ts";
import { MadeItems } from "./made-items.ts";
import { PairScan } from "./scan.ts";

/**
 * Keeps pairing up to date as a log grows, so that the check before each request costs only what is new. The log is
 * append-only: if it shrank, or its last known item differs, all of it is read again.
 */
export class HistoryIndex {
  #scan = new PairScan();
  #tools: ReadonlySet<string> | undefined;
  /** @internal for `repairHistory`. */
  readonly made: MadeItems = new MadeItems();

  /** Reads the items that were appended to the log. */
  append(log: readonly Item[]): void {
    this.scan(log, this.#tools);
  }

  /** How many items have been read. */
  get size(): number {
    return this.#scan.count;
  }

  /** @internal for `validateHistory` and `repairHistory`. */
  scan(log: readonly Item[], tools: ReadonlySet<string> | undefined): PairScan {
    const known = this.#scan.count;
    const grew = log.length >= known && (known === 0 || log[known - 1] === this.#scan.last);
    if (!grew || !isSame(tools, this.#tools)) {
      this.#scan = new PairScan(tools);
      this.#tools = tools;
    }
    this.#scan.read(log);
    return this.#scan;
  }
}

/** Hosts make the set of tools anew for each request; only another content is another question. */
function isSame(tools: ReadonlySet<string> | undefined, known: ReadonlySet<string> | undefined): boolean {
  if (tools === undefined || known === undefined) return tools === known;
  return tools.size === known.size && tools.isSubsetOf(known);
}
