import { memoryStore } from "../../src/stores/memory/entry.ts";
import { scripted } from "../../src/adapters/scripted/entry.ts";
import {
  budgetWithin,
  type ContextOptions,
  defineTool,
  FixedClock,
  finished,
  Holdfast,
  type Model,
  type ModelRequest,
  SeededRandom,
  type Session,
  type TokenCounter,
  UNCALIBRATED,
} from "../../src/index.ts";
import { Agent, type Tally } from "./agent.ts";
import { type Fact, fileText, SCALE, type Turn, type Workload } from "./workload.ts";

/** The kernel as it is, or with one part of it taken away. */
export interface Variant {
  readonly name: string;
  /** The model is offered `recall`. */
  readonly recall?: boolean;
  /** Rules are pinned; otherwise they are only said. */
  readonly pins?: boolean;
  /** What is dirty is committed at these boundaries; otherwise it is lost there. */
  readonly flushAt?: { readonly compact?: boolean; readonly reset?: boolean };
  readonly context?: Pick<ContextOptions, "order" | "policy">;
}

export const KERNEL: Variant = { name: "Holdfast" };

/** One token for each four characters: the same on every machine, and quick. */
export const counter: TokenCounter = { name: "quarters", exact: true, count: (text) => Math.ceil(text.length / 4) };
const ANSWER = 500;
const STEPS = 2_000;

/** Lives through a workload in a real session, at a budget for the pages of a request. */
export async function liveThrough(work: Workload, budget: number, variant: Variant): Promise<Tally> {
  const world = new World(work, variant);
  const window = await windowFor(world, budget * SCALE);
  let now = 0;
  const ahead = () => foresight(work, now);
  let session = await world.open("work", window, ahead);
  const knows = ({ text }: Fact) => JSON.stringify(session.writeback.pages("session")).includes(text);
  const agent = new Agent(work, { recalls: variant.recall !== false, knows });
  // One model for all turns: its ids are never used twice.
  const model = scripted(({ request }) => {
    const calls = agent.step((request as ModelRequest).items);
    return calls.length === 0 ? { text: "Done." } : { calls: calls.map(({ name, input }) => ({ name, input })) };
  });
  for (const turn of work.turns) {
    now += 1;
    agent.begin(turn);
    if (turn.rule !== undefined && variant.pins !== false)
      await session.context.pin({ id: turn.rule.key, text: turn.rule.text, scope: "session", source: "the user" });
    if (!(await world.live(session, model, agent, turn))) return agent.tally;
    agent.end();
    for (const { text } of turn.learns)
      await session.writeback.stage(
        { kind: "preference", page: "facts", field: "notes", op: "append", value: text, scope: "session" },
        "host",
      );
    session = await world.after(session, turn, window, ahead);
  }
  return agent.tally;
}

type Foresight = NonNullable<ContextOptions["foresight"]>;

class World {
  readonly #work: Workload;
  readonly #variant: Variant;
  readonly #clock = new FixedClock();
  readonly #store = memoryStore({ clock: this.#clock });

  constructor(work: Workload, variant: Variant) {
    this.#work = work;
    this.#variant = variant;
  }

  open(id: string, window: number, ahead: () => Foresight): Promise<Session> {
    const { instructions, lines } = this.#work;
    const { recall, context = {} } = this.#variant;
    const read = defineTool<{ readonly path: string }>({
      name: "read_file",
      description: "Reads a file.",
      access: "read",
      run: ({ path }) => fileText(path, lines),
    });
    const rules = [{ id: "AGENTS.md", text: instructions, scope: "project", source: "AGENTS.md" }] as const;
    const deps = { store: this.#store, clock: this.#clock, random: new SeededRandom("eval") };
    const options = { window, counter, rules, foresight: (page: Parameters<Foresight>[0]) => ahead()(page) };
    const told = recall === false ? { ...options, recall } : options;
    return new Holdfast(deps, { tools: [read], context: { ...told, ...context } }).open(id);
  }

  /** One turn. False when a request could not hold what it must: that is told, and the run ends. */
  async live(session: Session, model: Model, agent: Agent, turn: Turn): Promise<boolean> {
    const said = turn.rule === undefined ? turn.ask : `${turn.ask} Mind this: ${turn.rule.text}`;
    const limits = { steps: STEPS };
    const end = await finished(session.run(said, { model, maxOutputTokens: ANSWER, limits, retry: { attempts: 1 } }));
    if (end.status === "done") return true;
    const why = end.status === "failed" ? end.failure.message : end.status;
    agent.tally.refusals.push(`${turn.ask} ${why}`);
    return false;
  }

  async after(session: Session, turn: Turn, window: number, ahead: () => Foresight): Promise<Session> {
    const { compact = true, reset = true } = this.#variant.flushAt ?? {};
    if ((turn.after === "compact" && !compact) || (turn.after === "reset" && !reset)) await loseStaged(session);
    switch (turn.after) {
      case "compact":
        await session.compact();
        return session;
      case "reset":
        await session.reset();
        return session;
      case "reopen":
        await session.close();
        return this.open("work", window, ahead);
      default:
        return session;
    }
  }
}

/** What a harness without a flush does: the boundary is crossed, and what was staged is gone. */
async function loseStaged({ writeback }: Session): Promise<void> {
  for (const one of writeback.pending) if ("id" in one) await writeback.reject(one.id, "ABLATED");
}

/** How often the file of a page is wanted in the next three turns. */
function foresight(work: Workload, now: number): Foresight {
  const soon = work.turns.slice(now, now + 3).flatMap(({ wants }) => wants);
  return ({ title }) => soon.filter((path) => title.includes(path)).length;
}

/** The largest window whose pages have no more than the budget, found by asking once. */
async function windowFor(world: World, budget: number): Promise<number> {
  const probe = 100_000;
  const session = await world.open("probe", probe, () => () => 0);
  await finished(session.run("probe", { model: scripted([{ text: "ok" }]), maxOutputTokens: ANSWER }));
  const of = (window: number) => Math.floor(budgetWithin(window - ANSWER, counter, UNCALIBRATED));
  const around = of(probe) - Math.floor(session.context.view?.budget ?? 0);
  await session.close();
  let window = budget + around + ANSWER;
  while (of(window + 1) - around <= budget) window += 1;
  return window;
}
