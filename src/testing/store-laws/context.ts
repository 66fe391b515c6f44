import { type ClockDep, SystemClock } from "../../base/clock.ts";
import type { Store } from "../../contracts/store.ts";

export interface StoreUnderLaw {
  /**
   * Opens the store at a place. A place that was never named before is empty; the same place again is the same store once
   * more, as another process would open it, while the first is open or after it was closed. Leases are counted by the
   * clock that is handed in.
   */
  readonly open: (place: string, deps: ClockDep) => Promise<Store>;
  readonly can: {
    /** Others commit while somebody reads. Without it a commit waits for the readers. */
    readonly commitDuringRead: boolean;
    /** Several have it open at once. Without it everybody but the first is refused until that one has closed. */
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
