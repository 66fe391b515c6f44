import { type CallOptions, clientOptions, loadPeer, type SdkConnection } from "../sdk.ts";

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

/** How to connect. What is left out, the SDK reads from its environment variables. */
export type OpenAiConnection = SdkConnection;

type OpenAiModule = { readonly OpenAI: new (options: object) => OpenAiClient };

/** The official client. The package is an optional peer, so it is loaded with the first question. */
export async function openAiClient(
  connection: OpenAiConnection,
  load: () => Promise<unknown> = () => import("openai"),
): Promise<OpenAiClient> {
  const { OpenAI } = await loadPeer<OpenAiModule>("openai", load);
  return new OpenAI(clientOptions(connection));
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
  const { countTokens } = await loadPeer<EncodingModule>("gpt-tokenizer", load);
  // Text that spells a special token is text; without this it throws.
  const asText = { disallowedSpecial: new Set<string>() };
  return (text) => countTokens(text, asText);
}
