import { HoldfastError } from "../base/errors.ts";
import { inWords } from "../base/words.ts";
import type { AskedCall } from "../contracts/model.ts";
import { type CallId, callIdAt } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";
import { type Deadline, PromptEvaluationError } from "../transaction/deadline.ts";
import { asWritten, openedArgs, type ToolCall, type WrittenInput } from "../transaction/call-world.ts";
import type { CallOutcome } from "../transaction/outcome.ts";
import { parsedBy } from "../transaction/guard.ts";
import { Channel } from "./channel.ts";
import type { RunEvent } from "./events.ts";
import type { Ground } from "./ground.ts";
import { type AskSomebody, type Reply, type WaitingCall, waitingOf } from "./waiting.ts";
import { isOpen, misfitOf, replyTo } from "./reply.ts";
import type { Stop } from "./stop.ts";
import { faultRecord } from "./story.ts";

/** A call of an answer, under our id. */
interface OpenedCall extends ToolCall, WrittenInput {
  readonly id: CallId;
  readonly alias: string;
  readonly epoch: number;
}

/** The calls of one answer: those to run, and those that wait for somebody first. */
export interface OpenedCalls {
  readonly all: readonly OpenedCall[];
  readonly waiting: readonly WaitingCall[];
}

export interface HowToRun {
  readonly stop: Stop;
  readonly deadline: Deadline | undefined;
  readonly ask: AskSomebody | undefined;
  readonly write: Ground["write"];
}

/** Which answer of the session it is. */
interface AnswerPlace {
  readonly nth: number;
  /** What offered its calls. */
  readonly epoch: number;
  /** Why none of them may run. */
  readonly denied: string | undefined;
  readonly stop: Stop;
}

/** The calls of an answer, named by where they stand. */
export async function callsOf(
  ground: Ground,
  asked: readonly AskedCall[],
  { nth, epoch, denied, stop }: AnswerPlace,
): Promise<OpenedCalls> {
  const all: OpenedCall[] = [];
  const waiting: WaitingCall[] = [];
  for (const one of asked) {
    const { index, name, callId: alias, input } = one;
    const id = callIdAt(ground.id, nth, index);
    const call: OpenedCall = {
      id,
      name,
      alias,
      epoch,
      announced: true,
      ...asWritten(input.ok ? input.value : input.text),
      ...knownEnd(one, denied),
    };
    const foreseen = (await stop.unlessStopped(() => foresee(ground, call))) ?? {};
    all.push("known" in foreseen ? { ...call, ...foreseen } : call);
    if ("waitsFor" in foreseen) waiting.push({ callId: id, tool: name, input: call.args, ...foreseen });
  }
  return { all, waiting };
}

/** What opens the calls in the journal, in the same commit as the answer that asked for them. */
export function openingsOf({ all, waiting }: OpenedCalls): readonly RecordDraft[] {
  const opened = all.map(
    ({ id, name, alias, epoch, ...written }): RecordDraft => ({
      kind: "call-opened",
      callId: id,
      tool: name,
      ...openedArgs(written),
      alias,
      epoch,
    }),
  );
  return [...opened, ...waiting.map(waitingOf)];
}

/**
 * Runs the calls of one answer at once, each in its transaction, and tells of each as it ends. When this is over every
 * call is closed or waits for somebody, whoever stopped it and whether or not anybody still listens.
 */
export async function* runCalls(
  ground: Ground,
  { all, waiting }: OpenedCalls,
  how: HowToRun,
): AsyncGenerator<RunEvent, void, undefined> {
  const events = new Channel<RunEvent>();
  const open = new Set<string>(waiting.map(({ callId }) => callId));
  const limits = { signal: how.stop.callSignal, ...(how.deadline === undefined ? {} : { deadline: how.deadline }) };
  const follow = async (callId: CallId, work: (onProgress: (text: string) => void) => Promise<CallOutcome>) => {
    const outcome = await work((text) => events.push({ kind: "call-progress", callId, text })).catch(outcomeOfTheLast);
    events.push({ kind: "call-closed", callId, outcome });
    events.push({ kind: "checkpoint", callId });
  };
  const run = (call: OpenedCall) =>
    follow(call.id, async (onProgress) => {
      const outcome = await ground.transactions.run(call, { ...limits, onProgress }).catch(outcomeOfTheLast);
      ground.closed?.(outcome);
      return outcome;
    });
  const unasked = async (call: WaitingCall, error: HoldfastError) => {
    const { callId, tool } = call;
    await how.write([faultRecord("ask-failed", { callId, tool, failure: inWords(error.cause ?? error) })]);
    events.push({ kind: "ask-failed", call, error });
  };
  const ask = async (call: WaitingCall) => {
    const asked = await how.stop.unlessStopped(() => replyFrom(how, call));
    if (asked?.failed !== undefined) return unasked(call, asked.failed);
    const reply = asked?.reply;
    if (reply === undefined || !isOpen(ground, call)) return; // it waits on, or somebody else was faster
    const misfit = misfitOf(call, reply);
    if (misfit !== undefined) return unasked(call, misfit);
    await follow(call.callId, (onProgress) => replyTo(ground, call, reply, { ...limits, onProgress }));
  };
  for (const { id, name, args: input, alias } of all)
    events.push({ kind: "call-opened", callId: id, tool: name, input, alias });
  for (const call of waiting) events.push({ kind: "call-waiting", call });
  // Begun before anybody hears of them: whoever walks away at the first event leaves no call that nobody closes.
  const work = [...all.filter(({ id }) => !open.has(id)).map(run), ...waiting.map(ask)];
  const done = Promise.allSettled(work).finally(() => events.close());
  let heard = false;
  try {
    yield* events;
    heard = true;
  } finally {
    if (!heard) how.stop.now("left");
    await done;
    await Promise.allSettled(ground.replies.values());
  }
  for (const ended of await done) if (ended.status === "rejected") throw ended.reason;
}

/** Somebody else's code: thrown on, its failure would end the turn without its end. */
async function replyFrom(
  { ask, stop }: HowToRun,
  call: WaitingCall,
): Promise<{ readonly reply?: Reply | undefined; readonly failed?: HoldfastError }> {
  try {
    return { reply: asGiven(await ask?.(call, stop.signal)) };
  } catch (cause) {
    if (stop.cause !== undefined) return {}; // it was told to give up
    return { failed: new HoldfastError("ASK_FAILED", { call: call.callId, tool: call.tool }, { cause }) };
  }
}

/** Read here, once: what throws when it is looked at has failed like whoever throws. */
function asGiven(reply: Reply | undefined): Reply | undefined {
  if (typeof reply !== "object" || reply === null) return reply; // no reply, and told as that
  const { approve, answer, reason }: Readonly<Record<string, unknown>> = reply;
  const read = { approve, answer, reason };
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined)) as Reply;
}

function knownEnd({ input }: AskedCall, denied: string | undefined): Pick<ToolCall, "known"> {
  if (denied !== undefined) return { known: { kind: "denied", message: denied } };
  if (input.ok) return {};
  return { known: { kind: "bad-arguments", message: `The arguments are not a JSON object: ${input.why}.` } };
}

/** What can be told before it runs: that it will not, or whom it must wait for. Nobody is asked about what cannot run. */
async function foresee(
  { transactions, story }: Ground,
  call: OpenedCall,
): Promise<Pick<ToolCall, "known"> | Pick<WaitingCall, "waitsFor" | "definition">> {
  const { name, known, epoch } = call;
  const tool = known === undefined ? transactions.tool(name) : undefined;
  // A schema that throws is met again when the call is attempted, and told as its end.
  const parsed = tool === undefined ? undefined : await parsedBy(tool, call).catch(() => undefined);
  if (tool === undefined || parsed?.ok !== true) return {};
  const message = story.catalog.denial({ tool, input: parsed.input, epoch });
  if (message !== undefined) return { known: { kind: "denied", message } };
  const waitsFor = await tool.waitsFor(parsed.input);
  return waitsFor === undefined ? {} : { waitsFor, definition: story.catalog.definition(tool) };
}

/** The turn's time ran out in this call: it is closed like any other, and the turn sees for itself what time it is. */
function outcomeOfTheLast(error: unknown): CallOutcome {
  if (error instanceof PromptEvaluationError) return error.outcome;
  throw error;
}
