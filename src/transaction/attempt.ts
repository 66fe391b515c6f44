import type { Clock } from "../base/clock.ts";
import { type Ending, endingOf, endingOfThrown } from "./ending.ts";

export interface AttemptLimits {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Milliseconds left; undefined means no limit. */
  readonly timeLeft: number | undefined;
  /** Told to stop when the attempt is over for the kernel, whatever the handler still does. */
  readonly stop: AbortController;
}

/**
 * Runs a handler to an ending. Never throws: a throw, a failure, an abort and a deadline all come back as endings. A
 * handler that goes on after an abort or a deadline is left alone; `late` hears what it says in the end.
 */
export async function attempt(
  run: () => unknown,
  limits: AttemptLimits,
  late: (ending: Ending) => void,
): Promise<Ending> {
  if (limits.signal.aborted) return canceled(limits.signal);
  if (limits.timeLeft !== undefined && limits.timeLeft <= 0) return timedOut();
  let over = false;
  const handler = settled(run).then((ending) => {
    if (over) late(ending);
    return ending;
  });
  const ended = new AbortController();
  const ending = await Promise.race([handler, aborted(limits.signal, ended.signal), deadline(limits, ended.signal)]);
  over = true;
  ended.abort();
  if (ending.kind === "timeout" || ending.kind === "canceled")
    limits.stop.abort(new DOMException(ending.message, "AbortError"));
  return ending;
}

async function settled(run: () => unknown): Promise<Ending> {
  try {
    return endingOf(await run());
  } catch (thrown) {
    return endingOfThrown(thrown);
  }
}

function aborted(signal: AbortSignal, ended: AbortSignal): Promise<Ending> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(canceled(signal)), { once: true, signal: ended });
  });
}

function deadline({ clock, timeLeft }: AttemptLimits, ended: AbortSignal): Promise<Ending> {
  if (timeLeft === undefined) return new Promise(() => {});
  return clock.sleep(timeLeft, ended).then(timedOut, () => new Promise<never>(() => {}));
}

function canceled(signal: AbortSignal): Ending {
  const { reason } = signal as { reason: unknown };
  return { kind: "canceled", message: reason instanceof Error ? reason.message : "The call was canceled." };
}

function timedOut(): Ending {
  return { kind: "timeout", message: "The call took longer than it was allowed to." };
}
