import type { Json } from "../base/json.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import type { Call } from "./call.ts";
import type { CallLimits, ToolCall } from "./call-world.ts";
import type { CallOutcome } from "./outcome.ts";
import type { PendingCall } from "./pending.ts";
import type { Tool } from "./tool.ts";
import { Transactions } from "./transactions.ts";

/** The seed's name for `Call`. */
export type ToolContext = Call;

/** The result of a call in the seed's shape. */
export interface ToolResult {
  readonly success: boolean;
  readonly value: Json;
  readonly message: string;
}

/** Options of `runTool`. */
export interface RunToolOptions extends CallLimits {
  /** Tools to add before the call runs. */
  readonly tools?: readonly Tool[];
}

/**
 * Runs one call as a transaction on a state. Whatever the tool does is returned as an outcome. Only a request to see
 * more of the prompt, and the end of the whole evaluation, are thrown: they concern the loop that drives the run.
 */
export async function runTool(
  on: ExecutionState | Transactions,
  call: ToolCall,
  options: RunToolOptions = {},
): Promise<CallOutcome> {
  const transactions = transactionsOf(on);
  const { tools = [], ...limits } = options;
  transactions.add(tools);
  const outcome = await transactions.run(call, limits);
  if (outcome.expansion !== undefined) throw outcome.expansion;
  return outcome;
}

/** Opens a call for a host that runs the tool itself. If it is never committed, it is rolled back. */
export function beginCall(
  on: ExecutionState | Transactions,
  call: Omit<ToolCall, "input"> & { readonly input?: unknown },
  limits: CallLimits = {},
): Promise<PendingCall> {
  return transactionsOf(on).begin({ input: null, ...call }, limits);
}

/** The seed's runner. The same call gives the same state, whichever loop drives it. */
export class ToolRunner {
  readonly executionState: ExecutionState;
  readonly toolRegistry: ReadonlyMap<string, Tool>;
  readonly promptName: string;

  constructor(options: {
    readonly executionState: ExecutionState;
    readonly toolRegistry: ReadonlyMap<string, Tool>;
    readonly promptName: string;
  }) {
    this.executionState = options.executionState;
    this.toolRegistry = options.toolRegistry;
    this.promptName = options.promptName;
  }

  /** Runs one call and returns its result in the seed's shape. */
  async execute(toolCall: ToolCall, limits: CallLimits = {}): Promise<ToolResult> {
    const tools = [...this.toolRegistry.values()];
    const { ok, output } = await runTool(this.executionState, toolCall, { ...limits, tools });
    return {
      success: ok,
      value: ok ? output : null,
      message: typeof output === "string" ? output : JSON.stringify(output),
    };
  }
}

function transactionsOf(on: ExecutionState | Transactions): Transactions {
  return on instanceof Transactions ? on : Transactions.of(on);
}
