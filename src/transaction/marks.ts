import { HoldfastError } from "../base/errors.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import { callsAround } from "../state/gate.ts";
import type { CompositeSnapshot } from "../state/snapshot.ts";
import type { TakeBack } from "./call.ts";
import type { EffectBook } from "./effects.ts";

interface MarkGround {
  readonly state: ExecutionState;
  readonly transactions: {
    readonly pending: readonly string[];
    readonly effects: Pick<EffectBook, "owners">;
    ended(callIds: readonly string[]): Promise<void>;
    undoEffects(callIds: readonly string[]): Promise<unknown>;
  };
  /** Asked where the state stands: the answer takes it back there, given what it was. */
  readonly from: () => (kept: CompositeSnapshot) => Promise<void>;
}

/** Milliseconds: a call that was told to stop and goes on is not waited for any longer. */
const PATIENCE = 5_000;

/** Where a state stood when a call of another one began to have it work for it. */
export class Marks {
  readonly #ground: MarkGround;
  /** Stops what runs in it for whoever marked it. */
  #stop: AbortController | undefined;
  /** Calls whose work was taken back: what is left of their handlers works here no more. */
  readonly #over = new WeakSet<object>();

  constructor(ground: MarkGround) {
    this.#ground = ground;
  }

  /** The answer takes the state back to where it stands now, after all that runs in it since has ended. */
  async mark(): Promise<TakeBack> {
    const { state, transactions, from } = this.#ground;
    this.#stop ??= new AbortController();
    const [around] = callsAround();
    const kept = await state.snapshot({ tag: "mark" });
    const takeBack = from();
    const open = new Set(transactions.pending);
    const before = transactions.effects.owners();
    return async (callGoesOn = false) => {
      if (around !== undefined && !callGoesOn) this.#over.add(around);
      const left = await this.#stopSince(open);
      await takeBack(kept);
      // Whoever relies on one by now and did not then; boundaries that are kept would tell only of the newest calls.
      const since = [...transactions.effects.owners()].filter((owner) => !before.has(owner));
      await transactions.undoEffects([...since, ...open.difference(new Set(transactions.pending))]);
      if (left.length > 0) throw new HoldfastError("CALLS_OPEN", { calls: left });
    };
  }

  /** A signal that aborts, too, when what is done for another state's call is taken back. */
  heard(signal: AbortSignal): AbortSignal {
    return this.#stop === undefined ? signal : AbortSignal.any([signal, this.#stop.signal]);
  }

  /** Refuses what a handler goes on to do here for a call whose work was taken back. */
  refuseLate(): void {
    if (this.#stop !== undefined && callsAround().some((call) => this.#over.has(call)))
      throw new HoldfastError("CALL_CLOSED", { attempted: "work for a call that was discarded" });
  }

  /** Calls that were begun since are told to stop, and have ended, or are answered. */
  async #stopSince(open: ReadonlySet<string>): Promise<readonly string[]> {
    const { state, transactions } = this.#ground;
    this.#stop?.abort(TAKEN_BACK);
    this.#stop = new AbortController();
    const running = () => transactions.pending.filter((callId) => !open.has(callId));
    if (running().length === 0) return [];
    const enough = new AbortController();
    const late = state.clock.sleep(PATIENCE, enough.signal).catch(() => {});
    await Promise.race([transactions.ended(running()), late]);
    enough.abort();
    return running();
  }
}

const TAKEN_BACK = new DOMException("The call that it worked for was discarded.", "AbortError");
