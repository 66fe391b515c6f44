/** `holdfast/adapters/anthropic`: Anthropic's messages through the official SDK. */
import type { JsonObject } from "../../base/json.ts";
import { BOOLEAN, checkOptions, oneOf, type OptionRules, whole } from "../../base/options.ts";
import type { Model } from "../../contracts/model.ts";
import { type ProfileChoice, profileOf } from "../../wire/profiles.ts";
import { askOnce, onePiece } from "../ask.ts";
import { MODEL_OPTIONS } from "../model-options.ts";
import { sentIn } from "../sent.ts";
import { CACHE_MARKS } from "./cache.ts";
import { failureOf } from "./errors.ts";
import { MESSAGES_SENT, messagesBody } from "./request.ts";
import { MessagesReader } from "./stream.ts";
import { anthropicClient, type AnthropicClient, type AnthropicConnection } from "./vendor.ts";
import type { Writing } from "./writing.ts";

export interface AnthropicOptions extends AnthropicConnection {
  readonly model: string;
  /** A client of `@anthropic-ai/sdk`, or anything of its shape; made from the connection when left out. */
  readonly client?: AnthropicClient;
  /** For models that demand more: `{ ...PROFILES.anthropic, userLast: true }` where prefill is refused. */
  readonly profile?: ProfileChoice;
  /** `false` asks for whole answers. */
  readonly stream?: boolean;
  /** Used where a request names no limit; this provider demands one. */
  readonly maxOutputTokens?: number;
  /** `false` marks nothing for the prompt cache. */
  readonly cache?: boolean;
  /** How a request's `reasoning` is asked for: as an effort, or for older models as a budget of tokens. */
  readonly thinking?: Writing["thinking"];
  /** Further fields of every request, in the provider's words: `thinking`, `metadata`. They win. */
  readonly body?: JsonObject;
}

const OPTIONS: OptionRules<AnthropicOptions> = {
  ...MODEL_OPTIONS,
  maxOutputTokens: whole(1),
  cache: BOOLEAN,
  thinking: oneOf("adaptive", "budget"),
};

export function anthropic(options: AnthropicOptions): Model {
  checkOptions(options, OPTIONS, ["model"]);
  const { model, stream = true, maxOutputTokens = 8192, cache = true, thinking = "adaptive", body = {} } = options;
  const profile = profileOf(options.profile ?? "anthropic");
  const how: Writing = { model, profile, stream, maxOutputTokens, cache, thinking, body };
  let client: Promise<AnthropicClient> | undefined;
  const connected = () => (client ??= options.client ? Promise.resolve(options.client) : anthropicClient(options));
  return {
    name: `anthropic:${model}`,
    profile,
    can: { streams: stream, sealsReasoning: true, cacheMarks: cache ? CACHE_MARKS : 0 },
    ask(request, { signal, inspect }) {
      const written = messagesBody(request, how);
      inspect?.(sentIn(written, MESSAGES_SENT, body));
      let address: string | undefined;
      const open = async (own: AbortSignal) => {
        const asked = await connected();
        address = asked.baseURL;
        const sent = asked.messages.create(written, { signal: own, maxRetries: 0 });
        return stream ? ((await sent) as AsyncIterable<unknown>) : onePiece(sent);
      };
      const failed = (thrown: unknown, begun: boolean) => failureOf(thrown, begun, address);
      return askOnce({ request, reader: new MessagesReader(), open, failureOf: failed }, signal);
    },
  };
}

export type { AnthropicClient, AnthropicConnection } from "./vendor.ts";
