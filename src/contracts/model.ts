import type { Json, JsonObject } from "../base/json.ts";
import type { CallKind, Item, ToolCallId } from "../wire/item.ts";
import type { WireProfile } from "../wire/profiles.ts";

/** A model that can be asked. One question is one request: the caller decides whether to ask again. */
export interface Model {
  /** A name for journals, telemetry and people, such as `anthropic:claude-…`. */
  readonly name: string;
  /** What its provider demands of a request, as data. The history is repaired for it. */
  readonly profile: WireProfile;
  /** What the model can do. */
  readonly can: ModelAbilities;
  /**
   * Asks the model, and yields events as they arrive. Exactly one event, the last, is `end` or `failed`. Failures of
   * the provider or the network are `failed` events; it throws only for mistakes of the caller. To end the request,
   * stop iterating or abort.
   */
  ask(request: ModelRequest, options: AskOptions): AsyncIterable<ModelEvent>;
}

/** Options of `model.ask`. */
export interface AskOptions {
  /** Ends the request when it aborts. */
  readonly signal: AbortSignal;
  /**
   * Called before anything is sent, with what the written request offers, read back from its body. If it throws,
   * nothing is sent and `ask` throws the same error.
   */
  readonly inspect?: (sent: SentRequest) => void;
}

/** What a written request offers and demands, independent of the provider's format. */
export interface SentRequest {
  readonly tools: readonly ToolOffer[];
  /** The one tool that the request forces the model to call. */
  readonly toolChoice?: string;
  /** Names of the caller's own fields that could carry words or tools. */
  readonly foreign?: readonly string[];
  /** Whether the request contains these words. Absent when the adapter cannot say. */
  readonly says?: (words: string) => boolean;
}

/** What a model can do. */
export interface ModelAbilities {
  /** True when answers arrive in pieces. Otherwise they arrive whole, as one delta each. */
  readonly streams: boolean;
  /** True when its reasoning comes sealed and must be sent back unchanged. */
  readonly sealsReasoning: boolean;
  /** How many places of a request can be marked for the provider's cache; 0 if the provider finds them itself. */
  readonly cacheMarks: number;
}

/** A question to a model. */
export interface ModelRequest {
  /** The history, repaired. Instructions are `system` items. */
  readonly items: readonly Item[];
  /** The tools offered. Default: none. */
  readonly tools?: readonly ToolOffer[];
  /** Whether the model may or must call a tool, or which one it must call. Default: the provider's. */
  readonly toolChoice?: "auto" | "none" | "required" | { readonly name: string };
  /** The most tokens that the answer may have. Default: the provider's, or the adapter's. */
  readonly maxOutputTokens?: number;
  /** Sampling temperature, from 0. Default: the provider's. */
  readonly temperature?: number;
  /** How much the model should reason. Default: the provider's. */
  readonly reasoning?: ReasoningEffort;
  /** How many items from the start will be the same in the next request, and so are worth caching. */
  readonly stableItems?: number;
}

/** How much a model should reason before it answers. */
export type ReasoningEffort = "low" | "medium" | "high";

/** A tool as a model is offered it. */
export interface ToolOffer {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments; its type is object. */
  readonly input: JsonObject;
}

/** What arrives while a model answers. */
export type ModelEvent =
  | { readonly kind: "text-delta"; readonly text: string }
  | { readonly kind: "reasoning-delta"; readonly text: string }
  /**
   * More of a call. Calls are told apart by `index`, their place in the answer: an id may come late, twice or never.
   */
  | { readonly kind: "call-delta"; readonly index: number; readonly name?: string; readonly arguments: string }
  | { readonly kind: "usage"; readonly usage: Usage }
  | { readonly kind: "end"; readonly answer: Answer }
  | { readonly kind: "failed"; readonly failure: ModelFailure; readonly partial: PartialAnswer };

/**
 * Why the model stopped. `refusal`: the model declined, and its words are the answer. `content-filter`: a filter, not
 * the model, withheld the answer or the rest of it. `paused`: the provider goes on when the answer so far is sent back.
 * `other`: see `stopText`.
 */
export type StopReason = "stop" | "tool-calls" | "length" | "refusal" | "content-filter" | "paused" | "other";

/**
 * What a model said before its answer broke off. Its calls are all marked partial: none of them runs or gets an output.
 */
export interface PartialAnswer {
  /**
   * What was said. Each item has the provider's original, untouched, as `origin`, so seals and unknown fields survive.
   */
  readonly items: readonly Item[];
  /** The provider's id of the answer. It is also the `step` of the items, unless an earlier answer had the same id. */
  readonly id?: string;
  /** The name of the model that answered, as the provider gives it. */
  readonly model?: string;
  readonly usage?: Usage;
  /** Types of what arrived and could not be read by this version. */
  readonly unread: readonly string[];
}

/** A model's whole answer to one question. */
export interface Answer extends PartialAnswer {
  readonly stop: StopReason;
  /** Why it stopped, in the provider's own word. */
  readonly stopText: string;
  /** The calls to run, in the order of the answer. */
  readonly calls: readonly AskedCall[];
  /** Calls whose id was empty or already taken, and the id that each got instead. */
  readonly renamed: readonly RenamedCall[];
}

/** A call that a model asks for. */
export interface AskedCall {
  /** Its place among the calls of the answer, as in `call-delta`. */
  readonly index: number;
  /** The id that links it to its output in `items`. */
  readonly callId: ToolCallId;
  readonly callKind: CallKind;
  /** The name of the tool. */
  readonly name: string;
  /** The arguments. */
  readonly input: AskedInput;
}

/**
 * Arguments as the model wrote them. `ok: false`: they are not a JSON object. Their text is kept as it came, the tool
 * does not run, and the model reads why. Values that cannot be kept exactly are repaired later, which is reported.
 */
export type AskedInput =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly text: string; readonly why: string };

/** A call whose id was replaced. */
export interface RenamedCall {
  readonly index: number;
  readonly from: string;
  readonly to: ToolCallId;
}

/** What an answer used, in tokens. */
export interface Usage {
  /** Everything that was read, also from a cache. */
  readonly input: number;
  /** Everything that was written. */
  readonly output: number;
  /** How much of `input` was read from the provider's cache. */
  readonly cacheRead?: number;
  /** How much of `input` was written to the provider's cache. */
  readonly cacheWrite?: number;
  /** How much of `output` was reasoning. */
  readonly reasoning?: number;
  /** How many samplings this answer took, if more than one. `input` is then not the size of one request. */
  readonly samplings?: number;
}

/** Why a question has no answer. */
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
  /** This version cannot read what came back. */
  | "unreadable"
  | "too-long"
  | "refused-request"
  | "not-allowed";

/** Why a question has no answer, and whether and when to ask again. */
export interface ModelFailure {
  readonly kind: ModelFailureKind;
  /** The provider's words; if nobody answered, the address that did not. */
  readonly message: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** How long the provider asks to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** Whether the model has seen the request, so that asking again costs again. */
  readonly reached: "no" | "maybe" | "yes";
  /** The HTTP status. */
  readonly status?: number;
  /** The provider's own name of the error: `rate_limit_exceeded`, `overloaded_error`. */
  readonly code?: string;
  /** The id of the request, for the provider's support. */
  readonly requestId?: string;
}
