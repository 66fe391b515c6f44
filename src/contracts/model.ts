import type { Json, JsonObject } from "../base/json.ts";
import type { CallKind, Item, ToolCallId } from "../wire/item.ts";
import type { WireProfile } from "../wire/profiles.ts";

/** A model that can be asked. One question is one request: whoever asks decides whether to ask again. */
export interface Model {
  /** `anthropic:claude-…`: for journals, telemetry and people. */
  readonly name: string;
  /** What its provider demands of a request, as data. Repair and project the history for it. */
  readonly profile: WireProfile;
  readonly can: ModelAbilities;
  /**
   * Events as they arrive; the last one, and only the last, is `end` or `failed`. What the world does wrong is told in
   * `failed`; thrown is only what the caller did wrong. Walking away from the events, or an abort, ends the request.
   */
  ask(request: ModelRequest, options: AskOptions): AsyncIterable<ModelEvent>;
}

export interface AskOptions {
  readonly signal: AbortSignal;
  /**
   * Sees what the written request offers, read back from its body, before anything is sent. When it throws, nothing is
   * sent and `ask` throws the same.
   */
  readonly inspect?: (sent: SentRequest) => void;
}

/** What a written request offers and demands, in our words. */
export interface SentRequest {
  readonly tools: readonly ToolOffer[];
  /** The one tool that it demands. */
  readonly toolChoice?: string;
  /** Fields of a caller's own that carry words or tools. */
  readonly foreign?: readonly string[];
  /** Whether these words stand in it. Left out where nobody can tell. */
  readonly says?: (words: string) => boolean;
}

export interface ModelAbilities {
  /** Answers arrive in pieces; otherwise whole, as one delta each. */
  readonly streams: boolean;
  /** Its thoughts come back sealed and must be sent again as they were. */
  readonly sealsReasoning: boolean;
  /** How many places of a request can be marked as worth keeping; 0 where the provider finds them itself. */
  readonly cacheMarks: number;
}

export interface ModelRequest {
  /** The history, repaired. Instructions are its `system` items. */
  readonly items: readonly Item[];
  readonly tools?: readonly ToolOffer[];
  readonly toolChoice?: "auto" | "none" | "required" | { readonly name: string };
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly reasoning?: ReasoningEffort;
  /** The first so many items will be the same in the next request: worth keeping in the provider's cache. */
  readonly stableItems?: number;
}

export type ReasoningEffort = "low" | "medium" | "high";

export interface ToolOffer {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments, an object. */
  readonly input: JsonObject;
}

export type ModelEvent =
  | { readonly kind: "text-delta"; readonly text: string }
  | { readonly kind: "reasoning-delta"; readonly text: string }
  /** Calls are told apart by their place in the answer: an id may come late, come twice, or not at all. */
  | { readonly kind: "call-delta"; readonly index: number; readonly name?: string; readonly arguments: string }
  | { readonly kind: "usage"; readonly usage: Usage }
  | { readonly kind: "end"; readonly answer: Answer }
  | { readonly kind: "failed"; readonly failure: ModelFailure; readonly partial: PartialAnswer };

/**
 * Why the model stopped. `refusal`: the model would not, and what it says is its answer. `content-filter`: something
 * beside the model withheld the answer, or what came after this point of it. `paused`: the provider wants the same
 * answer sent back to go on. `other`: see `stopText`.
 */
export type StopReason = "stop" | "tool-calls" | "length" | "refusal" | "content-filter" | "paused" | "other";

/** What was said before it broke off. Its calls are all marked partial: none of them runs, none is answered. */
export interface PartialAnswer {
  /** Each with its provider's original as `origin`, untouched: seals and unknown fields survive. */
  readonly items: readonly Item[];
  /** The provider's id of the answer. It is also the `step` of its items, unless an earlier answer had it. */
  readonly id?: string;
  /** The model that answered, in the provider's words. */
  readonly model?: string;
  readonly usage?: Usage;
  /** What arrived and this version could not read, by type. */
  readonly unread: readonly string[];
}

export interface Answer extends PartialAnswer {
  readonly stop: StopReason;
  /** The provider's own word for it. */
  readonly stopText: string;
  /** The calls that wait for an output, in the order of the answer. */
  readonly calls: readonly AskedCall[];
  /** Calls that came under an id that was empty, or taken already: they go by a derived one from here on. */
  readonly renamed: readonly RenamedCall[];
}

export interface AskedCall {
  /** Place among the calls of the answer, as in `call-delta`. */
  readonly index: number;
  /** The id that joins it to its output in `items`. */
  readonly callId: ToolCallId;
  readonly callKind: CallKind;
  readonly name: string;
  readonly input: AskedInput;
}

/**
 * Arguments as the model wrote them: what of them cannot be kept so is the kernel's to repair, and to tell. Those that are none
 * are kept as they came: the tool does not run, and the model is told why.
 */
export type AskedInput =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly text: string; readonly why: string };

export interface RenamedCall {
  readonly index: number;
  readonly from: string;
  readonly to: ToolCallId;
}

/** Tokens. `input` counts everything that was read, also from a cache. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly reasoning?: number;
  /** How many times models read and wrote for this one answer, where it was more than once: `input` is no request's size then. */
  readonly samplings?: number;
}

export type ModelFailureKind =
  | "aborted"
  | "rate-limited"
  | "out-of-quota"
  | "overloaded"
  | "provider-broken"
  | "timed-out"
  | "unreachable"
  /** The answer broke off. */
  | "cut"
  /** What came back is no answer that this version can read. */
  | "unreadable"
  | "too-long"
  | "refused-request"
  | "not-allowed";

export interface ModelFailure {
  readonly kind: ModelFailureKind;
  /** The provider's words; where nobody answered, where that was. */
  readonly message: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** How long the provider asks to wait. */
  readonly retryAfterMs?: number;
  /** Whether the model may have seen the request, so that asking again costs again. */
  readonly reached: "no" | "maybe" | "yes";
  readonly status?: number;
  /** The provider's own name of the error: `rate_limit_exceeded`, `overloaded_error`. */
  readonly code?: string;
  /** For the provider's support. */
  readonly requestId?: string;
}
