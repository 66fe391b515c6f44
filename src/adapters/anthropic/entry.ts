/** `holdfast/adapters/anthropic`: Anthropic's messages through the official SDK. */
import type { JsonObject } from "../../base/json.ts";
import { BOOLEAN, checkOptions, oneOf, type OptionRules, whole } from "../../base/options.ts";
import type { Model } from "../../contracts/model.ts";
import { type ProfileChoice, profileOf } from "../../wire/profiles.ts";
import { MODEL_OPTIONS } from "../model-options.ts";
import { askSdk, type CallOptions, clientOnce } from "../sdk.ts";
import { sentIn } from "../sent.ts";
import { CACHE_MARKS } from "./cache.ts";
import { failureOf } from "./errors.ts";
import { MESSAGES_SENT, messagesBody } from "./request.ts";
import { MessagesReader } from "./stream.ts";
import { anthropicClient, type AnthropicClient, type AnthropicConnection } from "./vendor.ts";
import type { Writing } from "./writing.ts";

/** Options of `anthropic`. */
export interface AnthropicOptions extends AnthropicConnection {
  /** The provider's name of the model. */
  readonly model: string;
  /** A client of `@anthropic-ai/sdk`, or anything of its shape. Default: one made from the connection's options. */
  readonly client?: AnthropicClient;
  /**
   * The profile that requests must meet. Default `anthropic`. For models that refuse prefill: `{ ...PROFILES.anthropic,
   * userLast: true }`.
   */
  readonly profile?: ProfileChoice;
  /** `false` asks for whole answers instead of streams. Default `true`. */
  readonly stream?: boolean;
  /** The token limit for answers to requests that name none; this provider demands one. Default 8192. */
  readonly maxOutputTokens?: number;
  /** `false` sets no marks for the prompt cache. Default `true`. */
  readonly cache?: boolean;
  /**
   * How a request's `reasoning` is sent: `adaptive` as an effort, or `budget` as a number of tokens, for older models.
   * Default `adaptive`.
   */
  readonly thinking?: Writing["thinking"];
  /**
   * Further fields for every request, in the provider's own terms, such as `thinking` or `metadata`. They override
   * Holdfast's.
   */
  readonly body?: JsonObject;
}

const OPTIONS: OptionRules<AnthropicOptions> = {
  ...MODEL_OPTIONS,
  maxOutputTokens: whole(1),
  cache: BOOLEAN,
  thinking: oneOf("adaptive", "budget"),
};

/** A model of Anthropic's, asked through the official SDK. */
export function anthropic(options: AnthropicOptions): Model {
  checkOptions(options, OPTIONS, ["model"]);
  const { model, stream = true, maxOutputTokens = 8192, cache = true, thinking = "adaptive", body = {} } = options;
  const profile = profileOf(options.profile ?? "anthropic");
  const how: Writing = { model, profile, stream, maxOutputTokens, cache, thinking, body };
  const connected = clientOnce(options.client, () => anthropicClient(options));
  return {
    name: `anthropic:${model}`,
    profile,
    can: { streams: stream, sealsReasoning: true, cacheMarks: cache ? CACHE_MARKS : 0 },
    ask(request, { signal, inspect }) {
      const written = messagesBody(request, how);
      inspect?.(sentIn(written, MESSAGES_SENT, body));
      const send = (client: AnthropicClient, call: CallOptions) => client.messages.create(written, call);
      return askSdk({ request, reader: new MessagesReader(), connected, send, stream, failureOf }, signal);
    },
  };
}

export type { AnthropicClient, AnthropicConnection } from "./vendor.ts";
