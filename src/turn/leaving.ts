import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { overWithin } from "../base/over-within.ts";
import type { SessionId } from "../records/ids.ts";
import { Gate } from "../state/gate.ts";
import type { Transactions } from "../transaction/transactions.ts";

/** Milliseconds: whoever was told to stop and does not end is closed by the next opening. */
const PATIENCE = 5_000;

/**
 * Stops what runs in a session before it is closed, and waits for its end: closed under them, no call could be written down
 * as ended, and its folder would be somebody else's while a command still worked in it.
 */
export class Leaving {
  readonly #turns = new Set<FollowedTurn<unknown, unknown>>();
  readonly #lost: AbortSignal;
  readonly #door = new Gate();
  #leavers = 0;
  #closing = new AbortController();
  #signal: AbortSignal;

  /** `lost` aborts when nothing can be written any more. */
  constructor(lost: AbortSignal) {
    this.#lost = lost;
    this.#signal = this.#both();
  }

  /** For calls: aborts when the session is about to be closed, and when nothing can be written any more. */
  get signal(): AbortSignal {
    return this.#signal;
  }

  /** Aborts when the session is about to be closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** A turn as somebody follows it: it can be walked to its end without them. */
  async *following<E, R>(turn: AsyncGenerator<E, R, undefined>): AsyncGenerator<E, R, undefined> {
    const followed = new FollowedTurn(turn);
    this.#turns.add(followed);
    try {
      for (;;) {
        const told = await followed.next();
        if (told.done === true) return told.value;
        yield told.value;
      }
    } finally {
      try {
        await turn.return(undefined as never); // where whoever followed it has walked away
      } finally {
        this.#turns.delete(followed); // its end is written down by now
      }
    }
  }

  /**
   * Closes the session, one of several who do so at a time. Nothing begins from here on, unless that is refused: a loop goes
   * on when its call was canceled, and what it began would be left open.
   */
  async through(close: () => Promise<void>): Promise<void> {
    this.#leavers += 1;
    try {
      await this.#door.run(close);
    } catch (error) {
      this.#leavers -= 1;
      throw error;
    }
  }

  refuseLate(session: SessionId): void {
    if (this.#leavers > 0) throw new HoldfastError("JOURNAL_CLOSED", { session });
  }

  async stopAll(transactions: Pick<Transactions, "pending" | "ended">, clock: Clock): Promise<void> {
    const { pending } = transactions;
    if (pending.length + this.#turns.size === 0) return;
    this.#closing.abort(CLOSED);
    this.#closing = new AbortController(); // should it not be closed after all, it goes on
    this.#signal = this.#both();
    const over = [transactions.ended(pending), ...[...this.#turns].map((turn) => turn.walkToItsEnd())];
    await overWithin(clock, PATIENCE, over); // whoever follows a turn that failed is told by it
  }

  #both(): AbortSignal {
    return AbortSignal.any([this.#lost, this.#closing.signal]);
  }
}

/** A turn whose events somebody follows. Those of a part that was walked without them are kept, and follow. */
class FollowedTurn<E, R> {
  readonly #turn: AsyncGenerator<E, R, undefined>;
  readonly #ahead: Promise<IteratorResult<E, R>>[] = [];

  constructor(turn: AsyncGenerator<E, R, undefined>) {
    this.#turn = turn;
  }

  next(): Promise<IteratorResult<E, R>> {
    return this.#ahead.shift() ?? this.#turn.next();
  }

  async walkToItsEnd(): Promise<void> {
    for (;;) {
      const next = this.#turn.next();
      this.#ahead.push(next);
      if ((await next).done === true) return;
    }
  }
}

const CLOSED = new DOMException("The session was closed.", "AbortError");
