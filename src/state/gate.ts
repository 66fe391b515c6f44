/** Lets one piece of work through at a time, in the order of arrival. A failed one does not hold up the next. */
export class Gate {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work, work);
    this.#last = turn.then(
      () => {},
      () => {},
    );
    return turn;
  }
}
