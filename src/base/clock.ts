import { HoldfastError } from "./errors.ts";

/** A moment as a label: ISO 8601, UTC, milliseconds. Order comes from sequence numbers, never from this. */
export type Instant = string;

/** Where time comes from. */
export interface Clock {
  /** Wall time in milliseconds. It may jump back, stand still or leap: use it only for labels and for expiry. */
  now(): number;
  /** Milliseconds that never go back, for durations. */
  monotonic(): number;
  /**
   * Resolves after `ms` milliseconds, or rejects with the signal's reason. It keeps the process alive only with
   * "keep-alive": a heartbeat must not, but a wait in the middle of an answer must, or the process would end before the
   * answer.
   */
  sleep(ms: number, signal?: AbortSignal, process?: "keep-alive"): Promise<void>;
}

export interface ClockDep {
  readonly clock: Clock;
}

export function instantOf(clock: Clock): Instant {
  return toInstant(clock.now());
}

export function toInstant(ms: number): Instant {
  // One piece of work makes several labels within one millisecond.
  if (ms !== newest.ms) newest = { ms, text: textOf(ms) };
  return newest.text;
}

let newest = { ms: 0, text: "1970-01-01T00:00:00.000Z" };

function textOf(ms: number): Instant {
  const moment = new Date(ms);
  if (Number.isNaN(moment.getTime())) throw new HoldfastError("BAD_OPTION", { option: "clock", value: String(ms) });
  return moment.toISOString();
}

/** As they were when this was loaded: a tool may put its own in their place, and what is no time is not believed. */
const wallNow = Date.now;
const monotonicNow = performance.now.bind(performance);

function timeOr(told: number, real: () => number): number {
  return Number.isFinite(told) ? told : real();
}

/** The real clock. The only place below `cli/` where real time enters. */
export class SystemClock implements Clock {
  now(): number {
    return timeOr(Date.now(), wallNow);
  }

  monotonic(): number {
    return timeOr(performance.now(), monotonicNow);
  }

  async sleep(ms: number, signal?: AbortSignal, process?: "keep-alive"): Promise<void> {
    signal?.throwIfAborted();
    let left = ms;
    // A longer timer would fire at once: Node turns what does not fit into 31 bits into one millisecond.
    for (; left > LONGEST_TIMER; left -= LONGEST_TIMER) await timer(LONGEST_TIMER, signal, process);
    await timer(left, signal, process);
  }
}

const LONGEST_TIMER = 2 ** 31 - 1;

function timer(ms: number, signal: AbortSignal | undefined, process: "keep-alive" | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(handle);
      reject(signal?.reason as Error);
    };
    const handle = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    if (process === undefined) handle.unref();
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** A clock for tests: it moves only with `advance` and `setWall`. Sleepers wake when it passes their time. */
export class FixedClock implements Clock {
  #now: number;
  #elapsed = 0;
  #sleepers: { readonly until: number; readonly wake: () => void }[] = [];

  constructor(start: Instant | number = "2026-01-01T00:00:00.000Z") {
    this.#now = typeof start === "number" ? start : Date.parse(start);
    if (!Number.isFinite(this.#now)) throw new HoldfastError("BAD_OPTION", { option: "start", value: String(start) });
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  /** Moves wall and monotonic time forward together and wakes the sleepers that are due, earliest first. */
  advance(ms: number): void {
    if (!(ms >= 0)) throw new HoldfastError("BAD_OPTION", { option: "ms", value: String(ms) });
    this.#now += ms;
    this.#elapsed += ms;
    const due = this.#sleepers.filter((sleeper) => sleeper.until <= this.#elapsed).sort((a, b) => a.until - b.until);
    this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.until > this.#elapsed);
    for (const sleeper of due) sleeper.wake();
  }

  /** Sets only the wall clock, forwards or backwards, as a user or NTP would. */
  setWall(ms: number): void {
    this.#now = ms;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      if (ms <= 0) return resolve();
      const onAbort = () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(signal?.reason as Error);
      };
      const wake = () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      };
      const sleeper = { until: this.#elapsed + ms, wake };
      this.#sleepers.push(sleeper);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }
}
