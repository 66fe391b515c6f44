/** Hands on what several producers say, in the order they say it, to one reader. */
export class Channel<T> {
  #waiting: T[] = [];
  #closed = false;
  #wake: (() => void) | undefined;

  push(value: T): void {
    this.#waiting.push(value);
    this.#wake?.();
  }

  close(): void {
    this.#closed = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      // All that waits at once: taken one by one from the front of a long list, each would move all that follow.
      const told = this.#waiting;
      this.#waiting = [];
      yield* told;
      if (this.#waiting.length > 0) continue;
      if (this.#closed) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
