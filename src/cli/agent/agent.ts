import { existsSync } from "node:fs";
import { HoldfastError } from "../../base/errors.ts";
import {
  askUser,
  createHoldfast,
  definePrompt,
  type Holdfast,
  planTool,
  type RunOptions,
  type Session,
  type SessionLook,
  type Tool,
} from "../../index.ts";
import { sqlite } from "../../stores/sqlite/entry.ts";
import { workspaceTools } from "../../tools/entry.ts";
import type { CommandOption, ExitCode, Parsed, Terminal } from "../command.ts";
import { capture, captureIn } from "../bundle/capture.ts";
import { readConfig } from "../config/config.ts";
import { flagOf, STORE_OPTION, textOf, WORKSPACE_OPTION } from "../options.ts";
import { modelOf } from "./model.ts";
import { type Prices, pricesIn } from "./prices.ts";
import { shellTool } from "./shell.ts";
import { historyIn, limitsIn, windowIn } from "./turn-options.ts";

/** A session with a model and tools for its folder. */
export interface Agent {
  readonly holdfast: Holdfast;
  readonly session: Session;
  /** What every turn is run with. */
  readonly turn: Pick<RunOptions, "model" | "limits" | "history">;
  readonly prices: Prices | undefined;
  /** It was there before. */
  readonly resumed: boolean;
}

export const AGENT_OPTIONS: Readonly<Record<string, CommandOption>> = {
  model: { type: "string", value: "MODEL", help: "anthropic:NAME, openai:NAME, or a server's URL#NAME" },
  session: { type: "string", value: "SESSION", help: "continue this session, or give a new one this name" },
  plan: { type: "boolean", help: "plan mode: offer and run nothing that could change anything" },
  steps: { type: "string", value: "N", help: "at most this many answers of the model in one turn (default 100)" },
  tokens: { type: "string", value: "N", help: "at most this many tokens, read and written, in one turn" },
  time: { type: "string", value: "TIME", help: "at most this long for one turn, e.g. 10min" },
  workspace: WORKSPACE_OPTION,
  store: STORE_OPTION,
};

const PROMPT = definePrompt("holdfast-agent", [
  {
    id: "task",
    body: [
      "You work on the files of one folder, through the tools you are given.",
      "Read before you change. Change no more than the task needs. Say what you did in a few sentences.",
      "A call that fails has changed nothing: look at its reason, and try again or say what is in the way.",
    ].join("\n"),
  },
]);

/** Opens everything, works, and closes everything: also when the work fails. */
export async function withAgent(
  parsed: Parsed,
  terminal: Terminal,
  work: (agent: Agent) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { values, preferences } = await readConfig(parsed, terminal);
  const prices = pricesIn(values);
  const limits = limitsIn(values, prices);
  const history = historyIn(values);
  const model = await modelOf(values.model, terminal.env);
  const workspace = String(values.workspace);
  const store = String(values.store);
  const holdfast = await createHoldfast({
    // A store that is there keeps the class it was made with.
    store: sqlite(store, { durability: existsSync(store) ? "kept" : (values.durability ?? "power") }),
    workspace,
    tools: [...workspaceTools(), shellTool, planTool, askUser].map(asking),
    exec: { driver: values["exec.driver"] ?? "auto", limits: { timeMs: values["exec.time"] ?? 0 } },
    prompt: PROMPT,
    context: { project: true, preferences, ...windowIn(values) },
    // For this session only: what is to hold for others is for a person to write down, in AGENTS.md or as a preference.
    writeback: { remember: true },
  });
  const id = textOf(parsed, "session") ?? newName();
  let failed = true;
  try {
    if (!history.autoRecoverFromCrash) await refuseCutOff(holdfast, id);
    const session = await holdfast.open(id);
    try {
      const resumed = session.journal.head.seq > 1;
      if (flagOf(parsed, "plan") && session.mode !== "plan") await session.setMode("plan", "--plan");
      const code = await work({ holdfast, session, turn: { model, limits, history }, prices, resumed });
      failed = code !== 0;
      return code;
    } finally {
      await session.close();
      const kept = captureIn(values, failed);
      if (kept !== undefined) await capture(holdfast, id, kept, terminal);
    }
  } finally {
    await holdfast.close();
  }
}

/** Whether its last turn did not come to its end, e.g. in a crash: a request without words goes on with it. */
export async function isUnfinished(session: Session): Promise<boolean> {
  for await (const entry of session.read({ reverse: true })) {
    if (entry.kind === "turn-ended") return entry.status !== "done";
    if (entry.kind === "rewound") return false;
    if (entry.kind === "user-said") return true;
  }
  return false;
}

/** What runs a program or reaches outside waits for consent, whoever wrote it, unless it is proved to change nothing. */
export function asking(tool: Tool): Tool {
  if (tool.access !== "execute" && tool.access !== "external") return tool;
  const proved = (input: unknown) => tool.access === "execute" && tool.readOnly?.(input).readOnly === true;
  return {
    ...tool,
    waitsFor: async (input) => (await tool.waitsFor(input)) ?? (proved(input) ? undefined : "approval"),
  };
}

/** Opening it would recover it: what was cut off is looked for first, and then it is left as it is. */
async function refuseCutOff(holdfast: Holdfast, id: string): Promise<void> {
  let look: SessionLook;
  try {
    look = await holdfast.look(id);
  } catch (error) {
    if (HoldfastError.is(error, "SESSION_UNKNOWN")) return;
    throw error;
  }
  const waiting = new Set<string>(look.waiting.map(({ callId }) => callId));
  const calls = look.openCalls
    .filter(({ callId }) => !waiting.has(callId))
    .map(({ callId, tool }) => `${tool} ${callId}`);
  if (calls.length > 0) throw new HoldfastError("RECOVERY_OFF", { session: id, calls });
}

/** `2026-11-15-1013-4f2a`: sorts by time, and two in one minute differ. */
function newName(): string {
  const now = new Date().toISOString();
  const random = Math.floor(Math.random() * 0x10000)
    .toString(16)
    .padStart(4, "0");
  return `${now.slice(0, 10)}-${now.slice(11, 13)}${now.slice(14, 16)}-${random}`;
}
