import { HoldfastError } from "../base/errors.ts";
import { DEFAULT_SLICES } from "../state/default-slices.ts";
import { anyPartOf } from "../state/slice.ts";
import type { Tool } from "../transaction/tool.ts";
import type { SessionOptions } from "./holdfast-options.ts";
import { openSectionsTool } from "./open-sections.ts";
import { recallTool } from "./recall-tool.ts";
import { type RememberGround, rememberTool } from "./remember-tool.ts";
import { runCodeTool } from "./run-code-tool.ts";
import type { SessionContext } from "./session-context.ts";
import type { SessionHistory } from "./session-history.ts";
import type { ReadContent } from "./show-media.ts";
import { type Lender, subAgentTool } from "./sub-agent.ts";

/** What the kernel's own tools work on. */
interface KernelToolsGround extends RememberGround {
  readonly context: SessionContext;
  readonly read: ReadContent;
  readonly lender: Lender;
  /** What programs read, where there are any. */
  readonly history: SessionHistory | undefined;
  /** Every tool of the session, these among them. */
  readonly tools: () => readonly Tool[];
}

/**
 * What the kernel itself lets a model do: open sections of the prompt, read again what was left out, remember, give tasks
 * to agents, run programs.
 */
export function kernelTools(options: SessionOptions, ground: KernelToolsGround): readonly Tool[] {
  const { prompt, context: { recall = true } = {}, writeback: { remember } = {}, agents = [] } = options;
  const { code: runner, slices = [] } = options;
  const { context, read, lender, history, tools } = ground;
  const readable = [...DEFAULT_SLICES, ...slices].map(anyPartOf);
  return [
    prompt === undefined ? undefined : openSectionsTool(prompt),
    recall ? recallTool((request) => context.recall(request), read) : undefined,
    remember === undefined ? undefined : rememberTool(ground, remember === true ? {} : remember),
    ...agents.map((agent) => subAgentTool(agent, lender)),
    runner === undefined || history === undefined
      ? undefined
      : runCodeTool({ runner, history, tools, slices: readable }),
  ].filter((tool) => tool !== undefined);
}

/** One of two under one name would be lost, and nobody would know which. */
export function refuseNamesakes(tools: readonly Tool[], reserved: readonly string[]): void {
  const known = new Map<string, Tool>();
  for (const tool of tools) {
    const { name } = tool;
    if ((known.get(name) ?? tool) !== tool)
      throw new HoldfastError("TOOL_NAME_TAKEN", { tool: name, by: reserved.includes(name) ? "the kernel" : "a tool" });
    known.set(name, tool);
  }
}
