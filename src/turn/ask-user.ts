import type { SchemaResult } from "../contracts/schema.ts";
import { checkedBy } from "../transaction/checked-by.ts";
import { defineTool, type Tool } from "../transaction/tool.ts";

interface Question {
  readonly question: string;
  readonly options?: readonly string[];
}

/**
 * The model asks, and a person answers: the call stays open until somebody replies, in this process or a later one. Give
 * it to a kernel among its tools.
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

function validate(value: unknown): SchemaResult<Question> {
  const { question, options } = (value ?? {}) as { readonly question?: unknown; readonly options?: unknown };
  if (typeof question !== "string" || question.trim() === "")
    return { issues: [{ message: "must be a text", path: ["question"] }] };
  if (options === undefined) return { value: { question } };
  const listed = Array.isArray(options) && options.every((option) => typeof option === "string");
  if (!listed) return { issues: [{ message: "must be a list of texts", path: ["options"] }] };
  return { value: { question, options } };
}
