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
    readonly undecided: ReadonlySet<string>;
    readonly effects: Pick<EffectBook, "keepAll" | "owners">;
    ended(callIds: readonly string[]): Promise<void>;
    undoEffects(callIds: readonly string[]): Promise<unknown>;
  };
  /** Asked where the state stands: the answer takes it back there, given what it was. `admit` is called when its turn has come. */
  readonly from: () => (kept: CompositeSnapshot, admit: () => void) => Promise<void>;
}

/** Where a state stood. */
interface Moment {
  readonly kept: CompositeSnapshot;
  readonly takeBack: ReturnType<MarkGround["from"]>;
  /** Calls that were open. */
  readonly undecided: ReadonlySet<string>;
  /** Calls that relied on an effect. */
  readonly relied: ReadonlySet<string>;
}

/** A moment to go back to. Once the state has gone back to before it, it is the moment that this was gone back to. */
interface Mark {
  moment: Moment | undefined;
  /** Forward only, as with spans. */
  next: Mark | undefined;
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
  #newestMark: Mark | undefined;
  #last: Promise<unknown> = Promise.resolve();
  /** Calls whose work was taken back: what is left of their handlers works here no more. */
  readonly #over = new WeakSet<object>();

  constructor(ground: MarkGround) {
    this.#ground = ground;
  }

  /** The answer takes the state back to where it stands now, after all that runs in it since has ended. */
  async mark(): Promise<TakeBack> {
    const { state, transactions, from } = this.#ground;
    state.truth.gate.refuseInside(); // taken back to before its own call, it would lose what others have committed since
    const [around] = callsAround();
    transactions.effects.keepAll();
    const [kept, { mark, span, open, ...then }] = await state.snapshotWith({ tag: "mark" }, () => ({
      mark: this.#beginMark(),
      span: this.#begin(),
      open: new Set(transactions.pending),
      takeBack: from(),
      undecided: transactions.undecided,
      relied: transactions.effects.owners(),
    }));
    mark.moment ??= { kept, ...then };
    return async (callGoesOn = false) => {
      if (around !== undefined && !callGoesOn) this.#over.add(around);
      const left = await this.#stopSince(span, open);
      await transactions.undoEffects(await this.#goBack(mark));
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

  /** One after the other: who goes back to where another has taken the state away from goes where that one went. */
  #goBack(mark: Mark): Promise<readonly string[]> {
    const work = this.#last.then(async () => {
      const moment = mark.moment as Moment;
      let gone: readonly string[] = [];
      let newest: Mark | undefined;
      await moment.takeBack(moment.kept, () => {
        gone = this.#goneSince(moment);
        newest = this.#newestMark;
      });
      for (let at = mark; at !== newest && at.next !== undefined; at = at.next) at.next.moment = moment;
      return gone;
    });
    this.#last = work.catch(() => {}); // told to whoever asked for it
    return work;
  }

  /**
   * What is taken back now: calls that were open then and have ended, and whoever relies on an effect by now and did not then;
   * boundaries that are kept would tell only of the newest calls. A call that is open now commits, or is discarded, later.
   */
  #goneSince(then: Moment): readonly string[] {
    const { effects, undecided } = this.#ground.transactions;
    const since = effects.owners(undecided).difference(then.relied);
    return [...since, ...then.undecided.difference(undecided)];
  }

  #beginMark(): Mark {
    const mark: Mark = { moment: undefined, next: undefined };
    if (this.#newestMark !== undefined) this.#newestMark.next = mark;
    this.#newestMark = mark;
    return mark;
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
