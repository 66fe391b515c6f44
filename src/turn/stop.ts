import type { Clock } from "../base/clock.ts";
import { unlessAborted } from "../base/unless-aborted.ts";
import type { Deadline } from "../transaction/deadline.ts";

/** Why a turn is to stop before the model has finished. */
export type StopCause = "aborted" | "time" | "left" | "closed" | "lost";

/**
 * The one signal of a turn: whoever stops it, the user, the clock, a reader who walks away, who closes the session or a lost
 * lease, is heard at every point. Nothing is left on the signals of others when the turn is over.
 */
export class Stop {
  readonly #asking = new AbortController();
  readonly #calls = new AbortController();
  readonly #release: (() => void)[] = [];
  #cause: StopCause | undefined;

  constructor(sources: {
    readonly user: AbortSignal | undefined;
    readonly lost: AbortSignal | undefined;
    readonly closing: AbortSignal | undefined;
    readonly deadline: Deadline | undefined;
    readonly clock: Clock;
  }) {
    this.#on(sources.user, "aborted");
    this.#on(sources.lost, "lost");
    this.#on(sources.closing, "closed");
    const { deadline, clock } = sources;
    if (deadline === undefined) return;
    const over = new AbortController();
    this.#release.push(() => over.abort());
    clock.sleep(Math.max(0, deadline.left), over.signal, "keep-alive").then(
      () => this.now("time"),
      () => {}, // the turn was in time
    );
  }

  get signal(): AbortSignal {
    return this.#asking.signal;
  }

  /** For calls, which keep the deadline themselves: time that is up closes them as timeout, not as canceled. */
  get callSignal(): AbortSignal {
    return this.#calls.signal;
  }

  get cause(): StopCause | undefined {
    return this.#cause;
  }

  now(cause: StopCause, reason?: unknown): void {
    this.#cause ??= cause;
    const why = reason ?? new DOMException(WORDS[cause], "AbortError");
    this.#asking.abort(why);
    if (cause !== "time") this.#calls.abort(why);
  }

  /** What somebody else's code answers, or nothing when the turn is stopped first: it may never answer. */
  unlessStopped<T>(work: () => Promise<T>): Promise<T | undefined> {
    return unlessAborted(this.#asking.signal, work, () => undefined);
  }

  release(): void {
    for (const free of this.#release.splice(0)) free();
  }

  #on(signal: AbortSignal | undefined, cause: StopCause): void {
    if (signal === undefined) return;
    const listener = () => this.now(cause, cause === "lost" ? signal.reason : undefined);
    if (signal.aborted) return listener();
    signal.addEventListener("abort", listener, { once: true });
    this.#release.push(() => signal.removeEventListener("abort", listener));
  }
}

const WORDS: Readonly<Record<StopCause, string>> = {
  aborted: "The user stopped the turn.",
  left: "Nobody follows the turn any more.",
  closed: "The session was closed.",
  time: "The time for the turn is up.",
  lost: "The session can no longer be written.",
};
