import { HoldfastError } from "../base/errors.ts";
import { ASK_USER } from "../catalog/tool.ts";
import type { Model } from "../contracts/model.ts";
import type { SchemaResult } from "../contracts/schema.ts";
import { head } from "../context/compress/cut.ts";
import { Plan } from "../state/default-slices.ts";
import { checkedFields, type Fields, wrong } from "../transaction/checked-by.ts";
import type { Rewindable } from "../transaction/call.ts";
import { defineTool, type Tool } from "../transaction/tool.ts";
import { agentSessionOf } from "./agent-names.ts";
import type { RunEnd } from "./events.ts";
import { type Ground, grounds } from "./ground.ts";
import type { RunLimits } from "./limits.ts";
import { finished } from "./main-loop.ts";
import type { RequestOptions } from "./request.ts";
import { runTurn } from "./run.ts";
import type { RunOptions } from "./run-options.ts";
import type { Session } from "./session.ts";

/**
 * An agent that a session's model can give tasks to. Each task runs in a session of its own, with its own conversation.
 */
export interface SubAgent extends RequestOptions {
  /** The name of the tool under which it is offered. */
  readonly name: string;
  /** What it is good at, in words for the model that may call it. */
  readonly description: string;
  /** The model that works on the task. */
  readonly model: Model;
  /** Names of the session's tools that it may use. Default: all except sub-agents and `ask_user`. */
  readonly tools?: readonly string[];
  /** Its instructions: what its model reads before the task. */
  readonly instructions?: string;
  /** Bounds on one task. What it uses also counts against the calling turn, whose bounds apply as well. */
  readonly limits?: RunLimits;
}

/** What a session lends to its sub-agents. */
export interface Lender {
  /** Opens the session of a sub-agent, or of any whose work is taken back: it is in plan mode whenever this one is. */
  readonly open: (id: string, agent: SubAgent | undefined) => Promise<Session>;
  /** Whether there is such a session. */
  readonly known: (id: string) => Promise<boolean>;
  readonly ground: () => Ground;
}

/**
 * The tool that gives a task to a sub-agent. Its calls are committed as they end, each for itself; when this call is
 * discarded, everything it did is taken back.
 */
export function subAgentTool(agent: SubAgent, lender: Lender): Tool {
  const { name, description } = agent;
  return defineTool<{ readonly task: string }>({
    name,
    description,
    access: "write",
    // It inherits plan mode, so in plan mode it changes nothing, whatever it is asked.
    readOnly: () => ({ readOnly: true }),
    retryable: false,
    attempts: 1,
    input: checkedFields(["task"], validate),
    inputSchema: {
      type: "object",
      properties: {
        task: { type: "string", description: "All it needs to know: it sees nothing of this conversation." },
      },
      required: ["task"],
    },
    run: async ({ task }, call) => {
      const ground = lender.ground();
      const child = await lender.open(agentSessionOf(ground.id, call.id), agent);
      await call.child(lent(child));
      call.note({ speaker: "agent" });
      await child.state.session.dispatch(Plan.set({ objective: objectiveOf(task), status: "active" }));
      const { within } = ground;
      const own = groundOf(child);
      const worksFor = { session: ground.id, callId: call.id, budget: within?.budget };
      const turn = runTurn(own, task, { ...optionsOf(agent, within?.ask), signal: call.signal }, worksFor);
      // Or it would be closed under a turn that was stopped, which could then not write down its end.
      const end = await finished(own.leaving?.following(turn) ?? turn, (event) => {
        if (event.kind === "call-opened" && !call.signal.aborted) call.progress(`${event.tool}\n`);
      });
      return told(end) ?? call.fail(`agent-${end.status}`, whyNot(end));
    },
  });
}

/** What the agent is for, in short: its plan until it writes one, in sight however long it works. */
function objectiveOf(task: string): string {
  return head(task.trim().split("\n", 1)[0] ?? "", LONGEST_OBJECTIVE);
}

const LONGEST_OBJECTIVE = 300;

/** Which tools a sub-agent may use, of those that its session has. Whoever's work is only taken back, all but one. */
export function toolsFor(agent: SubAgent | undefined, offered: readonly Tool[]): readonly Tool[] {
  const { name = "", tools: wanted } = agent ?? {};
  const unknown = unknownTo(agent, offered);
  // Asked when it is called, not when the session is opened: tools of a server may be added in between.
  if (unknown.length > 0)
    throw new HoldfastError("BAD_OPTION", {
      option: `agents.${name}.tools`,
      value: unknown.join(", "),
      wants: `tools that the session has: ${offered.map((tool) => tool.name).join(", ")}`,
    });
  // Nobody sits before it: a question would wait for ever.
  return wanted === undefined
    ? offered.filter((tool) => tool.name !== ASK_USER)
    : offered.filter((tool) => wanted.includes(tool.name));
}

/** Tools that a sub-agent names and its session has not. */
export function unknownTo(agent: SubAgent | undefined, offered: readonly Tool[]): readonly string[] {
  return agent?.tools?.filter((wanted) => !offered.some(({ name }) => name === wanted)) ?? [];
}

/** Open until the call has settled: until then it may have to be taken back. */
function lent(child: Session): Rewindable {
  return { mark: () => child.mark(), release: () => child.close() };
}

function groundOf(child: Session): Ground {
  const ground = grounds.get(child.state);
  if (ground === undefined) throw new HoldfastError("SESSION_UNKNOWN", { session: child.id });
  return ground;
}

function optionsOf(agent: SubAgent, ask: NonNullable<Ground["within"]>["ask"]): RunOptions {
  const { name: _name, description: _description, tools: _tools, ...options } = agent;
  return { ...options, ...(ask === undefined ? {} : { ask }) };
}

function told(end: RunEnd): string | undefined {
  return end.status === "done" && end.text.trim() !== "" ? end.text : undefined;
}

const LONGEST = 2_000;

function whyNot(end: RunEnd): string {
  const last = end.text.trim() === "" ? "" : ` It had said last: ${end.text.slice(0, LONGEST).toWellFormed()}`;
  switch (end.status) {
    case "done":
      return "The agent ended without an answer.";
    case "limit":
      return `The agent reached its limit of ${end.limit} before it was done.${last}`;
    case "waiting":
      return `The agent needs somebody's consent for ${end.waiting.map(({ tool }) => tool).join(", ")}, and nobody gave it.${last}`;
    case "failed":
      return `The agent's model did not answer: ${end.failure.message}${last}`;
    case "stopped":
      return `The agent's model stopped without finishing (${end.stop}).${last}`;
    case "aborted":
      return `The agent was stopped.${last}`;
    case "refused":
      return "The agent's prompt, tools and mode did not agree, so nothing was sent.";
  }
}

function validate({ task }: Fields): SchemaResult<{ readonly task: string }> {
  return typeof task === "string" && task.trim() !== "" ? { value: { task } } : wrong("task", "must be a string");
}
