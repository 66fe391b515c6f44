import type { Json } from "../base/json.ts";
import type { CallId } from "../records/ids.ts";
import type { BodyOf, RecordDraft } from "../records/kinds.ts";
import type { WaitsFor } from "../transaction/tool.ts";

/** A call that waits for somebody. */
export interface WaitingCall {
  readonly callId: CallId;
  readonly tool: string;
  readonly input: Json;
  readonly waitsFor: WaitsFor;
  /** Hash of the tool as it was when it was asked for. */
  readonly definition?: string;
}

/** What somebody says to a call that waits: consent or none, or the answer itself. */
export type Reply =
  | { readonly approve: true }
  | { readonly approve: false; readonly reason?: string }
  | { readonly answer: Json };

/** Asks whoever can answer. Nothing: the call waits on; so it does when this fails, which is told as `ask-failed`. */
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
