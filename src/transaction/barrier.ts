/**
 * Lets calls run side by side, but for those that need the workspace for themselves: such a one begins when all before it
 * have ended, and whoever comes after it waits for its end. The order is the order of asking.
 */
export class Barrier {
  /** Ends of the calls since the last one that ran alone. */
  #since: Promise<void>[] = [];
  #last: Promise<unknown> = Promise.resolve();

  /** Taken at once. `turn` resolves when the call may begin; `leave` lets the next ones go. */
  enter(alone: boolean): { readonly turn: Promise<unknown>; readonly leave: () => void } {
    const { promise, resolve: leave } = Promise.withResolvers<void>();
    const turn = alone ? Promise.all([this.#last, ...this.#since]) : this.#last;
    if (alone) {
      this.#last = promise;
      this.#since = [];
    } else {
      this.#since.push(promise);
      void promise.then(() => {
        this.#since = this.#since.filter((one) => one !== promise);
      });
    }
    return { turn, leave };
  }
}
