import { HoldfastError } from "../../base/errors.ts";
import type { Patience } from "./patience.ts";

/** Lets so many work at once. The others wait in the order they came, and are told when it takes too long. */
export class Turns {
  readonly #most: number;
  readonly #patience: Patience;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(most: number, patience: Patience) {
    this.#most = most;
    this.#patience = patience;
  }

  /** Nothing to wait for when there is a turn: whoever reads sees the moment it asked for. */
  take(): Promise<void> | undefined {
    if (this.#taken >= this.#most) return this.#wait();
    this.#taken += 1;
    return undefined;
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken -= 1;
    else next(); // the turn is handed on: nobody who comes now can be faster
  }

  async #wait(): Promise<void> {
    const { clock, busyLimit } = this.#patience;
    const called = new AbortController();
    const turn = Promise.withResolvers<void>();
    this.#waiting.push(turn.resolve);
    const tooLong = clock.sleep(busyLimit, called.signal, "keep-alive").then(() => {
      const place = this.#waiting.indexOf(turn.resolve);
      if (place === -1) return; // called in the same moment
      this.#waiting.splice(place, 1);
      // Also what ends the wait of readers that all wait for one more reader inside themselves.
      throw new HoldfastError("STORE_BUSY", { readers: this.#most, waitedMs: busyLimit });
    });
    await Promise.race([turn.promise, tooLong]);
    called.abort();
  }
}
