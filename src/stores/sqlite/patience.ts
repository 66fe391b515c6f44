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
 * stop the whole process, also the neighbour in it that holds the lock and could give it back.
 */
export async function patiently<T>(patience: Patience, attempt: () => T): Promise<T> {
  const { clock, random, busyLimit } = patience;
  const started = clock.monotonic();
  for (let turn = 0; ; turn += 1) {
    try {
      return attempt();
    } catch (error) {
      if (!HoldfastError.is(error, "STORE_BUSY") || clock.monotonic() - started > busyLimit) throw error;
      await clock.sleep((0.5 + random.fraction()) * Math.min(2 ** turn, 32), undefined, "keep-alive");
    }
  }
}
