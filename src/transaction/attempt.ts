import type { Clock } from "../base/clock.ts";
import { inWords } from "../base/words.ts";
import { type Discarded, type Ending, endingOfThrown } from "./ending.ts";

/** The signal of calls that nobody can abort: there is nothing to listen to. */
export const NEVER: AbortSignal = new AbortController().signal;

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
  if (nothingEnds(limits)) return settled(run);
  const first = Promise.withResolvers<Ending>();
  let over = false;
  void settled(run).then((ending) => (over ? late(ending) : first.resolve(ending)));
  const release = [onAbort(limits.signal, first.resolve), onDeadline(limits, first.resolve)];
  const ending = await first.promise;
  over = true;
  for (const free of release) free?.();
  return ending;
}

/** Why nothing more is begun or kept: whoever could abort it has, or its time is up. */
export function endedBefore({ signal, callLeft, evaluationLeft }: AttemptLimits): Discarded | undefined {
  if (signal.aborted) return canceled(signal);
  if (evaluationLeft !== undefined && evaluationLeft <= 0) return EVALUATION_ENDED;
  return callLeft !== undefined && callLeft <= 0 ? TIMED_OUT : undefined;
}

/** But the handler itself. */
function nothingEnds({ signal, callLeft, evaluationLeft }: AttemptLimits): boolean {
  return signal === NEVER && callLeft === undefined && evaluationLeft === undefined;
}

async function settled(run: () => Promise<Ending>): Promise<Ending> {
  try {
    return await run();
  } catch (thrown) {
    return endingOfThrown(thrown);
  }
}

function onAbort(signal: AbortSignal, end: (ending: Ending) => void): (() => void) | undefined {
  if (signal === NEVER) return undefined;
  const listener = () => end(canceled(signal));
  signal.addEventListener("abort", listener, { once: true });
  return () => signal.removeEventListener("abort", listener);
}

/** The nearer of the two deadlines; at the same moment the evaluation's, because it ends more. */
function onDeadline(
  { clock, callLeft, evaluationLeft }: AttemptLimits,
  end: (ending: Ending) => void,
): (() => void) | undefined {
  const evaluation = evaluationLeft ?? Number.POSITIVE_INFINITY;
  const call = callLeft ?? Number.POSITIVE_INFINITY;
  const left = Math.min(evaluation, call);
  if (left === Number.POSITIVE_INFINITY) return undefined;
  const stop = new AbortController();
  // Or the process would end with the call open, where its handler waits for what nothing brings.
  clock.sleep(left, stop.signal, "keep-alive").then(
    () => end(evaluation <= call ? EVALUATION_ENDED : TIMED_OUT),
    () => {}, // the handler was in time
  );
  return () => stop.abort();
}

export function canceled(signal: AbortSignal): Discarded {
  const { reason } = signal as { readonly reason: unknown };
  return { kind: "canceled", message: reason instanceof Error ? inWords(reason) : "The call was canceled." };
}

const TIMED_OUT: Discarded = { kind: "timeout", message: "The call took longer than it was allowed to." };
const EVALUATION_ENDED: Discarded = {
  kind: "evaluation-ended",
  message: "The time for the whole evaluation is up.",
};
