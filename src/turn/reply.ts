import { HoldfastError } from "../base/errors.ts";
import { checkJson, KEPT_LIMITS } from "../base/json.ts";
import { isMarked } from "../records/redact.ts";
import type { CallLimits, ToolCall } from "../transaction/call-world.ts";
import type { CallOutcome } from "../transaction/outcome.ts";
import type { Ground } from "./ground.ts";
import type { WaitingCall, Reply } from "./waiting.ts";

/**
 * Ends a call's waiting: it is run, refused, or closed with the answer. A crash after consent was given finds the call
 * begun, and closes it as interrupted like any other.
 */
export function replyTo(ground: Ground, waiting: WaitingCall, reply: Reply, limits: CallLimits): Promise<CallOutcome> {
  const { callId } = waiting;
  const work = settle(ground, waiting, reply, limits).finally(() => ground.replies.delete(callId));
  ground.replies.set(callId, work);
  return work;
}

/** When all that somebody has replied to has ended. Not for a handler: the call it works for would wait for itself. */
export async function replied({ state, replies }: Ground): Promise<void> {
  state.truth.gate.refuseInside();
  await Promise.allSettled(replies.values());
}

/**
 * Has calls that still wait closed by `close`, and by nobody else: while it does, nobody can reply to them, and what
 * somebody has replied to by then is not among them. A call would run that the model is told was not run.
 */
export async function withoutReply<T>(
  ground: Pick<Ground, "waits" | "replies">,
  waiting: readonly WaitingCall[],
  close: (unanswered: readonly WaitingCall[]) => Promise<T>,
): Promise<T> {
  const unanswered = waiting.filter((call) => isOpen(ground, call));
  const work = close(unanswered);
  for (const { callId } of unanswered) ground.replies.set(callId, work);
  try {
    return await work;
  } finally {
    for (const { callId } of unanswered) ground.replies.delete(callId);
  }
}

/** Whether nobody has replied yet. */
export function isOpen(ground: Pick<Ground, "waits" | "replies">, { callId }: Pick<WaitingCall, "callId">): boolean {
  return ground.waits(callId) && !ground.replies.has(callId);
}

/** Why it is no reply to this call. */
export function misfitOf({ callId, tool, waitsFor }: WaitingCall, reply: Reply): HoldfastError | undefined {
  if (isFitting(reply, waitsFor)) return undefined;
  return new HoldfastError("REPLY_MISFIT", { call: callId, tool, waitsFor });
}

async function settle(ground: Ground, waiting: WaitingCall, reply: Reply, limits: CallLimits): Promise<CallOutcome> {
  const { callId, tool, input } = waiting;
  const call: ToolCall = { id: callId, name: tool, input, announced: true };
  const misfit = misfitOf(waiting, reply);
  if (misfit !== undefined) throw misfit;
  if ("answer" in reply) return run(ground, { ...call, known: { kind: "succeeded", value: reply.answer } }, limits);
  const reason = reply.approve ? undefined : reply.reason;
  await ground.write([
    { kind: "approval-given", callId, approved: reply.approve, ...(reason === undefined ? {} : { reason }) },
  ]);
  if (reply.approve) return run(ground, { ...call, ...notKept(waiting), ...changedSince(ground, waiting) }, limits);
  return run(ground, { ...call, known: { kind: "denied", message: reason ?? "The user did not consent." } }, limits);
}

/** Consent is `true`, and nothing that only looks like it; an answer is one that can be kept, or it would be none for the model. */
function isFitting(reply: Reply, waitsFor: WaitingCall["waitsFor"]): boolean {
  const { approve, answer, reason }: Readonly<Record<string, unknown>> = Object(reply);
  if (waitsFor === "answer") return checkJson(answer, KEPT_LIMITS).ok;
  return typeof approve === "boolean" && answer === undefined && ["string", "undefined"].includes(typeof reason);
}

/** With a word in the place of a secret it would do something else than somebody agreed to. */
function notKept({ input }: WaitingCall): Pick<ToolCall, "known"> {
  if (!isMarked(JSON.stringify(input))) return {};
  const message = "Its arguments held a secret, which is not kept, so it did not run. Ask for it again.";
  return { known: { kind: "denied", message } };
}

/** Somebody agreed to what they saw. Another tool has taken its name since: nobody agreed to that one. */
function changedSince({ transactions, story }: Ground, waiting: WaitingCall): Pick<ToolCall, "known"> {
  const tool = transactions.tool(waiting.tool);
  const { definition } = waiting;
  if (tool === undefined || definition === undefined || definition === story.catalog.definition(tool)) return {};
  const message = `${waiting.tool} has changed since somebody was asked about it, so it did not run. Ask for it again.`;
  return { known: { kind: "denied", message } };
}

async function run(ground: Ground, call: ToolCall, limits: CallLimits): Promise<CallOutcome> {
  const outcome = await ground.transactions.run(call, limits);
  ground.closed?.(outcome);
  return outcome;
}
