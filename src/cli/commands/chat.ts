import { AGENT_OPTIONS, type Agent, isUnfinished, withAgent } from "../agent/agent.ts";
import { Conversation } from "../agent/conversation.ts";
import { Talk } from "../agent/talk.ts";
import type { CommandBody, Terminal } from "../command.ts";
import { usage } from "../options.ts";
import { paint } from "../paint.ts";
import { count } from "../words.ts";

export const chat: CommandBody = {
  usage: "holdfast chat [--model MODEL] [--session SESSION] [--plan] [--workspace DIR]",
  examples: [
    "holdfast chat --model openai:gpt-5.2",
    "holdfast chat --session rename-foo     continue a session",
    "holdfast chat --model http://localhost:8080/v1#qwen",
  ],
  options: AGENT_OPTIONS,
  async run(parsed, terminal) {
    if (parsed.positionals.length > 0) throw usage(String(parsed.positionals[0]), 'holdfast run "…" takes a task');
    if (parsed.values["json"] === true)
      throw usage("--json", 'a conversation is for people; use holdfast run "…" --json');
    return withAgent(parsed, terminal, async (agent) => {
      const talk = new Talk(terminal);
      try {
        await greet(agent, terminal);
        await new Conversation(agent, terminal, talk).hold();
        terminal.out(paint(terminal, "dim", `to continue: holdfast chat --session ${agent.session.id}`));
        return 0;
      } finally {
        talk.close();
      }
    });
  },
};

async function greet({ session, turn: { model }, resumed }: Agent, terminal: Terminal): Promise<void> {
  terminal.out(`${paint(terminal, "bold", session.id)}: ${model.name}. /help lists the commands; /exit leaves.`);
  const closed = session.recovered.closedCalls.length;
  if (closed > 0)
    terminal.out(
      paint(terminal, "yellow", `recovered: ${count(closed, "call")} had been cut off, and changed nothing`),
    );
  if (resumed && (await isUnfinished(session)))
    terminal.out(paint(terminal, "yellow", "the last turn was cut off; an empty line continues it"));
}
