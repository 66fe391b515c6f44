import type { SchemaResult } from "../contracts/schema.ts";
import { checkedFields, type Fields, wrong } from "../transaction/checked-by.ts";
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
    input: checkedFields(["question", "options"], validate),
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

function validate({ question, options }: Fields): SchemaResult<Question> {
  if (typeof question !== "string" || question.trim() === "" || question.length > LONGEST)
    return wrong("question", `must be a string of up to ${LONGEST} characters`);
  if (options === undefined) return { value: { question } };
  const listed = Array.isArray(options) && options.every((option) => typeof option === "string");
  if (!listed || options.length > MOST_OPTIONS)
    return wrong("options", `must be a list of up to ${MOST_OPTIONS} texts`);
  return { value: { question, options } };
}
