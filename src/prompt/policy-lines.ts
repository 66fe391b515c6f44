import type { Mode } from "../catalog/tool.ts";

/** What a model reads in plan mode while somebody can be asked. */
export const PLAN_MODE_INTERVIEW_POLICY_LINE =
  "Plan mode is on: read, think and plan, and change nothing. Where something is unclear, ask with `ask_user` before you present the plan.";

/** What a model reads in plan mode while nobody can be asked. */
export const PLAN_MODE_NO_REQUEST_USER_INPUT_POLICY_LINE =
  "Plan mode is on: read, think and plan, and change nothing. Nobody can be asked now, so write your assumptions into the plan.";

export const POLICY_LINES: readonly string[] = [
  PLAN_MODE_INTERVIEW_POLICY_LINE,
  PLAN_MODE_NO_REQUEST_USER_INPUT_POLICY_LINE,
];

/** The line that a prompt must carry; in act mode none. */
export function policyLine(mode: Mode, requestUserInputEnabled: boolean): string | undefined {
  if (mode === "act") return undefined;
  return requestUserInputEnabled ? PLAN_MODE_INTERVIEW_POLICY_LINE : PLAN_MODE_NO_REQUEST_USER_INPUT_POLICY_LINE;
}
