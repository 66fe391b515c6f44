import { type ClockDep, SystemClock } from "../../base/clock.ts";
import type { Store } from "../../contracts/store.ts";

/** The store that the laws test. */
export interface StoreUnderLaw {
  /**
   * Opens the store at a place. A place that has not been used is empty. Opening a place again gives the same store, as
   * another process would open it, whether or not the first one has been closed. Leases must be counted by the given
   * clock.
   */
  readonly open: (place: string, deps: ClockDep) => Promise<Store>;
  readonly can: {
    /** Others can commit while somebody reads. If not, a commit waits for the readers. */
    readonly commitDuringRead: boolean;
    /** Several can have the store open at once. If not, all but the first are refused until the first has closed. */
    readonly shared: boolean;
  };
}

export interface StoreContext {
  readonly can: StoreUnderLaw["can"];
  /** The law's own place, once more with every call. */
  readonly open: () => Promise<Store>;
  /** The clock of every store that the law opens. */
  readonly clock: HandSetClock;
}

/** Wall time passes only when a law says so; whoever waits for a neighbour waits in real time. */
export class HandSetClock extends SystemClock {
  #wall = Date.parse("2026-01-01T00:00:00.000Z");

  override now(): number {
    return this.#wall;
  }

  pass(ms: number): void {
    this.#wall += ms;
  }
}
