import { type CallOptions, clientOptions, loadPeer, type SdkConnection } from "../sdk.ts";

/**
 * The part of `@anthropic-ai/sdk` that Holdfast uses, by its shape: the package's client fits, and so does a wrapper or
 * a test double.
 */
export interface AnthropicClient {
  readonly messages: { create(body: object, options: CallOptions): PromiseLike<unknown> };
  /** The address, named in the failure when nobody answers. */
  readonly baseURL?: string;
}

/** How to connect. What is left out, the SDK reads from its environment variables. */
export type AnthropicConnection = SdkConnection;

type AnthropicModule = { readonly Anthropic: new (options: object) => AnthropicClient };

/** The official client. The package is an optional peer, so it is loaded with the first question. */
export async function anthropicClient(
  connection: AnthropicConnection,
  load: () => Promise<unknown> = () => import("@anthropic-ai/sdk"),
): Promise<AnthropicClient> {
  const { Anthropic } = await loadPeer<AnthropicModule>("@anthropic-ai/sdk", load);
  return new Anthropic(clientOptions(connection));
}
