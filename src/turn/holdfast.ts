import { type Clock, SystemClock } from "../base/clock.ts";
import { type Random, SystemRandom } from "../base/random.ts";
import type { SessionRow, Store } from "../contracts/store.ts";
import type { StoreSource } from "../contracts/store-source.ts";
import { forkSession } from "../journal/fork.ts";
import type { JournalDeps } from "../journal/journal.ts";
import { type OpenOptions, openJournal } from "../journal/open.ts";
import { rowOf } from "../journal/read.ts";
import { type RetentionBounds, type Retained, retain } from "../journal/retention.ts";
import { type SweepOptions, type SweepReport, sweep } from "../journal/sweep.ts";
import { sessionRows, type VerifyOptions, type VerifyReport, verify } from "../journal/verify.ts";
import { toSessionId } from "../records/ids.ts";
import { CHECKPOINT_LIMIT } from "../state/checkpoints.ts";
import { sessionFold } from "./fold.ts";
import { resumeSession, type SessionOptions } from "./resume.ts";
import type { Session } from "./session.ts";

export interface HoldfastOptions extends SessionOptions {
  readonly store: Store | StoreSource;
  readonly clock?: Clock;
  readonly random?: Random;
}

export interface SessionOpening extends Omit<OpenOptions, "fold"> {
  /** The session that this one works for. It is in plan mode whenever its parent is. */
  readonly parent?: Session;
}

/** Sessions over one store. */
export class Holdfast implements AsyncDisposable {
  readonly store: Store;
  readonly #deps: JournalDeps;
  readonly #options: SessionOptions;

  constructor(deps: JournalDeps, options: SessionOptions = {}) {
    this.#deps = deps;
    this.#options = options;
    this.store = deps.store;
  }

  /** Creates the session, or recovers it after a crash; `session.recovered` says what was repaired. */
  open(id: string, options: SessionOpening = {}): Promise<Session> {
    return this.#open(id, options, false);
  }

  async #open(id: string, { parent, ...options }: SessionOpening, isFork: boolean): Promise<Session> {
    const fold = sessionFold(this.#options.checkpoints?.limit ?? CHECKPOINT_LIMIT);
    const journal = await openJournal(this.#deps, id, { ...options, fold });
    const how = { ...this.#options, parent: parent?.catalog };
    try {
      const fork = (after: number, as: string) => this.fork(id, { after, as });
      return await resumeSession(this.#deps, journal, how, fork, isFork);
    } catch (error) {
      await journal.close();
      throw error;
    }
  }

  /** A new session that shares `from`'s records up to `after`, and goes its own way. */
  async fork(from: string, options: { readonly as: string; readonly after?: number }): Promise<Session> {
    const id = await forkSession(this.#deps, from, options);
    const { head } = await rowOf(this.store, id); // before opening: that may have to close calls
    const session = await this.#open(id, {}, true);
    try {
      await session.append({ kind: "forked", from: toSessionId(from), after: head.seq });
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  async *sessions(): AsyncIterable<SessionRow> {
    for await (const row of sessionRows(this.store)) if (!("damaged" in row)) yield row;
  }

  retain(session: Session, bounds: RetentionBounds): Promise<Retained> {
    return retain(this.#deps, session.journal, bounds);
  }

  sweep(options?: SweepOptions): Promise<SweepReport> {
    return sweep(this.#deps, options);
  }

  verify(options?: VerifyOptions): Promise<VerifyReport> {
    return verify(this.store, options);
  }

  /** Closes the store. Sessions still open lose it without harm: what they had acknowledged is there. */
  close(): Promise<void> {
    return this.store.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

export async function createHoldfast(options: HoldfastOptions): Promise<Holdfast> {
  const clock = options.clock ?? new SystemClock();
  const random = options.random ?? new SystemRandom();
  const store = "open" in options.store ? await options.store.open({ clock, random }) : options.store;
  return new Holdfast({ store, clock, random }, options);
}
