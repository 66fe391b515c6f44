import type { AskedCall } from "../contracts/model.ts";
import { type CallId, callIdAt } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";
import { type Deadline, PromptEvaluationError } from "../transaction/deadline.ts";
import { keptJson, type Refusal, type ToolCall } from "../transaction/open-call.ts";
import type { CallOutcome } from "../transaction/outcome.ts";
import { Channel } from "./channel.ts";
import type { RunEvent } from "./events.ts";
import type { Ground } from "./ground.ts";
import type { Stop } from "./stop.ts";

/** A call of an answer, under our id. */
export interface OpenedCall extends ToolCall {
  readonly id: CallId;
  readonly alias: string;
  readonly epoch: number;
}

/** The calls of the session's `nth` answer, named by where they stand. `epoch`: what offered them. `denied`: none may run. */
export function callsOf(
  ground: Ground,
  { nth, epoch, denied }: { readonly nth: number; readonly epoch: number; readonly denied: string | undefined },
  asked: readonly AskedCall[],
): OpenedCall[] {
  return asked.map(({ index, name, callId, input }) => {
    const refusal: Refusal | undefined =
      denied !== undefined
        ? { kind: "denied", message: denied }
        : input.ok
          ? undefined
          : { kind: "bad-arguments", message: `The arguments are no JSON object: ${input.why}` };
    return {
      id: callIdAt(ground.id, nth, index),
      name,
      alias: callId,
      input: input.ok ? input.value : input.text,
      epoch,
      announced: true,
      ...(refusal === undefined ? {} : { refusal }),
    };
  });
}

/** What opens a call in the journal, in the same commit as the answer that asked for it. */
export function openingOf({ id, name, input, alias, epoch }: OpenedCall): RecordDraft {
  return { kind: "call-opened", callId: id, tool: name, args: keptJson(input), alias, epoch };
}

/**
 * Runs the calls of one answer at once, each in its transaction, and tells of each as it ends. When this is over, every
 * call is closed, whoever stopped it and whether or not anybody still listens.
 */
export async function* runCalls(
  ground: Ground,
  calls: readonly OpenedCall[],
  how: { readonly stop: Stop; readonly deadline: Deadline | undefined },
): AsyncGenerator<RunEvent, void, undefined> {
  const events = new Channel<RunEvent>();
  for (const { id, name, alias } of calls) events.push({ kind: "call-opened", callId: id, tool: name, alias });
  const signal = how.stop.callSignal;
  const limits = how.deadline === undefined ? { signal } : { signal, deadline: how.deadline };
  const run = async (call: OpenedCall) => {
    const outcome = await ground.transactions.run(call, limits).catch(outcomeOfTheLast);
    ground.closed?.(outcome);
    events.push({ kind: "call-closed", callId: call.id, outcome });
    events.push({ kind: "checkpoint", callId: call.id });
  };
  const all = Promise.allSettled(calls.map(run)).finally(() => events.close());
  let heard = false;
  try {
    yield* events;
    heard = true;
  } finally {
    if (!heard) how.stop.now("left");
    await all;
  }
  for (const ended of await all) if (ended.status === "rejected") throw ended.reason;
}

/** The turn's time ran out in this call: it is closed like any other, and the turn sees for itself what time it is. */
function outcomeOfTheLast(error: unknown): CallOutcome {
  if (error instanceof PromptEvaluationError) return error.outcome;
  throw error;
}
