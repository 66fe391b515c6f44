import { type CallItem, type ContextFault, type Item, textOf } from "../../src/index.ts";
import { type Fact, needleOf, type Turn, type Workload } from "./workload.ts";

export interface Call {
  readonly name: "read_file" | "recall";
  readonly input: { readonly path?: string; readonly handle?: string; readonly grep?: string };
}

/** What was counted, of one run. */
export class Tally {
  readonly faults: Record<ContextFault, number> = {
    refetch: 0,
    "duplicate-tool": 0,
    "pinned-invariant-miss": 0,
    "post-compaction-bootstrap": 0,
    "silent-recall": 0,
    "flush-miss": 0,
  };
  alerts = 0;
  hits = 0;
  refusals: string[] = [];
  recalls = 0;
  requests = 0;

  get total(): number {
    return Object.values(this.faults).reduce((sum, count) => sum + count, 0);
  }

  /** F / (H + 1). */
  get thrash(): number {
    return (this.total + this.alerts) / (this.hits + 1);
  }
}

/** What a harness lets its agent do beside looking at the request. */
export interface Senses {
  readonly recalls: boolean;
  /** Whether the harness remembers what a call answered, without its being in the request. */
  readonly cached?: (path: string) => boolean;
  /** Whether something that was learnt is still there: kept as durable, or in plain sight. */
  readonly knows: (fact: Fact, text: string) => boolean;
}

const HANDLE = /holdfast:\/\/[a-z2-7]{26}/g;
/** An agent that has looked so often for one thing stops looking. */
const PATIENCE = 24;

interface Search {
  readonly path: string;
  readonly tried: Set<string>;
  /** Lists that may name it, nearest first. */
  readonly lists: string[];
  steps: number;
}

/**
 * An agent that does what a turn needs and nothing else: it looks at the request; what it does not see it recalls, if
 * something in the request leads there; only when nothing does, it runs the tool again, and that is a fault.
 */
export class Agent {
  readonly tally = new Tally();
  readonly #work: Workload;
  readonly #senses: Senses;
  readonly #rules: Fact[] = [];
  readonly #facts: Fact[] = [];
  readonly #again = new Set<string>();
  readonly #missing = new Set<string>();
  #turn: Turn | undefined;
  #first = true;
  #reads: string[] = [];
  #repeats: string[] = [];
  #wants: Search[] = [];
  #last: Call | undefined;

  constructor(work: Workload, senses: Senses) {
    this.#work = work;
    this.#senses = senses;
  }

  begin(turn: Turn): void {
    this.#turn = turn;
    this.#first = true;
    this.#reads = [...turn.reads];
    this.#repeats = [...turn.repeats];
    this.#wants = turn.wants.map((path) => ({ path, tried: new Set(), lists: [], steps: 0 }));
    this.#last = undefined;
  }

  /** What was learnt in the turn is expected to be known from now on. */
  end(): void {
    if (this.#turn?.rule !== undefined) this.#rules.push(this.#turn.rule);
    this.#facts.push(...(this.#turn?.learns ?? []));
  }

  /** The calls of the next answer, or none when the turn's work is done. */
  step(items: readonly Item[]): readonly Call[] {
    this.tally.requests += 1;
    const text = items.map(wordsOf).join("\n");
    if (this.#first) this.#expect(text);
    this.#first = false;
    if (this.#reads.length > 0) return this.#reads.splice(0).map(reading);
    for (let search = this.#wants[0]; search !== undefined; search = this.#wants[0]) {
      if (!text.includes(needleOf(search.path))) return [this.#search(search, items)];
      this.tally.hits += 1;
      this.#wants.shift();
    }
    const again = this.#repeats.shift();
    if (again === undefined) return [];
    if (text.includes(needleOf(again))) this.tally.alerts += 1;
    return text.includes(needleOf(again)) ? [reading(again)] : [];
  }

  /** What every request must hold, looked at once for each turn. */
  #expect(text: string): void {
    const { faults } = this.tally;
    const check = (there: boolean, fault: ContextFault, what: string) => {
      if (there) this.tally.hits += 1;
      else if (!this.#missing.has(what)) faults[fault] += 1; // once for each time it goes, not for each turn without it
      if (there) this.#missing.delete(what);
      else this.#missing.add(what);
    };
    check(text.includes(this.#work.instructions), "post-compaction-bootstrap", "instructions");
    for (const rule of this.#rules) check(text.includes(rule.text), "pinned-invariant-miss", rule.key);
    for (const fact of this.#facts) check(this.#senses.knows(fact, text), "flush-miss", fact.key);
    this.#facts.length = 0; // each is looked for once, after whatever came behind the turn it was learnt in
  }

  #search(search: Search, items: readonly Item[]): Call {
    search.steps += 1;
    const next = this.#senses.recalls && search.steps <= PATIENCE ? this.#lead(search, items) : undefined;
    if (next !== undefined) {
      this.tally.recalls += 1;
      this.#last = next;
      return next;
    }
    if (this.#senses.cached?.(search.path) !== true) {
      // The first time it is fetched again; from then on the same call is made over and over.
      this.tally.faults[this.#again.has(search.path) ? "duplicate-tool" : "refetch"] += 1;
      this.#again.add(search.path);
    }
    search.steps = 0;
    this.#last = undefined;
    return reading(search.path);
  }

  #lead(search: Search, items: readonly Item[]): Call | undefined {
    const { tried, path } = search;
    const fresh = (handle: string) => !tried.has(handle);
    // An answer to the last look: the line that names the file, or a list behind a list.
    const answer = this.#last?.name === "recall" ? lastOutput(items) : "";
    // What a tool answered is told with its size, what it was asked is not.
    const named = answer.split("\n").filter((line) => line.includes(`${path} · `));
    const here = named.flatMap((line) => line.match(HANDLE) ?? []).findLast(fresh);
    if (here !== undefined) return whole(here, tried);
    const deeper = answer.match(HANDLE) ?? [];
    if (this.#last?.input.grep !== path) search.lists.unshift(...deeper.filter(fresh));
    const own = ownHandle(items, path);
    if (own !== undefined && fresh(own)) return whole(own, tried);
    for (const handle of items.flatMap(listIn))
      if (fresh(handle) && !search.lists.includes(handle)) search.lists.push(handle);
    const list = search.lists.find((handle) => !tried.has(`${handle} ${path}`));
    if (list !== undefined) {
      tried.add(`${list} ${path}`);
      return { name: "recall", input: { handle: list, grep: path } };
    }
    const earlier = search.lists.find((handle) => !tried.has(`${handle} earlier`));
    if (earlier === undefined) return undefined;
    tried.add(`${earlier} earlier`);
    return { name: "recall", input: { handle: earlier, grep: "What was said before" } };
  }
}

function whole(handle: string, tried: Set<string>): Call {
  tried.add(handle);
  return { name: "recall", input: { handle } };
}

function reading(path: string): Call {
  return { name: "read_file", input: { path } };
}

/** The handle that stands where the answer to the newest reading of a file was. */
function ownHandle(items: readonly Item[], path: string): string | undefined {
  const calls = items.filter(
    (item): item is CallItem =>
      item.kind === "call" &&
      item.name === "read_file" &&
      JSON.stringify(item.input ?? item.inputText ?? "").includes(path),
  );
  const ids = new Set(calls.map(({ callId }) => callId));
  const outputs = items.filter((item) => item.kind === "output" && ids.has(item.callId));
  return outputs.map((item) => wordsOf(item).match(HANDLE)?.at(-1)).findLast((handle) => handle !== undefined);
}

/** The list that an item points to. */
function listIn(item: Item): readonly string[] {
  return (
    wordsOf(item)
      .match(/(?<=listed at )holdfast:\/\/[a-z2-7]{26}/g)
      ?.slice(-1) ?? []
  );
}

function lastOutput(items: readonly Item[]): string {
  const last = items.findLast(({ kind }) => kind === "output");
  return last === undefined ? "" : wordsOf(last);
}

export function wordsOf(item: Item): string {
  return "parts" in item ? textOf(item.parts) : item.kind === "call" ? JSON.stringify(item.input ?? "") : "";
}
