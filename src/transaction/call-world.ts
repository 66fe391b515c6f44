import { copyJson } from "../base/copy-json.ts";
import { checkJson, type Json, KEPT_LIMITS } from "../base/json.ts";
import { FUNCTION, having, type OptionRules } from "../base/options.ts";
import { asName } from "../base/words.ts";
import type { ExecHost } from "../exec/commands.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import type { Rewindable } from "./call.ts";
import type { CallIds } from "./call-ids.ts";
import type { Deadline } from "./deadline.ts";
import type { EffectBook } from "./effects.ts";
import type { Ending } from "./ending.ts";
import type { Ledger, OpenedCall } from "./ledger.ts";
import type { ToolPolicy } from "./policy.ts";
import type { Tool } from "./tool.ts";

/** A call to run on a state. */
export interface ToolCall {
  readonly id: string;
  /** The name of the tool. */
  readonly name: string;
  /** The arguments. */
  readonly input: unknown;
  /** The provider's id for the call. */
  readonly alias?: string;
  /** The epoch of the catalog that offered the tool. */
  readonly epoch?: number;
  /** The id was made for this call just now, and no other call has it. */
  readonly isNew?: boolean;
  /** The call's opening is already in the journal, written with the answer that asked for it. */
  readonly announced?: boolean;
  /** How the call ends without being run: somebody refused it, or gave its answer. */
  readonly known?: Extract<Ending, { readonly kind: "succeeded" | "denied" | "bad-arguments" | "canceled" }>;
}

/** What every call of one state shares. */
export interface CallWorld {
  readonly state: ExecutionState;
  readonly ledger: Ledger;
  readonly effects: EffectBook;
  readonly ids: CallIds;
  readonly policies: readonly ToolPolicy[];
  tool(name: string): Tool | undefined;
  /** The end of a call is written down, and what it changed, if anything, is true. */
  decided(callId: string): void;
  /** What takes a child back, with all that runs in it. */
  childOf(child: Rewindable): Rewindable;
  readonly exec?: ExecHost;
}

/** Limits on a call, and who follows it. */
export interface CallLimits {
  /** Cancels the call when it aborts. */
  readonly signal?: AbortSignal;
  /** Called with what the tool reports while it works (`call.progress`). */
  readonly onProgress?: (text: string) => void;
  /** The deadline of the whole evaluation. Default: `DEADLINE` among the resources, if there is one. */
  readonly deadline?: Deadline;
}

/** A misspelt deadline would be none. */
export const CALL_LIMITS: OptionRules<CallLimits> = {
  signal: having("addEventListener", "removeEventListener"),
  onProgress: FUNCTION,
  deadline: { wants: "a Deadline", fits: (value) => typeof Object(value).left === "number" },
};

/** Arguments, checked once: what is written down of them, and what everybody who asks for them is given a copy of. */
export interface WrittenInput {
  /** Undefined when none were given. What cannot be kept stays as it came, and nobody gets it. */
  readonly input: unknown;
  /** As the record that opens the call has them; of what cannot be kept, where it fails. */
  readonly args: Json;
  /** Where something else stands than was given. */
  readonly coerced?: readonly string[];
  /** Why they cannot be kept. */
  readonly fault?: string;
}

/** What will be written down, and nobody changes any more. */
export function asWritten(given: unknown): WrittenInput {
  const kept = checkJson(given ?? null, KEPT_LIMITS);
  if (!kept.ok) {
    const { path, detail } = kept.error;
    return { input: given, args: { notJson: path, detail }, fault: `${path} ${detail}` };
  }
  if (given === undefined) return { input: given, args: null };
  const { value, repairs } = kept.value;
  // A field that was undefined reads the same when it is not there.
  const changed = repairs.filter(({ kind }) => kind !== "undefined-dropped").map(({ path }) => asName(path));
  const more = changed.length > MOST_COERCED ? [`${changed.length - MOST_COERCED} more`] : [];
  const coerced = [...changed.slice(0, MOST_COERCED), ...more];
  const args = copyJson(value);
  return { input: args, args, ...(coerced.length === 0 ? {} : { coerced }) };
}

/** Places: whoever looks for the cause has enough of them, and a record stays small. */
const MOST_COERCED = 64;

/** How the record that opens a call tells its arguments. */
export function openedArgs({ args, coerced }: WrittenInput): Pick<OpenedCall, "args" | "coerced"> {
  return { args, ...(coerced === undefined ? {} : { coerced }) };
}

export function specsOf({ tool }: Pick<CallWorld, "tool">) {
  return (name: string, effect: string) => {
    const specs = tool(name)?.effects ?? {};
    return Object.hasOwn(specs, effect) ? specs[effect] : undefined;
  };
}
