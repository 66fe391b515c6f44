import type { SchemaResult } from "../contracts/schema.ts";
import { checkedBy, unknownField } from "../transaction/checked-by.ts";
import { defineTool, type Tool } from "../transaction/tool.ts";

interface Question {
  readonly question: string;
  readonly options?: readonly string[];
}

/**
 * A tool with which the model asks the user. The call stays open until somebody replies, in this process or a later
 * one. Add it to `tools`.
 */
export const askUser: Tool = {
  ...defineTool<Question>({
    name: "ask_user",
    description: "Ask the user a question and wait for the answer. Use it when only the user can know or decide.",
    access: "read",
    input: checkedBy(validate),
    inputSchema: {
      type: "object",
      properties: {
        question: { type: "string" },
        options: { type: "array", items: { type: "string" }, description: "Answers to choose from, if there are any." },
      },
      required: ["question"],
    },
    run: (_, call) => call.fail("nobody-asked", "Nobody is there to answer."),
  }),
  waitsFor: async () => "answer",
};

/** A person has to read it. */
const LONGEST = 10_000;
const MOST_OPTIONS = 50;

function validate(value: unknown): SchemaResult<Question> {
  const unknown = unknownField(value, ["question", "options"]);
  if (unknown !== undefined) return { issues: [{ message: unknown }] };
  const { question, options } = (value ?? {}) as { readonly question?: unknown; readonly options?: unknown };
  if (typeof question !== "string" || question.trim() === "" || question.length > LONGEST)
    return { issues: [{ message: `must be a string of up to ${LONGEST} characters`, path: ["question"] }] };
  if (options === undefined) return { value: { question } };
  const listed = Array.isArray(options) && options.every((option) => typeof option === "string");
  if (!listed || options.length > MOST_OPTIONS)
    return { issues: [{ message: `must be a list of up to ${MOST_OPTIONS} texts`, path: ["options"] }] };
  return { value: { question, options } };
}
