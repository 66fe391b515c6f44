import { isSince, type Savepoint, type Stretch } from "../state/branch.ts";
import { type CallWorld, specsOf } from "./call-world.ts";
import { effectId, type EffectReport } from "./effect.ts";
import type { OpenedCall } from "./ledger.ts";
import { type CallOutcome, outcomeOf } from "./outcome.ts";

/** A call inside another, from the moment it is asked for. */
export interface InnerCall {
  readonly stretch: Stretch;
  outcome: CallOutcome;
  isRunning: boolean;
}

/** How one had ended that went with what is around it, and how that is told. */
interface Superseded {
  readonly was: CallOutcome;
  readonly message: string;
  readonly reason: string;
}

/** The calls inside one: how each ended, and what of that is still true. */
export class InnerCalls {
  readonly #world: CallWorld;
  readonly #superseded: Superseded[] = [];
  /** Those of the last attempt, in the order they began. */
  #inside: readonly InnerCall[] = [];
  #openings: readonly Promise<void>[] = [];
  #asked = 0;

  constructor(world: CallWorld) {
    this.#world = world;
  }

  /** How those of the last attempt ended. */
  get nested(): readonly CallOutcome[] {
    return this.#inside.map(({ outcome }) => outcome);
  }

  /** Those of an attempt that was given up, or that went with the whole: closed, and undone outside as is known by now. */
  superseded(known: readonly EffectReport[] = []): readonly CallOutcome[] {
    const now = byEffect(known);
    return this.#superseded.map(({ was, message, reason }) => undone(knowing(was, now), message, reason));
  }

  get areRunning(): boolean {
    return this.#inside.some(({ isRunning }) => isRunning);
  }

  /** Which one the next is. A later attempt does not count anew, nor is a number used again whose opening failed. */
  next(): number {
    this.#asked += 1;
    return this.#asked;
  }

  add(inner: InnerCall): void {
    this.#inside = [...this.#inside, inner];
  }

  async announce(inner: InnerCall, call: OpenedCall, how: { readonly traceless: boolean }): Promise<void> {
    const { ledger, state } = this.#world;
    const opening = ledger.opened(call, how);
    this.#openings = [...this.#openings, opening];
    try {
      await opening;
    } catch (error) {
      // It did not begin, so it does not end: closed, it would be a call that nobody opened.
      this.#inside = this.#inside.filter((other) => other !== inner);
      if (ledger.unsure === true) state.truth.poison(error);
      throw error;
    } finally {
      this.#openings = this.#openings.filter((other) => other !== opening);
    }
  }

  /** Whether a call inside this one was opened must be known before it is closed. */
  openingsSettled(): Promise<unknown> | undefined {
    return this.#openings.length === 0 ? undefined : Promise.allSettled(this.#openings);
  }

  /** What ran inside goes, as the call around it does. */
  supersede(message: string, reason: string): void {
    this.#superseded.push(...this.nested.map((was) => ({ was, message, reason })));
    this.#inside = [];
  }

  /**
   * Those that were taken back with a part of what is around them end as that, not as a success whose change is nowhere;
   * what they, and those that failed, had done outside is undone.
   */
  async letGo(savepoint: Savepoint, isOver: boolean, failed: readonly string[]): Promise<readonly EffectReport[]> {
    const gone = this.#inside
      .filter(({ stretch, outcome }) => outcome.ok && isSince(savepoint, stretch, stretch.opened))
      .map((inner) => ({ inner, was: inner.outcome }));
    const words = failed.length === 0 ? UNDONE_PARTLY : UNDONE_INSIDE;
    const tell = (known: readonly EffectReport[]) => {
      const now = byEffect(known);
      for (const { inner, was } of gone) inner.outcome = undone(knowing(was, now), words, "parent-discarded");
    };
    tell([]);
    const reports = await this.#undo([...gone.map(({ was }) => was.callId), ...failed], isOver);
    tell(reports);
    return reports;
  }

  async #undo(callIds: readonly string[], isOver: boolean): Promise<readonly EffectReport[]> {
    const { effects } = this.#world;
    const specOf = specsOf(this.#world);
    const last = callIds.at(-1);
    if (last === undefined) return [];
    return isOver ? effects.undo(callIds, specOf) : effects.undoInside(last, callIds.slice(0, -1), specOf);
  }
}

function byEffect(reports: readonly EffectReport[]): ReadonlyMap<string, EffectReport> {
  return new Map(reports.map((report) => [effectId(report), report]));
}

function knowing(outcome: CallOutcome, known: ReadonlyMap<string, EffectReport>): CallOutcome {
  return { ...outcome, effects: outcome.effects.map((report) => known.get(effectId(report)) ?? report) };
}

function undone(outcome: CallOutcome, message: string, reason: string): CallOutcome {
  const { parts: _parts, ...facts } = outcome; // what it returned went with what it did
  return outcome.ok ? { ...outcomeOf({ kind: "canceled", message }, facts), reason } : outcome;
}

export const UNDONE_INSIDE = "It was undone with the call it ran inside.";
export const UNDONE_PARTLY = "It was undone with the part of the call that it ran in.";
