import type { Json } from "../base/json.ts";
import type { CallId } from "../records/ids.ts";
import type { BodyOf, RecordDraft } from "../records/kinds.ts";
import type { WaitsFor } from "../transaction/tool.ts";

/** A call that is open until somebody consents to it or answers it. Reply with `session.reply`. */
export interface WaitingCall {
  readonly callId: CallId;
  readonly tool: string;
  /** The call's arguments. */
  readonly input: Json;
  /** `approval`: reply with `approve`. `answer`: reply with `answer`. */
  readonly waitsFor: WaitsFor;
  /** Hash of the tool's definition when the model called it. */
  readonly definition?: string;
}

/** A reply to a waiting call: consent, refusal, or the answer itself. */
export type Reply =
  | { readonly approve: true }
  | { readonly approve: false; readonly reason?: string }
  | { readonly answer: Json };

/**
 * Asks a person about a waiting call. Called for all waiting calls of an answer at once: on a terminal, ask about one after
 * the other. If it returns undefined, the call goes on waiting; also if it fails, which is reported as `ask-failed`.
 */
export type AskSomebody = (call: WaitingCall, signal: AbortSignal) => Promise<Reply | undefined>;

export function waitingCallOf({ callId, tool, args, for: waitsFor, definition }: BodyOf<"call-waiting">): WaitingCall {
  return { callId, tool, input: args, waitsFor, ...(definition === undefined ? {} : { definition }) };
}

export function waitingOf({ callId, tool, input, waitsFor, definition }: WaitingCall): RecordDraft {
  const known = definition === undefined ? {} : { definition };
  return { kind: "call-waiting", callId, tool, args: input, for: waitsFor, ...known };
}

/** Nobody will answer any more: it was never begun, so nothing has happened. */
export function unansweredOf({ callId, tool }: WaitingCall, why: string): RecordDraft {
  return {
    kind: "call-closed",
    callId,
    tool,
    status: "canceled",
    reason: "unanswered",
    output: `${why} It was not run.`,
    effects: "none",
  };
}
