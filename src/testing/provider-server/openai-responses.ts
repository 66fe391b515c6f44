import { isFields } from "../../base/fields.ts";
import type { ScriptedAnswer, ScriptedCall } from "../../records/script.ts";
import { RESPONSES_FIELDS, unknownField } from "./body-fields.ts";
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
import { contentsFault, RESPONSES_PARTS } from "./part-types.ts";
import { openaiCaller, openaiRefusal, offerFault } from "./openai-refusals.ts";
import { isSealed, seal } from "./seal.ts";

/** OpenAI responses. */
export const openaiResponsesDialect: Dialect = {
  path: /^\/v1\/responses$/,
  profile: "openai-responses",
  refuseCaller: openaiCaller,
  refuseBody,
  messagesOf: (body) => {
    const { input } = body;
    return Array.isArray(input) ? input : [{ role: "user", content: input }];
  },
  asked,
  streams: (body) => body["stream"] === true,
  whole: (answer, telling) => response(answer, telling, output(answer, telling)),
  events,
  refusal: (kind, message) => openaiRefusal(kind, message, "input"),
  broken: ({ body }) => ({ event: "error", data: { ...(body as { readonly error: object }).error, type: "error" } }),
};

function asked(body: Body): Asked {
  const { instructions, tool_choice: choice, max_output_tokens, temperature, reasoning } = body;
  const told = typeof instructions === "string" ? [instructions] : [];
  return askedFor({
    instructions: [...told, instructionsIn(listIn(body["input"]))].join("\n"),
    toolChoice: isFields(choice) ? { name: choice["name"] } : choice,
    maxOutputTokens: max_output_tokens,
    temperature,
    effort: isFields(reasoning) ? reasoning["effort"] : undefined,
  });
}

function refuseBody(body: Body): string | undefined {
  if (typeof body["model"] !== "string") return "Missing required parameter: 'model'.";
  if (body["input"] === undefined) return "Missing required parameter: 'input'.";
  const unknown = unknownField(body, RESPONSES_FIELDS);
  if (unknown !== undefined) return `Unknown parameter: '${unknown}'.`;
  for (const [at, tool] of listIn(body["tools"]).entries()) {
    if (tool["type"] !== "function") continue;
    const fault = offerFault(tool, `tools[${at}]`);
    if (fault !== undefined) return fault;
  }
  for (const [at, item] of listIn(body["input"]).entries()) {
    const fault = item["type"] === "reasoning" ? reasoningFault(item, at, body["store"] !== false) : undefined;
    if (fault !== undefined) return fault;
  }
  const items = listIn(body["input"]);
  const messages = items.map((item) => ((item["type"] ?? "message") === "message" ? item : {}));
  return contentsFault(messages, RESPONSES_PARTS, "input");
}

/** Without `store` a reasoning item is only as good as its sealed content. */
function reasoningFault(item: Body, at: number, stored: boolean): string | undefined {
  const given = item["encrypted_content"];
  if (given === undefined || given === null) {
    if (stored) return undefined;
    return `Item with id '${String(item["id"])}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`;
  }
  const text = listIn(item["summary"])
    .map((part) => String(part["text"]))
    .join("\n");
  if (isSealed(`${String(item["id"])} ${text}`, given)) return undefined;
  return `The encrypted content for item ${String(item["id"])} could not be verified. (input[${at}])`;
}

/** The items of an answer, whole. */
function output(answer: ScriptedAnswer, telling: Telling): readonly Body[] {
  const { reasoning, text, refusal, calls = [] } = answer;
  return [
    ...(reasoning === undefined ? [] : [reasoningItem(reasoning, telling)]),
    ...(text === undefined ? [] : [messageItem({ type: "output_text", text, annotations: [] }, telling)]),
    ...(refusal === undefined ? [] : [messageItem({ type: "refusal", refusal }, telling)]),
    ...calls.map((call, index) => callItem(call, index, telling)),
  ];
}

function reasoningItem(text: string, { nth, body }: Telling): Body {
  const id = `rs_strict${nth}`;
  const included = Array.isArray(body["include"]) && body["include"].includes("reasoning.encrypted_content");
  const summary = [{ type: "summary_text", text }];
  return { id, type: "reasoning", summary, ...(included ? { encrypted_content: seal(`${id} ${text}`) } : {}) };
}

function messageItem(part: Body, { nth }: Telling): Body {
  return { id: `msg_strict${nth}`, type: "message", status: "completed", role: "assistant", content: [part] };
}

function callItem(call: ScriptedCall, index: number, { nth }: Telling): Body {
  const ids = { id: `fc_strict${nth}n${index}`, call_id: call.id ?? `call_strict${nth}n${index}` };
  return { ...ids, type: "function_call", status: "completed", name: call.name, arguments: argumentsText(call) };
}

const INCOMPLETE = { length: "max_output_tokens", "content-filter": "content_filter" } as const;

function response(answer: ScriptedAnswer, { nth, model }: Telling, items: readonly Body[], status?: string): Body {
  const { stop = "stop", usage = USAGE } = answer;
  const why = stop === "length" || stop === "content-filter" ? INCOMPLETE[stop] : undefined;
  return {
    id: `resp_strict${nth}`,
    object: "response",
    created_at: 1,
    model,
    status: status ?? (why === undefined ? "completed" : "incomplete"),
    error: null,
    incomplete_details: status !== undefined || why === undefined ? null : { reason: why },
    output: items,
    usage:
      status === undefined
        ? {
            input_tokens: usage.input,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens: usage.output,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: usage.input + usage.output,
          }
        : null,
  };
}

function events(answer: ScriptedAnswer, telling: Telling): readonly ServerEvent[] {
  const begun = response(answer, telling, [], "in_progress");
  const items = output(answer, telling);
  const last = answer.stop === "length" || answer.stop === "content-filter" ? "incomplete" : "completed";
  const said: readonly (readonly [string, Body])[] = [
    ["response.created", { response: begun }],
    ["response.in_progress", { response: begun }],
    ...items.flatMap(itemEvents),
    [`response.${last}`, { response: response(answer, telling, items) }],
  ];
  return said.map(([event, data], at) => ({
    event,
    data: { type: event, sequence_number: at, ...data },
    ...(at === said.length - 1 ? { end: true } : {}),
  }));
}

/** How each kind of item is streamed: opened empty, filled piece by piece, closed whole. */
function itemEvents(item: Body, output_index: number): readonly (readonly [string, Body])[] {
  const at = { item_id: item["id"], output_index };
  return [
    ["response.output_item.added", { output_index, item: emptied(item) }],
    ...fillings(item, at),
    ["response.output_item.done", { output_index, item }],
  ];
}

function emptied(item: Body): Body {
  const status = item["type"] === "reasoning" ? {} : { status: "in_progress" };
  if (item["type"] === "function_call") return { ...item, ...status, arguments: "" };
  if (item["type"] === "message") return { ...item, ...status, content: [] };
  const { encrypted_content: _seal, ...open } = item;
  return { ...open, summary: [] };
}

function fillings(item: Body, at: Body): readonly (readonly [string, Body])[] {
  if (item["type"] === "function_call") {
    const text = String(item["arguments"]);
    return [
      ...deltas("response.function_call_arguments", text, at),
      ["response.function_call_arguments.done", { ...at, name: item["name"], arguments: text }],
    ];
  }
  if (item["type"] === "reasoning") {
    const [part = {}] = listIn(item["summary"]);
    const where = { ...at, summary_index: 0 };
    const text = String(part["text"]);
    return [
      ["response.reasoning_summary_part.added", { ...where, part: { type: "summary_text", text: "" } }],
      ...deltas("response.reasoning_summary_text", text, where),
      ["response.reasoning_summary_text.done", { ...where, text }],
      ["response.reasoning_summary_part.done", { ...where, part }],
    ];
  }
  const [part = {}] = listIn(item["content"]);
  const where = { ...at, content_index: 0 };
  const field = part["type"] === "refusal" ? "refusal" : "text";
  const name = field === "refusal" ? "response.refusal" : "response.output_text";
  const text = String(part[field]);
  return [
    ["response.content_part.added", { ...where, part: { ...part, [field]: "" } }],
    ...deltas(name, text, where),
    [`${name}.done`, { ...where, [field]: text }],
    ["response.content_part.done", { ...where, part }],
  ];
}

function deltas(name: string, text: string, at: Body): readonly (readonly [string, Body])[] {
  return pieces(text).map((delta) => [`${name}.delta`, { ...at, delta }] as const);
}
