import type { ModelRequest } from "../../../contracts/model.ts";
import { writeMessages } from "../../../wire/project.ts";
import { fieldsOf } from "../../fields.ts";
import { wholeSchema, writtenOnce } from "../../offers.ts";
import { mustBeSendable } from "../../send.ts";
import type { SentShape } from "../../sent.ts";
import type { Writing } from "../writing.ts";

/** The body of a chat completion. */
export function chatBody(request: ModelRequest, how: Writing): object {
  const { tools = [], toolChoice, maxOutputTokens, temperature, reasoning } = request;
  const written = writeMessages(request.items, how.profile).messages;
  const messages = written.map((message) => asAsked(message, how.echoReasoning));
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
const ANSWER_ONLY = ["annotations"] as const;
/** The names under which servers send reasoning beside the text. Some demand it back, most refuse it. */
const REASONING = ["reasoning_content", "reasoning", "reasoning_details"] as const;

function asAsked(message: object, echoReasoning: boolean): object {
  const unwanted = echoReasoning ? ANSWER_ONLY : [...ANSWER_ONLY, ...REASONING];
  if (!unwanted.some((field) => field in message)) return message;
  return Object.fromEntries(Object.entries(message).filter(([field]) => !unwanted.includes(field as never)));
}

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
