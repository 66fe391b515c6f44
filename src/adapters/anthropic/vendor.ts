import { HoldfastError } from "../../base/errors.ts";

/**
 * The part of `@anthropic-ai/sdk` that Holdfast uses, by its shape: the package's client fits, and so does a wrapper or
 * a test double.
 */
export interface AnthropicClient {
  readonly messages: { create(body: object, options: CallOptions): PromiseLike<unknown> };
  /** The address, named in the failure when nobody answers. */
  readonly baseURL?: string;
}

interface CallOptions {
  readonly signal: AbortSignal;
  /** Always 0: a retry that nobody sees may ask twice what was already answered. */
  readonly maxRetries: number;
}

/** How to connect. What is left out, the SDK reads from its environment variables. */
export interface AnthropicConnection {
  readonly apiKey?: string;
  readonly baseURL?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

type AnthropicModule = { readonly Anthropic: new (options: object) => AnthropicClient };

/** The official client. The package is an optional peer, so it is loaded with the first question. */
export async function anthropicClient(
  { apiKey, baseURL, headers, timeoutMs }: AnthropicConnection,
  load: () => Promise<unknown> = () => import("@anthropic-ai/sdk"),
): Promise<AnthropicClient> {
  const { Anthropic } = await load().then(
    (module) => module as AnthropicModule,
    (cause: unknown) => {
      throw new HoldfastError("SDK_MISSING", { package: "@anthropic-ai/sdk" }, { cause });
    },
  );
  return new Anthropic({
    logLevel: "off", // a failure is told, not printed: the print quotes the conversation
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseURL === undefined ? {} : { baseURL }),
    ...(headers === undefined ? {} : { defaultHeaders: headers }),
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
  });
}
