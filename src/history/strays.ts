import { appendTo } from "../base/append-to.ts";
import { firstWhere } from "../base/first-where.ts";
import { type CallItem, type OutputItem, spaceOf } from "../wire/item.ts";
import { isWeak, type PairScan } from "./scan.ts";

/**
 * Outputs that stood before any call of their id, for the calls of the same turn that may still take them. Across turns
 * such an output is left an orphan: providers reuse ids, and a stale result would answer a question nobody had asked
 * yet. Every look costs the same, also when one id was used a hundred thousand times.
 */
export class Strays {
  readonly #scan: PairScan;
  /** Positions by id, turn, name and strength, the first one last. */
  readonly #queues = new Map<string, number[]>();
  readonly #left: Set<number>;

  constructor(scan: PairScan) {
    this.#scan = scan;
    this.#left = new Set(scan.strays.keys());
    for (const [at, output] of [...scan.strays].reverse()) {
      appendTo(this.#queues, this.#key(output, at, output.name, isWeak(output)), at);
    }
  }

  /** The first real output of this call's id in its turn, else the first stopgap; one of another tool's name is none. */
  take(call: CallItem, at: number): number | undefined {
    if (this.#left.size === 0) return undefined;
    const found = this.#first(call, at, false) ?? this.#first(call, at, true);
    if (found !== undefined) this.#left.delete(found);
    return found;
  }

  /** What no call took. */
  left(): Iterable<number> {
    return this.#left;
  }

  #first(call: CallItem, at: number, weak: boolean): number | undefined {
    const named = this.#queues.get(this.#key(call, at, call.name, weak));
    const unnamed = this.#queues.get(this.#key(call, at, undefined, weak));
    const earlier = (named?.at(-1) ?? Infinity) < (unnamed?.at(-1) ?? Infinity) ? named : unnamed;
    return earlier?.pop();
  }

  #key(item: CallItem | OutputItem, at: number, name: string | undefined, weak: boolean): string {
    return JSON.stringify([spaceOf(item.callKind), item.callId, turnOf(this.#scan.turns, at), weak, name]);
  }
}

/** Two positions with no user turn between them. */
export function sameTurn({ turns }: PairScan, one: number, other: number): boolean {
  return turnOf(turns, one) === turnOf(turns, other);
}

/** How many user turns have begun before a position. */
function turnOf(turns: readonly number[], at: number): number {
  return firstWhere(turns.length, (nth) => (turns[nth] as number) >= at);
}
