import type { RewindTarget, SessionLook, Spent } from "../../index.ts";
import { shortCall, targetIn } from "../session/calls.ts";
import { contextLines } from "../session/context-text.ts";
import { rewindLines } from "../session/rewind-text.ts";
import { count, grouped } from "../words.ts";
import { wrapped } from "../wrap.ts";
import { costOf, costWords } from "./prices.ts";
import type { Terminal } from "../command.ts";
import type { Agent } from "./agent.ts";
import type { Talk } from "./talk.ts";

/** What of a conversation they reach. */
export interface InConversation {
  readonly agent: Agent;
  readonly terminal: Terminal;
  readonly talk: Talk;
  readonly spent: Spent;
  leave(): void;
}

/** What a person can do beside talking to the model. */
export interface Slash {
  readonly takes: string;
  readonly about: string;
  run(conversation: InConversation, words: readonly string[]): Promise<void>;
}

const SHOWN = 15;

export const SLASHES: Readonly<Record<string, Slash>> = {
  plan: { takes: "", about: "plan mode: offer and run nothing that could change anything", run: mode("plan") },
  act: { takes: "", about: "act mode: offer everything again", run: mode("act") },
  rewind: { takes: "[CALL]", about: "take the session back to before a call (default: the last)", run: rewind },
  fork: { takes: "NAME [CALL]", about: "continue after a call in a new session, with files in memory", run: fork },
  checkpoints: { takes: "", about: "list the calls you can return to", run: checkpoints },
  context: { takes: "", about: "show what the model saw last, and why", run: context },
  cost: { takes: "", about: "show the tokens used, and their cost where prices are known", run: cost },
  help: { takes: "", about: "show this list", run: help },
  exit: { takes: "", about: "leave; the session is kept", run: async (conversation) => conversation.leave() },
};

function mode(to: "plan" | "act"): Slash["run"] {
  return async ({ agent: { session }, terminal }) => {
    await session.setMode(to, `/${to}`);
    terminal.out(to === "plan" ? "plan mode: it looks, and changes nothing" : "act mode");
  };
}

async function rewind(
  { agent: { holdfast, session }, terminal, talk }: InConversation,
  [call = "last"]: readonly string[],
): Promise<void> {
  const look = await holdfast.look(session.id);
  const target = at(look, "before", call);
  const plan = await look.planRewind(target);
  for (const line of rewindLines(terminal, look, plan, { mine: true })) terminal.out(line);
  const said = await talk.ask("do it? y or n › ", { afresh: true });
  if (!/^(y|yes)$/i.test(said?.trim() ?? "")) return terminal.out("nothing was changed");
  for (const line of rewindLines(terminal, look, await session.rewind(target))) terminal.out(line);
}

async function fork(
  { agent: { holdfast, session }, terminal }: InConversation,
  [name, call = "last"]: readonly string[],
): Promise<void> {
  if (name === undefined) return terminal.out("a fork needs a name: /fork NAME [CALL]");
  const look = await holdfast.look(session.id);
  const forked = await session.fork({ ...at(look, "after", call), as: name, workspace: "memory" });
  await forked.close();
  terminal.out(`forked; its files are kept beside the journal: holdfast chat --session ${name}`);
}

async function checkpoints({ agent: { session }, terminal }: InConversation): Promise<void> {
  const all = session.checkpoints.list().filter(({ rewound }) => !rewound);
  if (all.length === 0) return terminal.out("no call has ended yet");
  if (all.length > SHOWN) terminal.out(`… ${all.length - SHOWN} earlier`);
  for (const { callId, tool, status } of all.slice(-SHOWN)) terminal.out(`  ${shortCall(callId)}  ${tool}  ${status}`);
}

async function context({ agent: { holdfast, session }, terminal }: InConversation): Promise<void> {
  const seen = await (await holdfast.look(session.id)).view();
  if (seen === undefined) return terminal.out("the model was not asked yet");
  for (const line of contextLines(session.id, seen, terminal)) terminal.out(line);
}

async function cost({ spent, agent: { holdfast, session, prices }, terminal }: InConversation): Promise<void> {
  const here = `here: ${count(spent.steps, "step")}, ${grouped(spent.input)} tokens read, ${grouped(spent.output)} written`;
  terminal.out(`${here}${costWords(prices, spent.cost)}`);
  const seen = await (await holdfast.look(session.id)).view();
  if (seen !== undefined) {
    const { input, output, cacheRead } = seen.spent;
    const sum = prices === undefined ? 0 : costOf(prices, seen.spent);
    const words = `${grouped(input)} read, ${grouped(cacheRead)} of them from the cache, ${grouped(output)} written`;
    for (const line of wrapped(`the whole session: ${words}${costWords(prices, sum)}`, terminal.columns))
      terminal.out(line);
  }
  if (prices === undefined)
    terminal.out("set `input` and `output` of `[prices]` in holdfast.toml to see what it costs");
}

async function help({ terminal }: InConversation): Promise<void> {
  const rows = Object.entries(SLASHES).map(([name, { takes, about }]) => [`/${name} ${takes}`.trim(), about] as const);
  const width = Math.max(...rows.map(([left]) => left.length));
  for (const [left, about] of rows) terminal.out(`  ${left.padEnd(width)}  ${about}`);
  terminal.out("Ctrl-C cancels what is running; a second one leaves. An empty line continues a turn that was cut off.");
}

function at(look: SessionLook, side: "before" | "after", call: string): RewindTarget {
  return targetIn({ values: { [side]: call }, positionals: [] }, look);
}
