/**
 * Lets calls run side by side, but for those that need the workspace for themselves: such a one begins when all before it
 * have ended, and whoever comes after it waits for its end. The order is the order of asking.
 */
export class Barrier {
  /** Ends of the calls since the last one that runs alone. */
  #since = new Set<Promise<void>>();
  /** The end of the last one that runs alone, until then. */
  #alone: Promise<unknown> | undefined;

  /** Taken at once. `turn` resolves when the call may begin, and is not there when it may now; `leave` lets the next go. */
  enter(alone: boolean): { readonly turn: Promise<unknown> | undefined; readonly leave: () => void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#alone;
    const turn = alone && this.#since.size > 0 ? Promise.all([before, ...this.#since]) : before;
    if (alone) {
      this.#close(Promise.all([turn, promise]));
      return { turn, leave: resolve };
    }
    const mates = this.#since;
    mates.add(promise);
    const leave = () => {
      mates.delete(promise);
      resolve();
    };
    return { turn, leave };
  }

  /** One that gave up before its turn has left too; those that it waited for are still at work. */
  #close(ended: Promise<unknown>): void {
    this.#alone = ended;
    this.#since = new Set();
    void ended.then(() => {
      if (this.#alone === ended) this.#alone = undefined;
    });
  }
}
