import type { Clock } from "./clock.ts";

/**
 * Until all of it is over, however it ends, or for so many milliseconds: whoever is waited for may never answer. Meanwhile the
 * process does not end, whatever else there is to do.
 */
export async function overWithin(clock: Clock, ms: number, works: readonly Promise<unknown>[]): Promise<void> {
  const enough = new AbortController();
  const late = clock.sleep(ms, enough.signal, "keep-alive").catch(() => {}); // cut short: all is over
  await Promise.race([Promise.allSettled(works), late]);
  enough.abort();
}
