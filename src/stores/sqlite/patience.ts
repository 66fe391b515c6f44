import type { Clock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { Random } from "../../base/random.ts";

export interface Patience {
  readonly clock: Clock;
  readonly random: Random;
  /** How long somebody else's transaction may take, in milliseconds. */
  readonly busyLimit: number;
}

/**
 * Tries until SQLite is no longer busy, up to the limit. Waiting is asynchronous and with jitter: SQLite's own wait would
 * stop the whole process, also the neighbour in it that holds the lock and could give it back. The first attempt, which
 * nearly always succeeds, is made at once and costs no promise.
 */
export function patiently<T>(patience: Patience, attempt: () => T | Promise<T>): T | Promise<T> {
  try {
    const result = attempt();
    return result instanceof Promise ? result.catch((error: unknown) => tryAgain(patience, attempt, error)) : result;
  } catch (error) {
    return tryAgain(patience, attempt, error);
  }
}

async function tryAgain<T>(patience: Patience, attempt: () => T | Promise<T>, first: unknown): Promise<T> {
  const { clock, random, busyLimit } = patience;
  const started = clock.monotonic();
  let failure = first;
  for (let turn = 0; ; turn += 1) {
    if (!HoldfastError.is(failure, "STORE_BUSY") || clock.monotonic() - started > busyLimit) throw failure;
    await clock.sleep((0.5 + random.fraction()) * Math.min(2 ** turn, 32), undefined, "keep-alive");
    try {
      return await attempt();
    } catch (error) {
      failure = error;
    }
  }
}
