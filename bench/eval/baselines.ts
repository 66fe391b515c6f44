import { type Item, itemTokens, plainSummary, protocolGroups, toolCallId } from "../../src/index.ts";
import { Agent, type Call, type Tally, wordsOf } from "./agent.ts";
import { counter } from "./kernel.ts";
import { type Fact, fileText, SCALE, type Turn, type Workload } from "./workload.ts";

/** Ways of keeping to a budget without a page contract, written after the paper's description of them; not its code. */
export type Baseline = "retrieval" | "retrieval + cache" | "compaction hybrid";
export const BASELINES: readonly Baseline[] = ["retrieval", "retrieval + cache", "compaction hybrid"];

/** Results of tools that the harness remembers, by call. */
const CACHED = 8;
const RETRIEVED_SHARE = 0.3;
const SUMMARY_SHARE = 0.125;
const TAIL_SHARE = 0.25;
/** Above this the hybrid writes its notes down before it compacts; a jump over it is not noticed. */
const SOFT = 0.8;

export async function liveBaseline(work: Workload, budget: number, kind: Baseline): Promise<Tally> {
  const life = new Life(work, budget * SCALE, kind);
  for (const turn of work.turns) await life.turn(turn);
  return life.agent.tally;
}

class Life {
  readonly agent: Agent;
  readonly #work: Workload;
  readonly #budget: number;
  readonly #kind: Baseline;
  readonly #cache: string[] = [];
  readonly #notes: Fact[] = [];
  /** Everything that was ever said, for retrieval. */
  readonly #archive: Item[] = [];
  #history: Item[] = [];
  #dirty: Fact[] = [];
  #calls = 0;

  constructor(work: Workload, budget: number, kind: Baseline) {
    this.#work = work;
    this.#budget = budget;
    this.#kind = kind;
    this.agent = new Agent(work, {
      recalls: false,
      knows: ({ text }, seen) => seen.includes(text) || this.#notes.some((note) => note.text === text),
      cached: (path) => kind !== "retrieval" && this.#cache.includes(path),
    });
    if (kind === "compaction hybrid") this.#say(user(work.instructions));
  }

  async turn(turn: Turn): Promise<void> {
    this.agent.begin(turn);
    const ask = turn.rule === undefined ? turn.ask : `${turn.ask} Mind this: ${turn.rule.text}`;
    this.#say(user(ask));
    for (;;) {
      const calls = this.agent.step(await this.#request(ask));
      if (calls.length === 0) break;
      for (const call of calls) this.#run(call);
    }
    this.#say(assistant(["Done.", ...turn.learns.map(({ text }) => `Noted: ${text}`)].join(" ")));
    this.#dirty.push(...turn.learns);
    this.agent.end();
    if (turn.after === "compact" && this.#kind === "compaction hybrid") await this.#compact(true);
    if (turn.after === "reset") this.#reset();
  }

  async #request(ask: string): Promise<readonly Item[]> {
    if (this.#kind !== "compaction hybrid") return this.#retrieved(ask);
    if (tokensOf(this.#history) > this.#budget * 0.95) await this.#compact(false);
    return newest(this.#history, this.#budget);
  }

  /** The instructions, what resembles the question, and the newest groups. */
  #retrieved(ask: string): readonly Item[] {
    const front = [user(this.#work.instructions)];
    const words = new Set(ask.toLowerCase().match(/\w{3,}/g) ?? []);
    const scored = this.#archive
      .map((item) => ({ item, score: [...words].filter((word) => wordsOf(item).toLowerCase().includes(word)).length }))
      .filter(({ item, score }) => score > 0 && item.kind !== "call" && item.kind !== "output")
      .sort((a, b) => b.score - a.score);
    const found: Item[] = [];
    let left = this.#budget * RETRIEVED_SHARE;
    for (const { item } of scored) {
      left -= tokensOf([item]);
      if (left < 0) break;
      found.push(item);
    }
    const room = this.#budget - tokensOf([...front, ...found]);
    return [...front, ...found, ...newest(this.#history, room)];
  }

  /** A summary and the newest groups; evidence goes without a trace. `seen`: the harness saw it coming. */
  async #compact(seen: boolean): Promise<void> {
    if (seen && tokensOf(this.#history) > this.#budget * SOFT) this.#notes.push(...this.#dirty);
    this.#dirty = [];
    const tail = newest(this.#history, this.#budget * TAIL_SHARE);
    const gone = this.#history.slice(0, this.#history.length - tail.length);
    const said = await plainSummary.summarise({ items: gone, room: this.#budget * SUMMARY_SHARE });
    const text = "text" in said ? said.text.slice(0, this.#budget * SUMMARY_SHARE * 4) : "";
    this.#history = [{ ...user(`In short:\n${text}`), notice: "summary" }, ...tail];
  }

  #reset(): void {
    this.#history = [];
    this.#dirty = [];
  }

  #run({ input: { path = "" } }: Call): void {
    this.#calls += 1;
    const callId = toolCallId(`call-${this.#calls}`);
    this.#say({ kind: "call", callKind: "function", callId, name: "read_file", input: { path }, step: this.#calls });
    const parts = [{ type: "text", text: fileText(path, this.#work.lines) }] as const;
    this.#say({ kind: "output", callKind: "function", callId, name: "read_file", status: "success", parts });
    this.#cache.push(path);
    if (this.#cache.length > CACHED) this.#cache.shift();
  }

  #say(item: Item): void {
    this.#history.push(item);
    this.#archive.push(item);
  }
}

function user(text: string): Extract<Item, { readonly kind: "user" }> {
  return { kind: "user", parts: [{ type: "text", text }] };
}

function assistant(text: string): Item {
  return { kind: "assistant", parts: [{ type: "text", text }] };
}

/** The newest whole groups that fit; the newest of all in any case. */
function newest(items: readonly Item[], room: number): readonly Item[] {
  let from = items.length;
  let left = room;
  for (const { members } of protocolGroups(items).toReversed()) {
    const first = Math.min(from, ...members);
    const price = tokensOf(items.slice(first, from));
    if (price > left && from < items.length) break;
    left -= price;
    from = first;
  }
  return items.slice(from);
}

function tokensOf(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + itemTokens(item, counter), 0);
}
