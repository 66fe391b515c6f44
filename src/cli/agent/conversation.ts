import { HoldfastError } from "../../base/errors.ts";
import type { AskSomebody, Reply, Spent, WaitingCall } from "../../index.ts";
import type { Terminal } from "../command.ts";
import { nearest } from "../../base/nearest.ts";
import { paint } from "../paint.ts";
import { harmless, oneLine } from "../words.ts";
import { type Agent, isUnfinished } from "./agent.ts";
import { askedLines, endLine, Follower, REMEDIES } from "./follow.ts";
import { type InConversation, SLASHES, type Slash } from "./slashes.ts";
import type { Talk } from "./talk.ts";

/** Turn by turn, until the person leaves. */
export class Conversation implements InConversation {
  readonly agent: Agent;
  readonly terminal: Terminal;
  readonly talk: Talk;
  /** What the turns of this process have used. */
  spent: Spent = { steps: 0, input: 0, output: 0, cost: 0 };
  #stop: AbortController | undefined;
  #leaving = false;
  /** Whoever was asked last has replied, or was not to be waited for. */
  #replied: Promise<unknown> = Promise.resolve();
  /** Ctrl-C was pressed, and nothing was typed since. */
  #asked = false;

  constructor(agent: Agent, terminal: Terminal, talk: Talk) {
    this.agent = agent;
    this.terminal = terminal;
    this.talk = talk;
    talk.interrupted = () => this.#interrupted();
  }

  async hold(): Promise<void> {
    while (!this.#leaving) {
      const { mode } = this.agent.session;
      const line = await this.talk.ask(mode === "plan" ? "plan › " : "› ");
      if (line === undefined) return;
      this.#asked = false;
      try {
        await this.#take(line.trim());
      } catch (error) {
        // What the person asked for cannot be done: that is said, and the conversation goes on.
        if (!HoldfastError.is(error)) throw error;
        this.terminal.out(paint(this.terminal, "red", `${error.code}: ${error.message}`));
        this.terminal.out(`try: ${error.tryThis}`);
      }
    }
  }

  leave(): void {
    this.#leaving = true;
  }

  async #take(line: string): Promise<void> {
    if (line === "" && !(await isUnfinished(this.agent.session))) return;
    if (!line.startsWith("/")) return this.#turn(line === "" ? undefined : line);
    const [name = "", ...words] = line.slice(1).split(/\s+/);
    const slash: Slash | undefined = Object.hasOwn(SLASHES, name) ? SLASHES[name] : undefined;
    if (slash !== undefined) return slash.run(this, words);
    const meant = nearest(name, Object.keys(SLASHES));
    this.terminal.out(
      `there is no /${name}; ${meant === undefined ? "/help lists the commands" : `did you mean /${meant}?`}`,
    );
  }

  async #turn(text: string | undefined): Promise<void> {
    const { session, turn: how } = this.agent;
    const out = (line: string) => this.talk.aside(() => this.terminal.out(line));
    const follower = new Follower({ ...this.terminal, out });
    const stop = new AbortController();
    this.#stop = stop;
    try {
      // One after the other: asked side by side, what is typed would answer the question that was shown last.
      const ask: AskSomebody = (call, signal) => {
        const reply = this.#replied.then(() => this.#reply(call, follower, signal));
        this.#replied = reply.catch(() => {}); // told to whoever asked for it
        return reply;
      };
      const turn = session.run(text, { ...how, signal: stop.signal, ask });
      for await (const event of turn) {
        follower.show(event);
        if (event.kind !== "end") continue;
        const { spent } = event.end;
        this.spent = {
          steps: this.spent.steps + spent.steps,
          input: this.spent.input + spent.input,
          output: this.spent.output + spent.output,
          cost: this.spent.cost + spent.cost,
        };
        const line = endLine(event.end, how.model.name);
        follower.line(line === undefined ? "" : paint(this.terminal, "yellow", line));
        if (event.end.status === "failed") this.terminal.out(`try: ${REMEDIES[event.end.failure.kind]}`);
      }
    } finally {
      this.#stop = undefined;
    }
  }

  /** Consent, or an answer. Whatever is not yes is no, with what was typed as the reason. */
  async #reply(call: WaitingCall, follower: Follower, signal: AbortSignal): Promise<Reply | undefined> {
    if (this.#leaving || signal.aborted) return undefined;
    if (call.waitsFor === "answer") {
      const { question = "", options = [] } = (call.input ?? {}) as { question?: string; options?: readonly string[] };
      follower.line(paint(this.terminal, "bold", harmless(question)));
      for (const [at, option] of options.entries()) follower.line(`  ${at + 1}  ${oneLine(option)}`);
      const answer = await this.#asks("answer › ", signal);
      return answer === undefined ? undefined : { answer: options[Number(answer) - 1] ?? answer };
    }
    for (const line of askedLines(call, this.terminal)) follower.line(paint(this.terminal, "bold", line));
    const said = (await this.#asks("allow it? y, n, or why not › ", signal))?.trim();
    if (said === undefined) return undefined;
    if (/^(y|yes)$/i.test(said)) return { approve: true };
    return /^(n|no|)$/i.test(said) ? { approve: false } : { approve: false, reason: said };
  }

  /** Whoever would rather leave leaves it waiting. */
  async #asks(prompt: string, signal: AbortSignal): Promise<string | undefined> {
    const line = await this.talk.ask(prompt, { signal, afresh: true });
    if (line?.trim() !== "/exit") return line;
    this.leave();
    return undefined;
  }

  /** Once: what runs is taken back, or what was typed is. Twice: leave. */
  #interrupted(): void {
    const stop = this.#stop;
    if (stop !== undefined && !stop.signal.aborted) return stop.abort();
    if (stop !== undefined || this.#leaving) process.exit(130); // nothing is lost by it
    if (this.#asked) {
      this.#leaving = true;
      this.terminal.out("");
      return this.talk.leave();
    }
    this.#asked = true;
    this.talk.clear("press Ctrl-C again to leave");
  }
}
