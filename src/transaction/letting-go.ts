import { HoldfastError } from "../base/errors.ts";
import { isSince, type Savepoint, type Stretch } from "../state/branch.ts";
import { type CallWorld, specsOf } from "./call-world.ts";
import type { CallChildren } from "./children.ts";
import { type EffectReport, lastOfEach } from "./effect.ts";
import type { InnerCalls } from "./inner-calls.ts";

interface Asked {
  /** The call itself, or one inside it. */
  readonly callId: string;
  readonly effect: string;
  readonly stretch: Stretch;
}

interface LettingGoParts {
  readonly world: CallWorld;
  readonly inner: InnerCalls;
  readonly children: CallChildren;
}

/** What goes with a part of a call that is rolled back, beside what it changed: calls inside, effects outside, children. */
export class LettingGo {
  readonly #parts: LettingGoParts;
  /** Of this attempt. */
  #asked: Asked[] = [];
  #left: readonly EffectReport[] = [];
  #underWay: readonly Promise<unknown>[] = [];
  #refused: Error | undefined;
  #undoGivenUp: (() => Promise<readonly EffectReport[]>) | undefined;

  constructor(parts: LettingGoParts) {
    this.#parts = parts;
  }

  beginAttempt(): void {
    this.#asked = [];
  }

  /** An effect is asked for in a stretch of its own. Who asked in vain does not rely on it. */
  async ask<T>(asked: Asked, effect: () => Promise<T>): Promise<T> {
    this.#asked.push(asked);
    try {
      return await effect();
    } catch (error) {
      this.#asked = this.#asked.filter((other) => other !== asked);
      throw error;
    }
  }

  /** What was let go and not undone: no call relies on it any more, and whoever reads how the call ended must know. */
  get left(): readonly EffectReport[] {
    return this.#left;
  }

  /** A call rolls back what it did since; `failed`, when that is all of it. Answers what became of what those inside had done outside. */
  letGo(callId: string, savepoint: Savepoint, isOver: boolean, failed = false): Promise<readonly EffectReport[]> {
    const inner = this.#parts.inner.letGo(savepoint, isOver, failed ? [callId] : []);
    const own = failed ? NOTHING_LEFT : this.#undo(callId, savepoint);
    const work = allOver(inner, own, this.#takeBackChildren(callId, savepoint)).then(() => inner);
    const refused = (error: Error) => {
      this.#refused ??= error;
    };
    this.#underWay = [...this.#underWay, work.catch(refused)];
    return work;
  }

  /**
   * What attempts that were given up did, and the last did not ask for again, goes however the call ends. Written down before
   * that end: a process that died behind it would leave it standing as the call's own.
   */
  async leaveGivenUp(callId: string): Promise<void> {
    const { world } = this.#parts;
    this.#undoGivenUp = await world.effects.leaveUntouched(callId, specsOf(world));
  }

  /** When it has been left, and the call has ended or is about to be discarded. */
  async undoGivenUp(): Promise<readonly EffectReport[]> {
    const undo = this.#undoGivenUp;
    this.#undoGivenUp = undefined;
    return undo === undefined ? [] : undo();
  }

  /**
   * Why something could not be let go, in whichever attempt. The call cannot be kept: a child would have worked for it that it
   * took back, or the next process find it relying on what it let go of.
   */
  get refused(): Error | undefined {
    return this.#refused;
  }

  /** Until then it is not known what is left outside of what was let go. */
  settled(): Promise<unknown> | undefined {
    return this.#underWay.length === 0 ? undefined : Promise.all(this.#underWay);
  }

  /** What the call asked for elsewhere, too, stays. */
  async #undo(callId: string, savepoint: Savepoint): Promise<void> {
    const { world } = this.#parts;
    const isGone = (asked: Asked) => asked.callId === callId && isSince(savepoint, asked.stretch, asked.stretch.opened);
    const gone = new Set(this.#asked.filter(isGone).map(({ effect }) => effect));
    if (gone.size === 0) return;
    this.#asked = this.#asked.filter((asked) => !isGone(asked));
    const stays = this.#asked.flatMap((asked) => (asked.callId === callId ? [asked.effect] : []));
    const effects = gone.difference(new Set(stays));
    const reports = await world.effects.undoOf(callId, effects, specsOf(world));
    this.#left = lastOfEach([...this.#left, ...reports.filter(({ is }) => is !== "undone")]);
  }

  async #takeBackChildren(call: string, savepoint: Savepoint): Promise<void> {
    const stuck = await this.#parts.children.letGo(savepoint);
    if (stuck.length === 0) return;
    throw new HoldfastError("CHILD_SAVEPOINT", { call, stuck });
  }
}

const NOTHING_LEFT: Promise<void> = Promise.resolve();

/** Also when one of them fails, the others are waited for: whoever goes on finds nothing under way. */
async function allOver(...works: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(works);
  await Promise.all(works);
}
