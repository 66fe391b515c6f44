import { type AskSomebody, finished, type RunEnd } from "../../index.ts";
import { AGENT_OPTIONS, type Agent, isUnfinished, withAgent } from "../agent/agent.ts";
import { askedLines, endLine, Follower, REMEDIES } from "../agent/follow.ts";
import { costWords } from "../agent/prices.ts";
import type { CommandBody, ExitCode, Terminal } from "../command.ts";
import { flagOf, usage } from "../options.ts";
import { paint } from "../paint.ts";
import { count, grouped } from "../words.ts";

export const run: CommandBody = {
  usage: "holdfast run [TASK] [--model MODEL] [--session SESSION] [--plan] [--yes] [--workspace DIR]",
  examples: [
    'holdfast run "fix the failing test" --model anthropic:claude-opus-4-7',
    "holdfast run --session 2026-11-15-1013-4f2a    continue after a crash",
    'holdfast run "how is it built?" --plan         looks, and changes nothing',
  ],
  options: { ...AGENT_OPTIONS, yes: { type: "boolean", help: "consent to every call that needs consent" } },
  async run(parsed, terminal) {
    const [task, surplus] = parsed.positionals;
    if (surplus !== undefined) throw usage(surplus, "put the task in quotes");
    if (task?.trim() === "") throw usage("TASK", "say what to do");
    if (task === undefined && parsed.values["session"] === undefined)
      throw usage("TASK", 'say what to do: holdfast run "fix the failing test"');
    return withAgent(parsed, terminal, async (agent) => {
      if (task === undefined && !(await isUnfinished(agent.session)) && agent.session.waiting.length === 0)
        throw usage("TASK", "nothing in this session was cut off; say what to do next");
      return work(agent, task, terminal, { json: flagOf(parsed, "json"), yes: flagOf(parsed, "yes") });
    });
  },
};

interface How {
  readonly json: boolean;
  readonly yes: boolean;
}

async function work(agent: Agent, task: string | undefined, terminal: Terminal, { json, yes }: How): Promise<ExitCode> {
  const { session } = agent;
  const stop = new AbortController();
  // Once: what runs is taken back and the turn ends. Twice: whoever asks so means it, and nothing is lost by it.
  const deaf = terminal.onInterrupt(() => {
    if (stop.signal.aborted) process.exit(130);
    terminal.err("cancelling; press Ctrl-C again to leave at once");
    stop.abort();
  });
  try {
    const follower = new Follower(terminal);
    if (!json) greet(agent, terminal);
    // A question stays open: consent is no answer to it.
    const ask: AskSomebody | undefined = yes
      ? async ({ waitsFor }) => (waitsFor === "approval" ? { approve: true } : undefined)
      : undefined;
    const options = { ...agent.turn, signal: stop.signal, ...(ask === undefined ? {} : { ask }) };
    const turn = session.run(task, options);
    const end = json ? await finished(turn) : await followed(turn, follower);
    if (json) terminal.out(JSON.stringify({ ok: end.status === "done", session: session.id, ...end }));
    else tell(end, follower, agent, terminal);
    return end.status === "done" ? 0 : 1;
  } finally {
    deaf();
  }
}

async function followed(turn: ReturnType<Agent["session"]["run"]>, follower: Follower): Promise<RunEnd> {
  for (;;) {
    const next = await turn.next();
    if (next.done === true) return next.value;
    follower.show(next.value);
  }
}

function greet({ session, turn: { model }, resumed }: Agent, terminal: Terminal): void {
  const closed = session.recovered.closedCalls.length;
  terminal.err(paint(terminal, "dim", `session ${session.id}, ${model.name}, ${session.mode} mode`));
  if (resumed && closed > 0) terminal.err(`recovered: ${count(closed, "call")} had been cut off, and changed nothing`);
}

function tell(end: RunEnd, follower: Follower, { session: { id }, turn, prices }: Agent, terminal: Terminal): void {
  const waiting = end.status === "waiting" ? end.waiting : [];
  for (const one of waiting.flatMap((call) => askedLines(call, terminal))) follower.line(one);
  const line = endLine(end, turn.model.name);
  follower.line(line === undefined ? "" : paint(terminal, "yellow", line));
  const { input, output, steps, cost } = end.spent;
  const used = `${count(steps, "step")}, ${grouped(input)} tokens read, ${grouped(output)} written`;
  terminal.err(paint(terminal, "dim", `${used}${costWords(prices, cost)}; holdfast show ${id}`));
  if (end.status === "failed")
    terminal.err(`try: ${REMEDIES[end.failure.kind]}; then continue with holdfast run --session ${id}`);
  if (waiting.length > 0) {
    const consent = waiting.every(({ waitsFor }) => waitsFor === "approval");
    terminal.err(`try: holdfast chat --session ${id}${consent ? `, or holdfast run --session ${id} --yes` : ""}`);
  }
}
