import { copyJson } from "../base/copy-json.ts";
import type { Json } from "../base/json.ts";
import { inWords } from "../base/words.ts";
import type { Branch, Stretch } from "../state/branch.ts";
import type { Call } from "./call.ts";
import type { WrittenInput } from "./call-world.ts";
import { type Discarded, type Ending, endingOf } from "./ending.ts";
import { NO_WORDS, objectionTo } from "./validators.ts";
import type { PolicyView, ToolPolicy } from "./policy.ts";
import type { Tool } from "./tool.ts";

export interface Asking {
  readonly tool: Tool;
  readonly written: WrittenInput;
  readonly call: PolicyView["call"];
}

export type Admitted =
  | { readonly ok: true; readonly view: PolicyView }
  | { readonly ok: false; readonly ending: Ending };

/** Arguments, then policies: what does not pass never reaches the handler. */
export async function admit(
  { tool, written, call }: Asking,
  branch: Branch,
  policies: readonly ToolPolicy[],
): Promise<Admitted> {
  const parsed = await parsedBy(tool, written);
  if (!parsed.ok) return { ok: false, ending: { kind: "bad-arguments", message: parsed.message } };
  const view: PolicyView = { tool, input: parsed.input, call, get: (slice) => branch.get(slice) };
  const message = firstDenial(policies, (policy) => policy.check(view));
  return message === undefined ? { ok: true, view } : { ok: false, ending: { kind: "denied", message } };
}

/** What ran must be what was written down: arguments that cannot be kept reach nobody. */
export async function parsedBy(tool: Tool, { input, fault }: WrittenInput): ReturnType<Tool["parse"]> {
  if (fault !== undefined) return { ok: false, message: `The arguments cannot be kept: ${fault}` };
  // Whoever asks has their own: what one makes of them would otherwise be what the next is asked for.
  return tool.parse(input === undefined ? undefined : copyJson(input as Json));
}

/** Whether what was admitted may still commit. Only from inside the gate. */
export function readmit(
  views: readonly PolicyView[],
  policies: readonly ToolPolicy[],
  changes: (part: string) => boolean,
): Discarded | undefined {
  for (const view of views) {
    const message = firstDenial(policies, (policy) => policy.recheck?.(view, changes));
    if (message !== undefined) return { kind: "denied", message };
  }
  return undefined;
}

/** Runs an admitted call's handler; after a success the policies note it, to be committed with it. */
export async function handle(
  view: PolicyView,
  branch: Branch,
  policies: readonly ToolPolicy[],
  call: Call,
  by?: Stretch,
): Promise<Ending> {
  const { tool, input } = view;
  const ending = endingOf(await tool.run(input, call));
  if (ending.kind !== "succeeded") return ending;
  if (tool.validators.length > 0) {
    const objection = await objectionTo(ending.value, tool.validators, { input, attempt: call.attempt });
    if (objection !== undefined) return objection;
  }
  remember(view, ending.value, branch, policies, by);
  return ending;
}

export function remember(
  view: PolicyView,
  result: Parameters<NonNullable<ToolPolicy["onResult"]>>[1],
  branch: Branch,
  policies: readonly ToolPolicy[],
  by?: Stretch,
): void {
  for (const policy of policies) for (const event of policy.onResult?.(view, result) ?? []) branch.dispatch(event, by);
}

function firstDenial(
  policies: readonly ToolPolicy[],
  ask: (policy: ToolPolicy) => string | undefined,
): string | undefined {
  for (const policy of policies) {
    try {
      const denial: unknown = ask(policy);
      if (denial === undefined) continue;
      return typeof denial === "string" ? denial : `The policy ${policy.name} could not be checked: ${NO_WORDS}`;
    } catch (error) {
      return `The policy ${policy.name} could not be checked: ${inWords(error)}`;
    }
  }
  return undefined;
}
