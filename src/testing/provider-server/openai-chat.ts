import { asList, fieldsOf, isFields } from "../../base/fields.ts";
import type { ScriptedAnswer } from "../../records/script.ts";
import { CHAT_FIELDS, unknownField } from "./body-fields.ts";
import {
  argumentsText,
  type Asked,
  askedFor,
  type Body,
  type Dialect,
  instructionsIn,
  listIn,
  pieces,
  type ServerEvent,
  type Telling,
  USAGE,
} from "./dialect.ts";
import { CHAT_PARTS, contentsFault } from "./part-types.ts";
import { openaiCaller, openaiRefusal, offerFault } from "./openai-refusals.ts";

/** OpenAI chat completions. */
export const openaiChatDialect: Dialect = {
  path: /^\/v1\/chat\/completions$/,
  profile: "openai-chat",
  refuseCaller: openaiCaller,
  refuseBody: (body) => refuseBody(body) ?? argumentFault(body),
  messagesOf: (body) => asList(body["messages"]),
  asked,
  streams: (body) => body["stream"] === true,
  whole,
  events,
  refusal: (kind, message) => openaiRefusal(kind, message, "messages"),
  broken: ({ body }) => ({ data: body }),
};

/** A server that only speaks the same language: stricter about the conversation, and it shows its reasoning. */
export const openaiCompatibleDialect: Dialect = {
  ...openaiChatDialect,
  profile: "openai-compatible",
  refuseBody: (body) => refuseBody(body) ?? echoFault(listIn(body["messages"])),
};

/** Servers that only speak the language take what they do not know. */
function argumentFault(body: Body): string | undefined {
  const field = unknownField(body, CHAT_FIELDS);
  return field === undefined ? undefined : `Unrecognized request argument supplied: ${field}`;
}

function echoFault(messages: readonly Body[]): string | undefined {
  const at = messages.findIndex((message) => "reasoning_content" in message);
  return at < 0 ? undefined : `The reasoning_content in messages[${at}] is not allowed: remove it and try again.`;
}

function refuseBody(body: Body): string | undefined {
  if (typeof body["model"] !== "string") return "you must provide a model parameter";
  if (!Array.isArray(body["messages"])) return "Missing required parameter: 'messages'.";
  if (body["messages"].length === 0)
    return "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.";
  if (body["max_tokens"] !== undefined && body["max_completion_tokens"] !== undefined)
    return "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.";
  if (body["stream_options"] !== undefined && body["stream"] !== true)
    return "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
  if (body["tools"] === undefined && body["tool_choice"] !== undefined)
    return "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.";
  const messages = listIn(body["messages"]);
  return toolFault(body["tools"]) ?? messageFault(messages) ?? contentsFault(messages, CHAT_PARTS, "messages");
}

function toolFault(tools: unknown): string | undefined {
  if (tools === undefined) return undefined;
  if (listIn(tools).length === 0)
    return "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.";
  for (const [at, tool] of listIn(tools).entries()) {
    const fault = offerFault(fieldsOf(tool["function"]), `tools[${at}].function`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function messageFault(messages: readonly Body[]): string | undefined {
  for (const [at, message] of messages.entries()) {
    const calls = message["tool_calls"];
    if (Array.isArray(calls) && calls.length === 0)
      return `Invalid 'messages[${at}].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.`;
    const silent = message["content"] === null || message["content"] === undefined;
    const refused = typeof message["refusal"] === "string";
    if (silent && !Array.isArray(calls) && !refused)
      return `Invalid value for 'content': expected a string, got null. (messages[${at}])`;
  }
  return undefined;
}

function asked(body: Body): Asked {
  const { tool_choice: choice, max_tokens, max_completion_tokens: newer = max_tokens, temperature } = body;
  const named = isFields(choice) && isFields(choice["function"]) ? { name: choice["function"]["name"] } : undefined;
  return askedFor({
    instructions: instructionsIn(listIn(body["messages"])),
    toolChoice: named ?? choice,
    maxOutputTokens: newer,
    temperature,
    effort: body["reasoning_effort"],
  });
}

const FINISH = {
  stop: "stop",
  "tool-calls": "tool_calls",
  length: "length",
  refusal: "stop",
  "content-filter": "content_filter",
} as const;

function finishOf({ stop, calls = [] }: ScriptedAnswer): string {
  return FINISH[stop ?? (calls.length > 0 ? "tool-calls" : "stop")];
}

function idOf({ nth }: Telling): string {
  return `chatcmpl-strict${nth}`;
}

function callId({ nth }: Telling, index: number): string {
  return `call_strict${nth}n${index}`;
}

function usageOf({ usage = USAGE }: ScriptedAnswer): object {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  };
}

function whole(answer: ScriptedAnswer, telling: Telling): object {
  const { text, refusal = null, calls = [] } = answer;
  const made = calls.map((call, index) => ({
    id: call.id ?? callId(telling, index),
    type: "function",
    function: { name: call.name, arguments: argumentsText(call) },
  }));
  const content = text ?? (made.length > 0 || refusal !== null ? null : "");
  const shown = telling.profile === "openai-compatible" && answer.reasoning !== undefined;
  const thought = shown ? { reasoning_content: answer.reasoning } : {};
  const message = {
    role: "assistant",
    content,
    ...thought,
    refusal,
    annotations: [],
    ...(made.length > 0 ? { tool_calls: made } : {}),
  };
  return {
    id: idOf(telling),
    object: "chat.completion",
    created: 1,
    model: telling.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(answer) }],
    usage: usageOf(answer),
  };
}

function events(answer: ScriptedAnswer, telling: Telling): readonly ServerEvent[] {
  const shared = { id: idOf(telling), object: "chat.completion.chunk", created: 1, model: telling.model };
  const chunk = (delta: object, finish: string | null = null): ServerEvent => ({
    data: { ...shared, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] },
  });
  const reasoning = telling.profile === "openai-compatible" ? (answer.reasoning ?? "") : "";
  const wantsUsage = fieldsOf(telling.body["stream_options"])["include_usage"] === true;
  return [
    chunk({ role: "assistant", content: "", refusal: null }),
    ...pieces(reasoning).map((reasoning_content) => chunk({ reasoning_content })),
    ...pieces(answer.text ?? "").map((content) => chunk({ content })),
    ...pieces(answer.refusal ?? "").map((refusal) => chunk({ refusal })),
    ...(answer.calls ?? []).flatMap((call, index) => [
      chunk({
        tool_calls: [
          {
            index,
            id: call.id ?? callId(telling, index),
            type: "function",
            function: { name: call.name, arguments: "" },
          },
        ],
      }),
      ...pieces(argumentsText(call)).map((text) => chunk({ tool_calls: [{ index, function: { arguments: text } }] })),
    ]),
    { ...chunk({}, finishOf(answer)), end: true },
    ...(wantsUsage ? [{ data: { ...shared, choices: [], usage: usageOf(answer) }, end: true } as const] : []),
    { data: "[DONE]", end: true },
  ];
}
