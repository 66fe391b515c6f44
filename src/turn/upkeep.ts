import type { TokenCounter } from "../contracts/token-counter.ts";
import type { Journal, JournalDeps } from "../journal/journal.ts";
import { rowOf } from "../journal/read.ts";
import { type RetentionBounds, retain } from "../journal/retention.ts";
import { sweepForgotten } from "../journal/sweep.ts";
import { RECORDS_PER_CHECKPOINT, type SessionFold } from "./fold.ts";
import type { Teller } from "./teller.ts";

/** Looking costs what is kept, so it is done again when that has grown by this part. */
const GROWTH = 8;
/** Without bounds only state goes that no boundary needs, and the checkpoints let go of it this rarely. */
const RECORDS_PER_SWEEP = 2_048;

export interface UpkeepGround extends Pick<JournalDeps, "store" | "clock"> {
  readonly journal: Journal<SessionFold>;
  readonly teller: Teller;
  readonly counter: TokenCounter;
}

/**
 * Keeps a session that stays open within its bounds, and gives back what no record names any more: a process that runs for
 * weeks would otherwise fill the disk until somebody opens the session anew.
 */
export class Upkeep {
  readonly #ground: UpkeepGround;
  readonly #bounds: RetentionBounds | undefined;
  #next: number;
  #running: Promise<void> | undefined;
  /** The calls that keep it over its bounds, as they were told last. */
  #awaited: ReadonlySet<string> = new Set();

  constructor(ground: UpkeepGround, bounds: RetentionBounds | undefined) {
    this.#ground = ground;
    this.#bounds = bounds;
    this.#next = ground.journal.head.seq + this.#pause(0);
  }

  /**
   * What whoever begins something new has to wait for, if anything. Only between calls: what is under way needs its records.
   * A call that waits for somebody is not under way, and may wait for ever; no cut falls behind its question.
   */
  due(isIdle: () => boolean): Promise<void> | undefined {
    if (this.#running !== undefined) return this.#running;
    const { journal, teller } = this.#ground;
    if (journal.head.seq < this.#next || isUnderWay(journal.folded) || !isIdle()) return undefined;
    this.#running = this.#keep()
      .catch(teller.upkeepFailed)
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  async #keep(): Promise<void> {
    const { journal } = this.#ground;
    this.#next = journal.head.seq + this.#pause(0); // whatever comes of it, it is not tried again at once
    if (this.#bounds !== undefined) {
      const { awaited } = await retain(this.#ground, journal, this.#bounds);
      this.#tell(awaited ?? []);
      const { head, anchor } = await rowOf(this.#ground.store, journal.session);
      this.#next = head.seq + this.#pause(head.seq - anchor.seq);
    }
    await sweepForgotten(this.#ground);
  }

  /** Once until they are others: a call may wait for weeks, and whoever hears the same at every try stops listening. */
  #tell(awaited: readonly string[]): void {
    const before = this.#awaited;
    this.#awaited = new Set(awaited);
    if (awaited.length > 0 && before.symmetricDifference(this.#awaited).size > 0)
      this.#ground.teller.moment("upkeep-failed", { awaited });
  }

  /** How many records may come before bounds are looked at again. A cut falls at a checkpoint. */
  #pause(kept: number): number {
    return this.#bounds === undefined ? RECORDS_PER_SWEEP : Math.max(RECORDS_PER_CHECKPOINT, Math.ceil(kept / GROWTH));
  }
}

function isUnderWay({ openCalls, waiting }: SessionFold): boolean {
  return openCalls.keys().some((callId) => !waiting.has(callId));
}
