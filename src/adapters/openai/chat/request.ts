import type { ModelRequest } from "../../../contracts/model.ts";
import {
  holds,
  isThinking,
  isThought,
  isUnsealed,
  THOUGHT_FIELDS,
  thinkingIn,
} from "../../../wire/codecs/chat-thoughts.ts";
import { asList, type Fields, fieldsOf } from "../../../base/fields.ts";
import { writeMessages } from "../../../wire/project.ts";
import { NO_TEXT } from "../../../wire/text.ts";
import { wordOf } from "../../fields.ts";
import { wholeSchema, writtenOnce } from "../../offers.ts";
import { mustBeSendable } from "../../send.ts";
import type { SentShape } from "../../sent.ts";
import type { Writing } from "../writing.ts";

/** The body of a chat completion. */
export function chatBody(request: ModelRequest, how: Writing): object {
  const { tools = [], toolChoice, maxOutputTokens, temperature, reasoning } = request;
  const written = writeMessages(request.items, how.profile).messages;
  const messages = written.map((message) => asAsked(message, how));
  const offered = tools.length === 0 ? {} : { tools: offers(tools) };
  mustBeSendable({ messages, ...offered }, how.profile);
  return {
    model: how.model,
    messages,
    ...offered,
    ...(toolChoice === undefined ? {} : { tool_choice: choice(toolChoice) }),
    ...(maxOutputTokens === undefined ? {} : { [how.limitField]: maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(reasoning === undefined ? {} : { reasoning_effort: reasoning }),
    ...(how.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    ...how.body,
  };
}

/** Fields that an answer has and a request may not. */
const ANSWER_ONLY: readonly string[] = ["annotations"];
/** Nor reasoning beside the text: some servers demand it back, most refuse it. */
const WITHOUT_REASONING: readonly string[] = [...ANSWER_ONLY, ...THOUGHT_FIELDS];

function asAsked(message: object, { echoReasoning, profile }: Writing): object {
  const fields = fieldsOf(message);
  const details = asList(fields["reasoning_details"]);
  const isWhole = ![...details, ...thinkingIn(fields["content"])].some(isUnsealed);
  if (echoReasoning && isWhole) return without(ANSWER_ONLY, message);
  const kept = without(WITHOUT_REASONING, message);
  if (!isThought(fields)) return kept;
  const sealed = echoReasoning ? details.filter((detail) => !isUnsealed(detail)) : [];
  const sent = sealed.length === 0 ? kept : { ...kept, reasoning_details: sealed };
  return { ...sent, content: saidIn(fieldsOf(sent), echoReasoning ? isUnsealed : isThinking, profile.refusesBlank) };
}

function without(unwanted: readonly string[], message: object): object {
  if (!unwanted.some((field) => field in message)) return message;
  return Object.fromEntries(Object.entries(message).filter(([field]) => !unwanted.includes(field)));
}

/** What is said beside a thought that stays here. Nothing at all would be refused, in every later request. */
function saidIn(message: Fields, stays: (part: unknown) => boolean, refusesBlank: boolean): unknown {
  const { content } = message;
  const parts = asList(content).filter((part) => !stays(part));
  const texts = parts.map((part) => wordOf(fieldsOf(part)["text"]));
  const said = !Array.isArray(content) ? content : texts.includes(undefined) ? parts : texts.join("");
  if (holds(said)) return said;
  if (BESIDE.some((field) => holds(message[field]))) return null;
  return refusesBlank ? NO_TEXT : "";
}

/** Where an answer may stand instead of its content. */
const BESIDE = ["tool_calls", "refusal", "audio", "function_call", "reasoning_details"];

const offers = writtenOnce(({ name, description, input }) => {
  const described = description === undefined ? {} : { description };
  return { type: "function", function: { name, ...described, parameters: wholeSchema(input) } };
});

/** How a body of this kind is read back. */
export const CHAT_SENT: SentShape = {
  described: (tool) => fieldsOf(tool)["function"],
  schema: "parameters",
  demanded: ({ tool_choice }) => fieldsOf(fieldsOf(tool_choice)["function"])["name"],
  speaking: ["messages", "functions", "function_call", "web_search_options", "prediction"],
};

function choice(asked: NonNullable<ModelRequest["toolChoice"]>): unknown {
  return typeof asked === "string" ? asked : { type: "function", function: { name: asked.name } };
}
