import { asList, fieldsOf, isFields } from "../../base/fields.ts";
import type { ScriptedAnswer } from "../../records/script.ts";
import {
  argumentsText,
  type Asked,
  askedFor,
  type Body,
  type Dialect,
  listIn,
  nameIn,
  pieces,
  type Refusal,
  type RefusalKind,
  type ServerEvent,
  type Telling,
  textsIn,
  USAGE,
} from "./dialect.ts";
import { anthropicBodyFault } from "./anthropic-demands.ts";
import { seal } from "./seal.ts";

/** Anthropic messages. */
export const anthropicDialect: Dialect = {
  path: /^\/v1\/messages$/,
  profile: "anthropic",
  refuseCaller,
  refuseBody: anthropicBodyFault,
  messagesOf: (body) => asList(body["messages"]),
  asked,
  streams: (body) => body["stream"] === true,
  whole: (answer, telling) => message(answer, telling, blocks(answer, telling)),
  events,
  refusal,
  broken: ({ body }) => ({ event: "error", data: body }),
};

/** The key comes as a bearer token from today's SDK, and as a header of its own from older ones. */
function refuseCaller(headers: Headers, apiKey: string | undefined): Refusal | undefined {
  const given = headers.get("x-api-key") ?? headers.get("authorization")?.replace(/^Bearer /, "");
  if (given === undefined) return refusal("not-allowed", "x-api-key header is required");
  if (apiKey !== undefined && given !== apiKey) return refusal("not-allowed", "invalid x-api-key");
  return headers.get("anthropic-version") === null
    ? refusal("refused-request", "anthropic-version: header is required")
    : undefined;
}

const CHOICES: Readonly<Record<string, string>> = { auto: "auto", none: "none", any: "required" };

function asked(body: Body): Asked {
  const { system, tool_choice: choice, max_tokens, temperature, thinking, output_config } = body;
  const { type, name } = fieldsOf(choice);
  return askedFor({
    instructions: typeof system === "string" ? system : textsIn(listIn(system)),
    toolChoice: type === "tool" ? { name } : CHOICES[nameIn(type)],
    maxOutputTokens: max_tokens,
    temperature,
    effort: thinking === undefined && output_config === undefined ? undefined : [thinking, output_config],
  });
}

/** How Anthropic says no. */
const WORDS: Readonly<Record<RefusalKind, readonly [status: number, type: string, message: string]>> = {
  "rate-limited": [
    429,
    "rate_limit_error",
    "This request would exceed your account's rate limit. Please try again later.",
  ],
  "out-of-quota": [402, "billing_error", "Your credit balance is too low to access the Anthropic API."],
  overloaded: [529, "overloaded_error", "Overloaded"],
  "provider-broken": [500, "api_error", "Internal server error"],
  "too-long": [400, "invalid_request_error", "prompt is too long: 205104 tokens > 200000 maximum"],
  "refused-request": [400, "invalid_request_error", "The request body is not valid JSON."],
  "not-allowed": [401, "authentication_error", "invalid x-api-key"],
};

function refusal(kind: RefusalKind, said: string | undefined): Refusal {
  const [status, type, message] = WORDS[kind];
  return {
    status,
    headers: {},
    body: { type: "error", error: { type, message: said ?? message }, request_id: "req_strict" },
  };
}

const STOPS = {
  stop: "end_turn",
  "tool-calls": "tool_use",
  length: "max_tokens",
  refusal: "refusal",
  "content-filter": "refusal",
} as const;

function stopOf({ stop, refusal: refused, calls = [] }: ScriptedAnswer): string {
  return STOPS[stop ?? (refused !== undefined ? "refusal" : calls.length > 0 ? "tool-calls" : "stop")];
}

/** What is streamed as an empty block and then filled. `text` holds arguments until they are parsed. */
interface Planned {
  readonly block: Body;
  readonly delta: (text: string) => Body;
  readonly text: string;
  readonly signature?: string;
  readonly whole: Body;
}

function blocks(
  { reasoning, text, refusal: refused, calls = [] }: ScriptedAnswer,
  { nth }: Telling,
): readonly Planned[] {
  const spoken = refused ?? text;
  return [
    ...(reasoning === undefined ? [] : [thinkingBlock(reasoning)]),
    ...(spoken === undefined ? [] : [textBlock(spoken)]),
    ...calls.map((call, index) => {
      const id = call.id ?? `toolu_strict${nth}n${index}`;
      const shared = { type: "tool_use", id, name: call.name, caller: { type: "direct" } };
      const json = argumentsText(call);
      return {
        block: { ...shared, input: {} },
        delta: (partial_json: string) => ({ type: "input_json_delta", partial_json }),
        text: json === "{}" ? "" : json,
        whole: { ...shared, input: parsed(json) },
      };
    }),
  ];
}

function thinkingBlock(thinking: string): Planned {
  return {
    block: { type: "thinking", thinking: "", signature: "" },
    delta: (text) => ({ type: "thinking_delta", thinking: text }),
    text: thinking,
    signature: seal(thinking),
    whole: { type: "thinking", thinking, signature: seal(thinking) },
  };
}

function textBlock(text: string): Planned {
  const delta = (piece: string) => ({ type: "text_delta", text: piece });
  return {
    block: { type: "text", text: "", citations: null },
    delta,
    text,
    whole: { type: "text", text, citations: null },
  };
}

/** A whole message has arguments as a value; text that is none can only be streamed. */
function parsed(json: string): unknown {
  if (json.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(json);
    return isFields(value) ? value : json;
  } catch {
    return json;
  }
}

function message(answer: ScriptedAnswer, { nth, model }: Telling, content: readonly Planned[]): Body {
  const { usage = USAGE } = answer;
  return {
    id: `msg_strict${nth}`,
    type: "message",
    role: "assistant",
    model,
    content: content.map((planned) => planned.whole),
    stop_reason: stopOf(answer),
    stop_sequence: null,
    usage: { input_tokens: usage.input, output_tokens: usage.output, ...NO_CACHE },
  };
}

const NO_CACHE = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0 } as const;

function events(answer: ScriptedAnswer, telling: Telling): readonly ServerEvent[] {
  const { usage = USAGE } = answer;
  const planned = blocks(answer, telling);
  const start = {
    ...message(answer, telling, []),
    stop_reason: null,
    usage: { input_tokens: usage.input, output_tokens: 1, ...NO_CACHE },
  };
  const said: readonly Body[] = [
    { type: "message_start", message: start },
    { type: "ping" },
    ...planned.flatMap((block, index) => blockEvents(block, index)),
    {
      type: "message_delta",
      delta: { stop_reason: stopOf(answer), stop_sequence: null },
      usage: { output_tokens: usage.output },
    },
    { type: "message_stop" },
  ];
  return said.map((data, at) => ({
    event: String(data["type"]),
    data,
    ...(at >= said.length - 2 ? { end: true } : {}),
  }));
}

function blockEvents({ block, delta, text, signature }: Planned, index: number): readonly Body[] {
  const seals = signature === undefined ? [] : [{ type: "signature_delta", signature }];
  return [
    { type: "content_block_start", index, content_block: block },
    ...[...pieces(text).map(delta), ...seals].map((one) => ({ type: "content_block_delta", index, delta: one })),
    { type: "content_block_stop", index },
  ];
}
