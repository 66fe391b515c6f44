import { HoldfastError } from "../base/errors.ts";
import { overWithin } from "../base/over-within.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import { callsAround } from "../state/gate.ts";
import type { CompositeSnapshot } from "../state/snapshot.ts";
import type { TakeBack } from "./call.ts";
import type { EffectBook } from "./effects.ts";

interface MarkGround {
  readonly state: ExecutionState;
  readonly transactions: {
    readonly pending: readonly string[];
    readonly effects: Pick<EffectBook, "keepAll" | "owners">;
    ended(callIds: readonly string[]): Promise<void>;
    undoEffects(callIds: readonly string[]): Promise<unknown>;
  };
  /** Asked where the state stands: the answer takes it back there, given what it was. */
  readonly from: () => (kept: CompositeSnapshot) => Promise<void>;
}

/** What was begun after a mark and before the next. Forward only: who holds on to an old mark stops all that came since. */
interface Span {
  readonly stop: AbortController;
  next: Span | undefined;
}

/** Milliseconds: a call that was told to stop and goes on is not waited for any longer. */
const PATIENCE = 5_000;

/** Where a state stood when a call of another one began to have it work for it. */
export class Marks {
  readonly #ground: MarkGround;
  /** Stops what is begun in it for whoever marked it last. */
  #newest: Span | undefined;
  /** Calls whose work was taken back: what is left of their handlers works here no more. */
  readonly #over = new WeakSet<object>();

  constructor(ground: MarkGround) {
    this.#ground = ground;
  }

  /** The answer takes the state back to where it stands now, after all that runs in it since has ended. */
  async mark(): Promise<TakeBack> {
    const { state, transactions, from } = this.#ground;
    state.truth.gate.refuseInside(); // taken back to before its own call, it would lose what others have committed since
    const span = this.#begin();
    const [around] = callsAround();
    const kept = await state.snapshot({ tag: "mark" });
    const takeBack = from();
    const open = new Set(transactions.pending);
    const before = transactions.effects.owners();
    transactions.effects.keepAll();
    return async (callGoesOn = false) => {
      if (around !== undefined && !callGoesOn) this.#over.add(around);
      const left = await this.#stopSince(span, open);
      await takeBack(kept);
      // Whoever relies on one by now and did not then; boundaries that are kept would tell only of the newest calls.
      const since = [...transactions.effects.owners()].filter((owner) => !before.has(owner));
      await transactions.undoEffects([...since, ...open.difference(new Set(transactions.pending))]);
      if (left.length > 0) throw new HoldfastError("CALLS_OPEN", { calls: left });
    };
  }

  /** A signal that aborts, too, when what is done for another state's call is taken back. */
  heard(signal: AbortSignal): AbortSignal {
    return this.#newest === undefined ? signal : AbortSignal.any([signal, this.#newest.stop.signal]);
  }

  /** Refuses what a handler goes on to do here for a call whose work was taken back. */
  refuseLate(): void {
    if (this.#newest !== undefined && callsAround().some((call) => this.#over.has(call)))
      throw new HoldfastError("CALL_CLOSED", { attempted: "work for a call that was discarded" });
  }

  #begin(): Span {
    const span: Span = { stop: new AbortController(), next: undefined };
    if (this.#newest !== undefined) this.#newest.next = span;
    this.#newest = span;
    return span;
  }

  /** Calls that were begun since are told to stop, and have ended, or are answered. */
  async #stopSince(span: Span, open: ReadonlySet<string>): Promise<readonly string[]> {
    const { state, transactions } = this.#ground;
    this.#begin(); // for whatever is begun from here on
    for (let at: Span | undefined = span; at !== undefined && at !== this.#newest; at = at.next)
      at.stop.abort(TAKEN_BACK);
    const running = () => transactions.pending.filter((callId) => !open.has(callId));
    if (running().length === 0) return [];
    await overWithin(state.clock, PATIENCE, [transactions.ended(running())]);
    return running();
  }
}

const TAKEN_BACK = new DOMException("The call that it worked for was discarded.", "AbortError");
