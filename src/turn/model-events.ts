import type { Clock } from "../base/clock.ts";
import { unlessAborted } from "../base/unless-aborted.ts";

/** Milliseconds in which a model that was told to stop can say how far it came. */
const PATIENCE = 2_000;

/**
 * What a model says, which is over when it was told to stop and does not: whoever wrote it may not hear the signal, and a
 * turn that nobody can stop holds its session for good.
 */
export async function* untilStopped<E>(
  events: AsyncIterable<E>,
  signal: AbortSignal,
  clock: Clock,
): AsyncGenerator<E, void, undefined> {
  const iterator = events[Symbol.asyncIterator]();
  const late = new AbortController();
  const over = new AbortController();
  const told = () => {
    clock.sleep(PATIENCE, over.signal, "keep-alive").then(
      () => late.abort(),
      () => {}, // it stopped
    );
  };
  if (signal.aborted) told();
  else signal.addEventListener("abort", told, { once: true });
  let pending = false;
  try {
    for (;;) {
      pending = true;
      const next = await unlessAborted(
        late.signal,
        () => iterator.next(),
        () => undefined,
      );
      if (next === undefined || next.done === true) return;
      pending = false;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", told);
    over.abort();
    if (!pending) await iterator.return?.();
    else if (late.signal.aborted) void iterator.return?.().catch(() => {}); // nobody hears any more how it ends
  }
}
