import { HoldfastError } from "../../base/errors.ts";

/** The part of the `openai` package that is used, by shape: its client fits, and so does a wrapper or a double. */
export interface OpenAiClient {
  readonly chat: { readonly completions: { create(body: object, options: CallOptions): PromiseLike<unknown> } };
  readonly responses: { create(body: object, options: CallOptions): PromiseLike<unknown> };
}

export interface CallOptions {
  readonly signal: AbortSignal;
  /** Always 0: a retry that nobody sees may ask twice what was already answered. */
  readonly maxRetries: number;
}

/** Where and as whom to ask; what is left out is read by the SDK from its environment variables. */
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
