import type { Branch } from "../state/branch.ts";
import type { Call } from "./call.ts";
import { type Ending, endingOf } from "./ending.ts";
import { objectionTo } from "./validators.ts";
import type { PolicyView, ToolPolicy } from "./policy.ts";
import type { Tool } from "./tool.ts";

export type Admitted =
  | { readonly ok: true; readonly view: PolicyView }
  | { readonly ok: false; readonly ending: Ending };

/** Arguments, then policies: what does not pass never reaches the handler. */
export async function admit(
  tool: Tool,
  input: unknown,
  branch: Branch,
  policies: readonly ToolPolicy[],
): Promise<Admitted> {
  const parsed = await tool.parse(input);
  if (!parsed.ok) return { ok: false, ending: { kind: "bad-arguments", message: parsed.message } };
  const view: PolicyView = { tool, input: parsed.input, get: (slice) => branch.get(slice) };
  for (const policy of policies) {
    const denial = denialBy(policy, view);
    if (denial !== undefined) return { ok: false, ending: { kind: "denied", message: denial } };
  }
  return { ok: true, view };
}

/** Runs an admitted call's handler; after a success the policies note it, to be committed with it. */
export async function handle(
  { tool, input, get }: PolicyView,
  branch: Branch,
  policies: readonly ToolPolicy[],
  call: Call,
): Promise<Ending> {
  const ending = endingOf(await tool.run(input, call));
  if (ending.kind !== "succeeded") return ending;
  const objection = await objectionTo(ending.value, tool.validators, { input, attempt: call.attempt });
  if (objection !== undefined) return objection;
  remember({ tool, input, get }, ending.value, branch, policies);
  return ending;
}

export function remember(
  view: PolicyView,
  result: Parameters<NonNullable<ToolPolicy["onResult"]>>[1],
  branch: Branch,
  policies: readonly ToolPolicy[],
): void {
  for (const policy of policies) for (const event of policy.onResult?.(view, result) ?? []) branch.dispatch(event);
}

function denialBy(policy: ToolPolicy, view: PolicyView): string | undefined {
  try {
    return policy.check(view);
  } catch (error) {
    return `The policy ${policy.name} could not be checked: ${error instanceof Error ? error.message : String(error)}`;
  }
}
