/** One piece of work at a time, in the order of arrival. A failed one does not hold up the next. */
export class OneByOne {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => T | Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.then(FORGET, FORGET); // without its result: it would be held until somebody else comes
    return turn;
  }

  /** When all that has come so far is over. */
  get over(): Promise<unknown> {
    return this.#last;
  }
}

const FORGET = () => {};
