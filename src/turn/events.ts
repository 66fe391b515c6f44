import type { AlignmentReport } from "../alignment/align.ts";
import type { AlignmentFault } from "../alignment/faults.ts";
import type { HoldfastError } from "../base/errors.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { ModelFailure, StopReason, Usage } from "../contracts/model.ts";
import type { Reclaim } from "../context/view.ts";
import type { FaultKind } from "../history/faults.ts";
import type { CallId } from "../records/ids.ts";
import type { CallOutcome } from "../transaction/outcome.ts";
import type { AsidePurpose } from "./aside.ts";
import type { LimitKind, Spent } from "./limits.ts";
import type { ProjectFault } from "./project-rules.ts";
import type { WaitingCall } from "./waiting.ts";

/** What happens in a turn, as it happens. Exactly one event, the last, is `end`. */
export type RunEvent =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "reasoning"; readonly text: string }
  /** More of a call that the model is still writing. `index`: the call's place in the answer. */
  | { readonly kind: "call-written"; readonly index: number; readonly name?: string; readonly arguments: string }
  | { readonly kind: "usage"; readonly usage: Usage; readonly spent: Spent }
  /** The model failed. Discard what it said since the last step; it is asked again after `waitMs`. */
  | { readonly kind: "retry"; readonly failure: ModelFailure; readonly attempt: number; readonly waitMs: number }
  /**
   * A call was opened: it and the answer it came in are durable. `input`: the arguments that the model gave. `alias`: the
   * provider's id for it.
   */
  | {
      readonly kind: "call-opened";
      readonly callId: CallId;
      readonly tool: string;
      readonly input: Json;
      readonly alias: string;
    }
  /** What a running tool has reported so far with `call.progress`. */
  | { readonly kind: "call-progress"; readonly callId: CallId; readonly text: string }
  /** A call needs consent or an answer: see `session.reply`. */
  | { readonly kind: "call-waiting"; readonly call: WaitingCall }
  /**
   * `ask` failed, or returned something that does not fit. The call goes on waiting, and the turn goes on without it.
   */
  | { readonly kind: "ask-failed"; readonly call: WaitingCall; readonly error: HoldfastError }
  /** The cost of the turn is unknown because `price` failed. Reported once, before the end. */
  | { readonly kind: "price-failed"; readonly error: HoldfastError }
  /** A call has ended, and its outcome is durable. */
  | { readonly kind: "call-closed"; readonly callId: CallId; readonly outcome: CallOutcome }
  /** A tool boundary that you can rewind to or fork from. */
  | { readonly kind: "checkpoint"; readonly callId: CallId }
  /** The journal holds something that no provider would accept as it is; the request says it in a form they accept. */
  | { readonly kind: "repaired"; readonly fault: FaultKind; readonly detail: JsonObject }
  /** Pages were lowered in one batch to make room. `reclaim` says how many tokens the provider has to read again. */
  | { readonly kind: "reclaimed"; readonly reclaim: Reclaim }
  /** Project files that contain rules and could not be read. */
  | { readonly kind: "rules-unread"; readonly faults: readonly ProjectFault[] }
  /** A model was asked beside the conversation, for shorter texts or a summary. `used` is what that cost. */
  | { readonly kind: "aside"; readonly purpose: AsidePurpose; readonly used: AsideUse; readonly spent: Spent }
  /** The conversation was compacted. `left`: how many pages left the requests. */
  | { readonly kind: "compacted"; readonly left: number }
  /** Compaction failed; nothing has changed. */
  | { readonly kind: "compaction-failed"; readonly error: HoldfastError }
  /** Tools asked to see these sections of the prompt; the next request shows them in full. */
  | { readonly kind: "expanded"; readonly sections: readonly string[] }
  /** A request is sent although its prompt, tools and mode do not agree, because `sendMisaligned` was set. */
  | { readonly kind: "misaligned"; readonly because: string; readonly faults: readonly AlignmentFault[] }
  | { readonly kind: "end"; readonly end: RunEnd };

/** What a question beside the conversation cost. */
export interface AsideUse extends Omit<Spent, "steps"> {
  /** How many outputs are shown in the shorter form that a model wrote. */
  readonly prepared?: number;
  /** How many outputs a model could not shorten. Their pages are made without it. */
  readonly failed?: number;
}

interface Ended {
  readonly spent: Spent;
  /** The text of the model's last answer. */
  readonly text: string;
}

/** How a turn ended. Only `done` is a success. */
export type RunEnd =
  | (Ended & { readonly status: "done" })
  /** The model stopped without finishing: it hit its own limit, refused, was filtered, or said nothing (`empty`). */
  | (Ended & { readonly status: "stopped"; readonly stop: StopReason | "empty" })
  /** The run reached one of its bounds. */
  | (Ended & { readonly status: "limit"; readonly limit: LimitKind })
  /** Calls wait for a reply: see `session.reply`. Everything else has ended. */
  | (Ended & { readonly status: "waiting"; readonly waiting: readonly WaitingCall[] })
  /** The turn was stopped. */
  | (Ended & { readonly status: "aborted" })
  /** Prompt, tools and mode did not agree, even after they were rebuilt. Nothing was sent. */
  | (Ended & { readonly status: "refused"; readonly report: AlignmentReport })
  /** The model gave no answer, and asking again did not help. */
  | (Ended & { readonly status: "failed"; readonly failure: ModelFailure });
