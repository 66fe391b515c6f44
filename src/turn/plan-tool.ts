import type { SchemaResult } from "../contracts/schema.ts";
import { Plan } from "../state/default-slices.ts";
import { checkedFields, type Fields, wrong } from "../transaction/checked-by.ts";
import { defineTool, type Tool } from "../transaction/tool.ts";

const STATUSES = ["active", "done", "abandoned"] as const;
const STEP_STATUSES = ["todo", "doing", "done"] as const;

/**
 * A tool with which the model writes down its plan and how far it has come. The plan is part of the state: shown in
 * every request while it is active, undone with a failed call, rewound and forked like everything else. It changes no
 * file, so it is offered in plan mode, too. Add it to `tools`.
 */
export const planTool: Tool = defineTool<Plan>({
  name: "plan",
  description:
    "Write down or update your plan: the objective, and the steps with the status of each. This replaces " +
    "the previous plan. Use it for work of several steps, and whenever a step is done.",
  access: "read",
  input: checkedFields(["objective", "steps", "status"], validate),
  inputSchema: {
    type: "object",
    properties: {
      objective: { type: "string" },
      steps: {
        type: "array",
        items: {
          type: "object",
          properties: { title: { type: "string" }, status: { type: "string", enum: STEP_STATUSES } },
          required: ["title", "status"],
        },
      },
      status: { type: "string", enum: STATUSES, description: "Of the whole plan. Default: active." },
    },
    required: ["objective", "steps"],
  },
  run: (plan, call) => {
    call.dispatch(Plan.set(plan));
    const done = (plan.steps ?? []).filter(({ status }) => status === "done").length;
    return `The plan is ${plan.status}: ${done} of ${plan.steps?.length ?? 0} steps done.`;
  },
});

const MOST_STEPS = 100;
/** It stands in every request. */
const LONGEST = 1_000;

function isWords(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "" && value.length <= LONGEST;
}

function validate({ objective, steps = [], status = "active" }: Fields): SchemaResult<Plan> {
  if (!isWords(objective)) return wrong("objective", `must be a string of up to ${LONGEST} characters`);
  if (!isOneOf(STATUSES, status)) return wrong("status", `must be one of ${STATUSES.join(", ")}`);
  if (!Array.isArray(steps) || steps.length > MOST_STEPS)
    return wrong("steps", `must be a list of up to ${MOST_STEPS}`);
  const read = steps.map(stepOf);
  const bad = read.indexOf(undefined);
  if (bad !== -1)
    return wrong(
      `steps[${bad}]`,
      `must be { title, status }: up to ${LONGEST} characters, and one of ${STEP_STATUSES.join(", ")}`,
    );
  return { value: { objective, status, steps: read.filter((step) => step !== undefined) } };
}

function stepOf(value: unknown): NonNullable<Plan["steps"]>[number] | undefined {
  const { title, status } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return isWords(title) && isOneOf(STEP_STATUSES, status) ? { title, status } : undefined;
}

function isOneOf<const T extends string>(values: readonly T[], value: unknown): value is T {
  return (values as readonly unknown[]).includes(value);
}
