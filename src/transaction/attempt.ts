import type { Clock } from "../base/clock.ts";
import { type Ending, endingOfThrown } from "./ending.ts";

/** When an attempt is over for the kernel, whatever the handler still does. */
export interface AttemptLimits {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Milliseconds the call has left; undefined means no limit. */
  readonly callLeft: number | undefined;
  /** Milliseconds the whole evaluation has left. */
  readonly evaluationLeft: number | undefined;
}

/**
 * Runs a handler to an ending. Never throws: a throw, a failure, an abort and a deadline all come back as endings. A
 * handler that goes on after an abort or a deadline is left alone; `late` hears what it says in the end.
 */
export async function attempt(
  run: () => Promise<Ending>,
  limits: AttemptLimits,
  late: (ending: Ending) => void,
): Promise<Ending> {
  const before = endedBefore(limits);
  if (before !== undefined) return before;
  let over = false;
  const handler = settled(run).then((ending) => {
    if (over) late(ending);
    return ending;
  });
  const ended = new AbortController();
  const ending = await Promise.race([handler, aborted(limits.signal, ended.signal), outOfTime(limits, ended.signal)]);
  over = true;
  ended.abort();
  return ending;
}

function endedBefore({ signal, callLeft, evaluationLeft }: AttemptLimits): Ending | undefined {
  if (signal.aborted) return canceled(signal);
  if (evaluationLeft !== undefined && evaluationLeft <= 0) return EVALUATION_ENDED;
  return callLeft !== undefined && callLeft <= 0 ? TIMED_OUT : undefined;
}

async function settled(run: () => Promise<Ending>): Promise<Ending> {
  try {
    return await run();
  } catch (thrown) {
    return endingOfThrown(thrown);
  }
}

function aborted(signal: AbortSignal, ended: AbortSignal): Promise<Ending> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(canceled(signal)), { once: true, signal: ended });
  });
}

/** The nearer of the two deadlines; at the same moment the evaluation's, because it ends more. */
function outOfTime({ clock, callLeft, evaluationLeft }: AttemptLimits, ended: AbortSignal): Promise<Ending> {
  const evaluation = evaluationLeft ?? Number.POSITIVE_INFINITY;
  const call = callLeft ?? Number.POSITIVE_INFINITY;
  const left = Math.min(evaluation, call);
  if (left === Number.POSITIVE_INFINITY) return NEVER;
  const ending = evaluation <= call ? EVALUATION_ENDED : TIMED_OUT;
  return clock.sleep(left, ended).then(
    () => ending,
    () => NEVER,
  );
}

export function canceled(signal: AbortSignal): Ending {
  const { reason } = signal as { readonly reason: unknown };
  return { kind: "canceled", message: reason instanceof Error ? reason.message : "The call was canceled." };
}

const NEVER = new Promise<never>(() => {});
const TIMED_OUT: Ending = { kind: "timeout", message: "The call took longer than it was allowed to." };
const EVALUATION_ENDED: Ending = {
  kind: "evaluation-ended",
  message: "The time for the whole evaluation is up.",
};
