import { HoldfastError } from "../../base/errors.ts";

/**
 * The part of the `openai` package that Holdfast uses, by its shape: the package's client fits, and so does a wrapper
 * or a test double.
 */
export interface OpenAiClient {
  readonly chat: { readonly completions: { create(body: object, options: CallOptions): PromiseLike<unknown> } };
  readonly responses: { create(body: object, options: CallOptions): PromiseLike<unknown> };
  /** The address, named in the failure when nobody answers. */
  readonly baseURL?: string;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  /** Always 0: a retry that nobody sees may ask twice what was already answered. */
  readonly maxRetries: number;
}

/** How to connect. What is left out, the SDK reads from its environment variables. */
export interface OpenAiConnection {
  readonly apiKey?: string;
  readonly baseURL?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

type OpenAiModule = { readonly OpenAI: new (options: object) => OpenAiClient };

/** The official client. The package is an optional peer, so it is loaded with the first question. */
export async function openAiClient(
  { apiKey, baseURL, headers, timeoutMs }: OpenAiConnection,
  load: () => Promise<unknown> = () => import("openai"),
): Promise<OpenAiClient> {
  const { OpenAI } = await load().then(
    (module) => module as OpenAiModule,
    (cause: unknown) => {
      throw new HoldfastError("SDK_MISSING", { package: "openai" }, { cause });
    },
  );
  return new OpenAI({
    logLevel: "off", // a failure is told, not printed: the print quotes the conversation
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseURL === undefined ? {} : { baseURL }),
    ...(headers === undefined ? {} : { defaultHeaders: headers }),
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
  });
}

/** OpenAI's encodings. The name of a model says which one it has. */
export type OpenAiEncoding = "o200k_base" | "o200k_harmony" | "cl100k_base";

type EncodingModule = { readonly countTokens: (text: string, options: object) => number };

const ENCODINGS: Readonly<Record<OpenAiEncoding, () => Promise<unknown>>> = {
  o200k_base: () => import("gpt-tokenizer/encoding/o200k_base"),
  o200k_harmony: () => import("gpt-tokenizer/encoding/o200k_harmony"),
  cl100k_base: () => import("gpt-tokenizer/encoding/cl100k_base"),
};

/** The vocabulary of an encoding. The package is an optional peer and takes a quarter of a second to load. */
export async function encodingCounter(
  encoding: OpenAiEncoding,
  load: () => Promise<unknown> = ENCODINGS[encoding],
): Promise<(text: string) => number> {
  const { countTokens } = await load().then(
    (module) => module as EncodingModule,
    (cause: unknown) => {
      throw new HoldfastError("SDK_MISSING", { package: "gpt-tokenizer" }, { cause });
    },
  );
  // Text that spells a special token is text; without this it throws.
  const asText = { disallowedSpecial: new Set<string>() };
  return (text) => countTokens(text, asText);
}
