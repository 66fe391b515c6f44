import type { ScriptedAnswer, ScriptQuestion } from "../../records/script.ts";

export const QUESTION = "Rename `total` to `sum` everywhere and make the tests pass.";

/** The workspace, as the agent finds it. */
export const FILES: Readonly<Record<string, string>> = {
  "src/cart.ts": "export function total(prices: number[]) {\n  return prices.reduce((a, b) => a + b, 0);\n}\n",
  "src/report.ts": 'import { total } from "./cart.ts";\nexport const line = (p: number[]) => `total ${total(p)}`;\n',
  "src/cart.test.ts": 'import { total } from "./cart.ts";\nexpect(total([1, 2])).toBe(3);\n',
};

interface Step {
  readonly tool: string;
  readonly input: object;
  readonly says: string;
}

/** What the model does, call by call. The process is killed while the seventh is under way; the eighth is its answer. */
export const STEPS: readonly Step[] = [
  { tool: "list_files", input: { folder: "src" }, says: "Let me look around." },
  { tool: "read_file", input: { path: "src/cart.ts" }, says: "This is where it is defined." },
  { tool: "search", input: { text: "total" }, says: "Who uses it?" },
  { tool: "edit_file", input: { path: "src/cart.ts", find: "total", replace: "sum" }, says: "First the definition." },
  { tool: "edit_file", input: { path: "src/report.ts", find: "total", replace: "sum" }, says: "Then its user." },
  { tool: "read_file", input: { path: "src/cart.test.ts" }, says: "And the test?" },
  { tool: "run_tests", input: {}, says: "Let me see what fails." },
  { tool: "run_tests", input: {}, says: "The run was cut off. I run them again." },
  {
    tool: "edit_file",
    input: { path: "src/cart.test.ts", find: "total", replace: "sum" },
    says: "The test needs it too.",
  },
  { tool: "run_tests", input: {}, says: "Once more." },
];

export const KILLED_AT = 6;
export const LAST_WORDS = "Renamed, and all tests pass.";

/** The model's next answer, by how many results the request holds: a model has no memory but the conversation. */
export function answerTo({ request }: ScriptQuestion): ScriptedAnswer {
  const results = JSON.stringify(request).split('"type":"tool_result"').length - 1;
  const step = STEPS[results];
  if (step === undefined) return { text: LAST_WORDS };
  return { text: step.says, calls: [{ name: step.tool, input: step.input as never }] };
}
