import type { Compressed } from "../contracts/compressor.ts";
import { aside } from "./aside.ts";
import type { Ground } from "./ground.ts";
import type { UnpreparedOutput } from "./prepared-texts.ts";

/** What became of the outputs that a model was asked about. */
export interface PreparedOutputs {
  readonly prepared: number;
  /** Shown as they are made without a model: it failed, was too slow, or answered what no page may show. */
  readonly failed: number;
}

/** Questions at once. */
const PARALLEL = 4;

/**
 * Station: lets a compressor that asks a model say what new outputs come to, before their pages are made. It takes no longer
 * than the session's patience; whatever goes wrong costs the better text and nothing else.
 */
export async function prepareOutputs(ground: Ground, signal: AbortSignal): Promise<PreparedOutputs> {
  const { context, conversation, state } = ground;
  const wanting = context.unprepared(conversation.items, (item) => conversation.idOf(item));
  if (wanting.length === 0) return NOTHING;
  const over = new AbortController();
  const within = AbortSignal.any([signal, over.signal]);
  const patience = state.clock.sleep(context.patienceMs, within, "keep-alive").then(
    () => over.abort(new DOMException("It took too long.", "TimeoutError")),
    () => {}, // all are through, or the turn was stopped
  );
  const sums = { prepared: 0, failed: 0 };
  const queue = wanting.values();
  const work = async () => {
    for (const output of queue) {
      const made = await answerFor(ground, output, within);
      if (made === undefined) continue;
      sums[context.takePrepared(output, made.answer) ? "prepared" : "failed"] += 1;
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  over.abort();
  await patience;
  return sums;
}

const NOTHING: PreparedOutputs = { prepared: 0, failed: 0 };

/** Undefined: nobody was asked. */
async function answerFor(
  ground: Ground,
  { digest, what }: UnpreparedOutput,
  signal: AbortSignal,
): Promise<{ readonly answer: Compressed | undefined } | undefined> {
  const { compressor } = ground.context;
  if (signal.aborted || ground.within?.budget.met !== undefined) return undefined;
  try {
    const asked = await aside(ground, { purpose: "compress", name: `${ground.head}.${digest}`, signal }, async (one) =>
      compressor?.prepare?.(what, one),
    );
    return asked === undefined ? undefined : { answer: asked };
  } catch {
    return { answer: undefined }; // told by the aside; the page is made without a model
  }
}
