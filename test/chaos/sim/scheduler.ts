import type { Clock } from "../../../src/base/clock.ts";

/** Whose work it is: a process that dies or sleeps takes its work with it. */
export interface Owner {
  readonly alive: boolean;
  readonly asleep: boolean;
}

interface Waiting {
  readonly owner: Owner;
  /** The hardware's part, which goes on while the process sleeps. */
  readonly hardware: boolean;
  readonly go: () => void;
}

interface Sleeper {
  readonly owner: Owner;
  readonly until: number;
  readonly wake: () => void;
  /** It will never wake: whoever could wake it early must not hold it, or nothing of a run would ever be freed. */
  readonly leave: () => void;
}

/**
 * Decides who goes next. Everything that could take time waits here, and one waiting piece of work is let go at a time,
 * by a choice that is drawn from the seed: every overlap that the real world could bring can come, and comes again.
 */
export class Scheduler {
  readonly #waiting: Waiting[] = [];
  #sleepers: Sleeper[] = [];
  #elapsed = 0;
  #wall = Date.parse("2026-01-01T00:00:00.000Z");

  /** A place where others may come first. Of a process that has died, nothing is ever heard again. */
  point(owner: Owner, kind: "software" | "hardware" = "software"): Promise<void> {
    return new Promise((go) => {
      this.#waiting.push({ owner, hardware: kind === "hardware", go });
    });
  }

  /** Lets one go, and everything that follows from it without waiting. False when nobody could. */
  async step(choose: (count: number) => number): Promise<boolean> {
    for (let at = this.#waiting.length - 1; at >= 0; at -= 1)
      if (this.#waiting[at]?.owner.alive === false) this.#waiting.splice(at, 1);
    const able = this.#waiting.filter(({ owner, hardware }) => hardware || !owner.asleep);
    const chosen = able[able.length > 1 ? choose(able.length) : 0];
    if (chosen === undefined) return false;
    this.#waiting.splice(this.#waiting.indexOf(chosen), 1);
    chosen.go();
    await quiet();
    return true;
  }

  /** Nothing of this process waits for its turn. */
  isIdle(owner: Owner): boolean {
    return this.#waiting.every((waiting) => waiting.owner !== owner);
  }

  /** Moves time, and wakes whoever is due, in order, before anybody else can act. */
  async advance(ms: number): Promise<void> {
    this.#elapsed += ms;
    this.#wall += ms;
    await this.wake();
  }

  /** Those who were due while they slept wake when they no longer do. */
  async wake(): Promise<void> {
    for (;;) {
      this.#leave(({ owner }) => !owner.alive);
      const due = this.#sleepers
        .filter(({ owner, until }) => until <= this.#elapsed && !owner.asleep)
        .sort((a, b) => a.until - b.until)[0];
      if (due === undefined) return;
      this.#sleepers.splice(this.#sleepers.indexOf(due), 1);
      due.wake();
      await quiet();
    }
  }

  /** The run is over: nobody sleeps on. */
  end(): void {
    this.#leave(() => true);
  }

  #leave(gone: (sleeper: Sleeper) => boolean): void {
    for (const sleeper of this.#sleepers) if (gone(sleeper)) sleeper.leave();
    this.#sleepers = this.#sleepers.filter((sleeper) => !gone(sleeper));
  }

  /** Sets the wall clock alone. */
  jumpWall(ms: number): void {
    this.#wall += ms;
  }

  clockOf(owner: Owner): Clock {
    return {
      now: () => this.#wall,
      monotonic: () => this.#elapsed,
      sleep: (ms, signal) =>
        new Promise((resolve, reject) => {
          if (signal?.aborted) return reject(signal.reason as Error);
          if (ms <= 0) return resolve();
          const onAbort = () => {
            this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
            reject(signal?.reason as Error);
          };
          const leave = () => signal?.removeEventListener("abort", onAbort);
          const sleeper: Sleeper = {
            owner,
            until: this.#elapsed + ms,
            leave,
            wake: () => {
              leave();
              resolve();
            },
          };
          this.#sleepers.push(sleeper);
          signal?.addEventListener("abort", onAbort, { once: true });
        }),
    };
  }

  get now(): number {
    return this.#wall;
  }
}

/** Until nothing more happens by itself: whatever needs no time has happened. */
export function quiet(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
