import type { AlignmentReport } from "../alignment/align.ts";
import type { AlignmentFault } from "../alignment/faults.ts";
import type { HoldfastError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { ModelFailure, StopReason, Usage } from "../contracts/model.ts";
import type { Reclaim } from "../context/view.ts";
import type { FaultKind } from "../history/faults.ts";
import type { CallId } from "../records/ids.ts";
import type { CallOutcome } from "../transaction/outcome.ts";
import type { AsidePurpose } from "./aside.ts";
import type { LimitKind, Spent } from "./limits.ts";
import type { ProjectFault } from "./project-rules.ts";
import type { WaitingCall } from "./waiting.ts";

/** What happens in a turn, as it happens. The last event, and only the last, is `end`. */
export type RunEvent =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "reasoning"; readonly text: string }
  /** A call the model is still writing, by its place in the answer. */
  | { readonly kind: "call-written"; readonly index: number; readonly name?: string; readonly arguments: string }
  | { readonly kind: "usage"; readonly usage: Usage; readonly spent: Spent }
  /** The model did not answer. What it had said since the last step is void; it is asked again after the wait. */
  | { readonly kind: "retry"; readonly failure: ModelFailure; readonly attempt: number; readonly waitMs: number }
  /** The answer and its opened calls are durable. */
  | { readonly kind: "call-opened"; readonly callId: CallId; readonly tool: string; readonly alias: string }
  /** What the tool put out while it works. */
  | { readonly kind: "call-progress"; readonly callId: CallId; readonly text: string }
  /** A call waits for somebody: see `session.reply`. */
  | { readonly kind: "call-waiting"; readonly call: WaitingCall }
  /** Nobody could be asked about it, or what was replied is no reply. It waits on, and the turn goes on without it. */
  | { readonly kind: "ask-failed"; readonly call: WaitingCall; readonly error: HoldfastError }
  /** What the turn cost is not known, as `price` failed. Told once, before the end. */
  | { readonly kind: "price-failed"; readonly error: HoldfastError }
  | { readonly kind: "call-closed"; readonly callId: CallId; readonly outcome: CallOutcome }
  /** A tool boundary that can be returned to. */
  | { readonly kind: "checkpoint"; readonly callId: CallId }
  /** The journal holds something that no provider takes as it is; the request tells it otherwise. */
  | { readonly kind: "repaired"; readonly fault: FaultKind; readonly detail: JsonObject }
  /** Pages were lowered to make room, in one batch; the provider reads so many tokens again. */
  | { readonly kind: "reclaimed"; readonly reclaim: Reclaim }
  /** Files of the project that should hold as rules, and could not be read. */
  | { readonly kind: "rules-unread"; readonly faults: readonly ProjectFault[] }
  /** A model was asked beside the conversation, for shorter texts or for a summary; `used` is what that cost. */
  | { readonly kind: "aside"; readonly purpose: AsidePurpose; readonly used: AsideUse; readonly spent: Spent }
  /** The conversation was compacted; so many pages left the requests. */
  | { readonly kind: "compacted"; readonly left: number }
  /** It should have been, and everything is as it was. */
  | { readonly kind: "compaction-failed"; readonly error: HoldfastError }
  /** Tools asked to see sections of the prompt, and the next request shows them in full. */
  | { readonly kind: "expanded"; readonly sections: readonly string[] }
  /** A request leaves whose prompt, tools and mode do not agree, because somebody insisted. */
  | { readonly kind: "misaligned"; readonly because: string; readonly faults: readonly AlignmentFault[] }
  | { readonly kind: "end"; readonly end: RunEnd };

export interface AsideUse extends Omit<Spent, "steps"> {
  /** Outputs whose pages show what a model made of them. */
  readonly prepared?: number;
  /** Outputs that it was asked about in vain: their pages are made without it. */
  readonly failed?: number;
}

interface Ended {
  readonly spent: Spent;
  /** What the model said last. */
  readonly text: string;
}

/** How a turn ended. Only `done` is a success; nothing else is reported as one. */
export type RunEnd =
  | (Ended & { readonly status: "done" })
  /** The model stopped without finishing: its limit, a refusal, a filter, or nothing at all. */
  | (Ended & { readonly status: "stopped"; readonly stop: StopReason | "empty" })
  | (Ended & { readonly status: "limit"; readonly limit: LimitKind })
  /** Nothing goes on before somebody replies: see `session.reply`. Everything else has ended. */
  | (Ended & { readonly status: "waiting"; readonly waiting: readonly WaitingCall[] })
  | (Ended & { readonly status: "aborted" })
  /** Prompt, tools and mode did not agree, also not after they were built anew: nothing was sent. */
  | (Ended & { readonly status: "refused"; readonly report: AlignmentReport })
  | (Ended & { readonly status: "failed"; readonly failure: ModelFailure });
