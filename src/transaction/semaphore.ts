type Leave = () => void;

/** At most so many at once; the others wait in the order they came. */
export class Semaphore {
  #free: number;
  #waiting: (() => void)[] = [];

  constructor(slots: number) {
    this.#free = slots;
  }

  /** A way to leave again, at once where there is room; undefined when the signal aborted before. */
  enter(signal: AbortSignal): Leave | undefined | Promise<Leave | undefined> {
    if (signal.aborted) return undefined;
    if (this.#free === 0) return this.#wait(signal);
    this.#free -= 1;
    return this.#leave();
  }

  async #wait(signal: AbortSignal): Promise<Leave | undefined> {
    const turn = Promise.withResolvers<boolean>();
    const mine = () => turn.resolve(true);
    this.#waiting.push(mine);
    const giveUp = () => {
      // At once: a slot handed to one who has given up would be lost.
      this.#waiting = this.#waiting.filter((other) => other !== mine);
      turn.resolve(false);
    };
    signal.addEventListener("abort", giveUp, { once: true });
    const entered = await turn.promise;
    signal.removeEventListener("abort", giveUp);
    return entered ? this.#leave() : undefined;
  }

  #leave(): Leave {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    };
  }
}
