import type { ModelRequest } from "../../../contracts/model.ts";
import { writeMessages } from "../../../wire/project.ts";
import { wordOf } from "../../fields.ts";
import { fieldsOf } from "../../../base/fields.ts";
import { wholeSchema, writtenOnce } from "../../offers.ts";
import { mustBeSendable } from "../../send.ts";
import type { SentShape } from "../../sent.ts";
import type { Writing } from "../writing.ts";

/** The body of a response. Nothing is left with the provider (`store: false`): the journal is the only truth. */
export function responsesBody(request: ModelRequest, how: Writing): object {
  const { tools = [], toolChoice, maxOutputTokens, temperature, reasoning } = request;
  const input = withoutUnsealed(writeMessages(request.items, how.profile).messages);
  const offered = tools.length === 0 ? {} : { tools: offers(tools) };
  mustBeSendable({ messages: input, ...offered }, how.profile);
  return {
    model: how.model,
    input,
    ...offered,
    store: false,
    ...(how.sealedReasoning ? { include: ["reasoning.encrypted_content"] } : {}),
    ...(toolChoice === undefined ? {} : { tool_choice: choice(toolChoice) }),
    ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(reasoning === undefined ? {} : { reasoning: { effort: reasoning, summary: "auto" } }),
    ...(how.stream ? { stream: true } : {}),
    ...how.body,
  };
}

/**
 * Reasoning without its seal is only a name for what the provider did not keep, and what followed it goes by a name
 * that is bound to it: "Item 'fc_…' was provided without its required 'reasoning' item".
 */
function withoutUnsealed(messages: readonly object[]): readonly object[] {
  const kept: object[] = [];
  let loose = false;
  for (const message of messages) {
    const { type, encrypted_content: seal } = fieldsOf(message);
    if (type === "reasoning") {
      loose = wordOf(seal) === undefined;
      if (!loose) kept.push(message);
    } else if (loose && "id" in message) {
      const { id: _id, ...free } = message;
      kept.push(free);
    } else {
      loose = false;
      kept.push(message);
    }
  }
  return kept;
}

const offers = writtenOnce(({ name, description, input }) => {
  const described = description === undefined ? {} : { description };
  return { type: "function", name, ...described, parameters: wholeSchema(input), strict: false };
});

/** How a body of this kind is read back. */
export const RESPONSES_SENT: SentShape = {
  described: (tool) => tool,
  schema: "parameters",
  demanded: ({ tool_choice }) => fieldsOf(tool_choice)["name"],
  speaking: ["input", "instructions", "prompt", "previous_response_id", "conversation"],
};

function choice(asked: NonNullable<ModelRequest["toolChoice"]>): unknown {
  return typeof asked === "string" ? asked : { type: "function", name: asked.name };
}
