import { AsyncLocalStorage } from "node:async_hooks";
import { HoldfastError } from "../base/errors.ts";
import { OneByOne } from "../base/one-by-one.ts";

/** Where code runs: in the handler of a call, which may itself run for another call. */
interface Inside {
  readonly gate: Gate;
  readonly call: string;
  readonly around: Inside | undefined;
}

const inside = new AsyncLocalStorage<Inside>();

/**
 * Lets one piece of work through at a time, in the order of arrival. A failed one does not hold up the next.
 *
 * A tool's handler may run while the gate is held for its own commit. If it asked for the gate in turn, it would wait for
 * itself for ever, and only on the rare second attempt; so inside a handler the gate is refused always, at once.
 */
export class Gate {
  readonly #line = new OneByOne();

  async run<T>(work: () => Promise<T>): Promise<T> {
    this.refuseInside();
    return this.#line.run(work);
  }

  /** Runs a handler: whatever it starts, also what outlives it, is known to come from inside the call. */
  inside<T>(call: string, handler: () => T): T {
    return inside.run({ gate: this, call, around: inside.getStore() }, handler);
  }

  refuseInside(): void {
    for (let at = inside.getStore(); at !== undefined; at = at.around)
      if (at.gate === this) throw new HoldfastError("STATE_INSIDE_CALL", { call: at.call });
  }
}

/** The calls in whose handlers this code runs, the innermost first: a second attempt at a call is another one. */
export function callsAround(): readonly object[] {
  const calls: object[] = [];
  for (let at = inside.getStore(); at !== undefined; at = at.around) calls.push(at);
  return calls;
}

/** The gates of the states in whose calls this code runs, the innermost first. */
export function gatesAround(): readonly Gate[] {
  const gates: Gate[] = [];
  for (let at = inside.getStore(); at !== undefined; at = at.around) gates.push(at.gate);
  return gates;
}
