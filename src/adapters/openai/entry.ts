/** `holdfast/adapters/openai`: OpenAI's responses and chat, and every server that speaks chat. */
import type { JsonObject } from "../../base/json.ts";
import { BOOLEAN, badOption, checkOptions, oneOf, type OptionRules } from "../../base/options.ts";
import type { Model, ModelRequest } from "../../contracts/model.ts";
import { type ProfileChoice, type ProfileId, profileOf } from "../../wire/profiles.ts";
import type { AnswerReader } from "../ask.ts";
import { MODEL_OPTIONS } from "../model-options.ts";
import { askSdk, type CallOptions, clientOnce } from "../sdk.ts";
import { type SentShape, sentIn } from "../sent.ts";
import { CHAT_SENT, chatBody } from "./chat/request.ts";
import { ChatReader } from "./chat/stream.ts";
import { failureOf } from "./errors.ts";
import { RESPONSES_SENT, responsesBody } from "./responses/request.ts";
import { ResponsesReader } from "./responses/stream.ts";
import type { Writing } from "./writing.ts";
import { openAiClient, type OpenAiClient, type OpenAiConnection } from "./vendor.ts";

export { openaiTokens } from "./tokens.ts";
export type { OpenAiEncoding } from "./vendor.ts";

/** Options of `openai` and `openaiCompatible`. */
export interface OpenAiOptions extends OpenAiConnection {
  /** The provider's name of the model. */
  readonly model: string;
  /** Which of OpenAI's APIs to use. Default `responses`. */
  readonly api?: "responses" | "chat";
  /** A client of the `openai` package, or anything of its shape. Default: one made from the connection's options. */
  readonly client?: OpenAiClient;
  /**
   * The profile that requests must meet. Default: the one of the API, or `openai-compatible` for `openaiCompatible`.
   */
  readonly profile?: ProfileChoice;
  /** `false` asks for whole answers instead of streams. Default `true`. */
  readonly stream?: boolean;
  /**
   * Whether to ask for sealed reasoning. Default: `true` for responses, `false` for chat. Set it to `false` for models
   * that do not reason, which refuse such requests, and to `true` for servers that seal what they say in chat, as
   * Google's does.
   */
  readonly sealedReasoning?: boolean;
  /** Whether to send the reasoning of a chat answer back with it, for servers that demand it. Default `false`. */
  readonly echoReasoning?: boolean;
  /**
   * Further fields for every request, in the provider's own terms, such as `prompt_cache_key` or `service_tier`. They
   * override Holdfast's.
   */
  readonly body?: JsonObject;
}

interface Api {
  readonly profile: ProfileId;
  readonly sealsReasoning: boolean;
  readonly body: (request: ModelRequest, how: Writing) => object;
  readonly sent: SentShape;
  readonly reader: () => AnswerReader;
  readonly send: (client: OpenAiClient, body: object, options: CallOptions) => PromiseLike<unknown>;
}

const APIS: Readonly<Record<"responses" | "chat", Api>> = {
  responses: {
    profile: "openai-responses",
    sealsReasoning: true,
    body: responsesBody,
    sent: RESPONSES_SENT,
    reader: () => new ResponsesReader(),
    send: (client, body, options) => client.responses.create(body, options),
  },
  chat: {
    profile: "openai-chat",
    sealsReasoning: false,
    body: chatBody,
    sent: CHAT_SENT,
    reader: () => new ChatReader(),
    send: (client, body, options) => client.chat.completions.create(body, options),
  },
};

const OPTIONS: OptionRules<OpenAiOptions> = {
  ...MODEL_OPTIONS,
  api: oneOf("responses", "chat"),
  sealedReasoning: BOOLEAN,
  echoReasoning: BOOLEAN,
};

/** A model of OpenAI's, asked through the official SDK. */
export function openai(options: OpenAiOptions): Model {
  checkOptions(options, OPTIONS, ["model"]);
  return modelOf("openai", options, "max_completion_tokens", openAiClient);
}

/** A model on any server that speaks OpenAI's chat API; give its `baseURL`, and its `apiKey` if it wants one. */
export function openaiCompatible(options: Omit<OpenAiOptions, "api"> & { readonly baseURL: string }): Model {
  checkOptions(options, OPTIONS, ["model"]);
  // Without one the SDK would ask OpenAI, with OpenAI's key.
  if (options.baseURL === undefined && options.client === undefined)
    throw badOption("baseURL", undefined, "the address of the server");
  const { profile = "openai-compatible" } = options;
  const compatible = { ...options, profile, api: "chat" } as const;
  return modelOf("openai-compatible", compatible, "max_tokens", connectedAnyhow);
}

/** OpenAI's own key, in its variable, goes to OpenAI. Many servers want none, but the SDK sends no request without one. */
function connectedAnyhow({ apiKey = "none", ...options }: OpenAiOptions): Promise<OpenAiClient> {
  return openAiClient({ ...options, apiKey });
}

function modelOf(
  vendor: string,
  options: OpenAiOptions,
  limitField: Writing["limitField"],
  connect: (options: OpenAiOptions) => Promise<OpenAiClient>,
): Model {
  const api = APIS[options.api ?? "responses"];
  const { model, stream = true, sealedReasoning = api.sealsReasoning, echoReasoning = false, body = {} } = options;
  const profile = profileOf(options.profile ?? api.profile);
  const how: Writing = { model, profile, stream, sealedReasoning, echoReasoning, limitField, body };
  const connected = clientOnce(options.client, () => connect(options));
  return {
    name: `${vendor}:${model}`,
    profile,
    can: { streams: stream, sealsReasoning: sealedReasoning, cacheMarks: 0 },
    ask(request, { signal, inspect }) {
      const written = api.body(request, how);
      inspect?.(sentIn(written, api.sent, body));
      const send = (client: OpenAiClient, call: CallOptions) => api.send(client, written, call);
      return askSdk({ request, reader: api.reader(), connected, send, stream, failureOf }, signal);
    },
  };
}

export type { OpenAiClient, OpenAiConnection } from "./vendor.ts";
