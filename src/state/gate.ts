import { AsyncLocalStorage } from "node:async_hooks";
import { HoldfastError } from "../base/errors.ts";

/**
 * Lets one piece of work through at a time, in the order of arrival. A failed one does not hold up the next.
 *
 * A tool's handler may run while the gate is held for its own commit. If it asked for the gate in turn, it would wait for
 * itself for ever, and only on the rare second attempt; so inside a handler the gate is refused always, at once.
 */
export class Gate {
  #last: Promise<unknown> = Promise.resolve();
  readonly #inside = new AsyncLocalStorage<string>();

  async run<T>(work: () => Promise<T>): Promise<T> {
    this.refuseInside();
    const turn = this.#last.then(work, work);
    this.#last = turn.then(
      () => {},
      () => {},
    );
    return turn;
  }

  /** Runs a handler: whatever it starts, also what outlives it, is known to come from inside the call. */
  inside<T>(call: string, handler: () => T): T {
    return this.#inside.run(call, handler);
  }

  refuseInside(): void {
    const call = this.#inside.getStore();
    if (call !== undefined) throw new HoldfastError("STATE_INSIDE_CALL", { call });
  }
}
