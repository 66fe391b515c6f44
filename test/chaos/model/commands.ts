import fc from "fast-check";
import { SeededRandom } from "../../../src/base/random.ts";
import type { Json } from "../../../src/base/json.ts";
import { lookAt, textOf } from "../script/look.ts";
import { notesIn, perform, withNotes } from "../script/model.ts";
import { drawScript, type Script } from "../script/ops.ts";
import { perform as performFor, steps } from "../script/tools.ts";
import type { Book, Page } from "./book.ts";
import type { Place } from "./place.ts";

type Run = (book: Book, places: readonly Place[], random: SeededRandom) => Promise<void>;

/** What a user can do through the door, one after the other, on every store at once; each must do as the book says. */
class Command implements fc.AsyncCommand<Book, readonly Place[]> {
  readonly #name: string;
  readonly #chance: number;
  readonly #run: Run;

  constructor(name: string, chance: number, run: Run) {
    this.#name = name;
    this.#chance = chance;
    this.#run = run;
  }

  check(): boolean {
    return true;
  }

  async run(book: Book, places: readonly Place[]): Promise<void> {
    await this.#run(book, places, new SeededRandom(this.#chance));
    for (const place of places) await agrees(book, place);
  }

  toString(): string {
    return `${this.#name}(${this.#chance})`;
  }
}

const RUNS: Readonly<Record<string, Run>> = {
  call: async (book, places, random) => {
    const tool = random.pick(["write", "write", "steady", "outside", "again", "nowhere"]);
    const input = draw(book, random);
    await endAlike(book, places, tool, input, async ({ session }) => {
      const { callId, status, output } = await session.runTool({ name: tool, input, id: idOf(book) });
      return { callId, status, output };
    });
  },
  // One that hangs, and is told to stop; what it had noted stays.
  abort: async (book, places, random) => {
    const input: Script = { ...draw(book, random), end: "hangs" };
    await endAlike(book, places, "canceled", input, async ({ session }) => {
      const stop = new AbortController();
      const running = session.runTool({ name: "write", input, id: idOf(book) }, { signal: stop.signal });
      await turns(60);
      stop.abort();
      const { callId, status, output } = await running;
      return { callId, status, output };
    });
  },
  // A host that runs the tool itself, commits or forgets to.
  begin: async (book, places, random) => {
    const input: Script = { ...draw(book, random), end: "returns" };
    const forgets = random.below(2) === 0;
    await endAlike(book, places, forgets ? "canceled" : "write", input, async ({ session }) => {
      const pending = await session.begin({ name: "write", input, id: idOf(book) });
      const result = (await performFor(input, pending.call, QUIET)) as Json;
      if (!forgets) await pending.commit(result);
      await pending[Symbol.asyncDispose]();
      return { callId: pending.id, status: forgets ? "canceled" : "success", output: result };
    });
  },
  // Read-modify-writes at once: none may be lost.
  parallel: async (book, places, random) => {
    const count = 2 + random.below(4);
    const input: Script = { ops: [{ op: "wait" }, { op: "increment" }], end: "returns" };
    const ids: string[][] = [];
    for (const { session } of places) {
      const calls = Array.from({ length: count }, (_, nth) => ({ name: "write", input, id: idOf(book, nth) }));
      const outcomes = await session.runTools(calls);
      if (!outcomes.every(({ ok }) => ok)) throw new Error(`of ${count} at once ${JSON.stringify(outcomes)}`);
      ids.push(outcomes.map(({ callId }) => callId));
    }
    book.word();
    const first = ids[0] ?? [];
    for (const callId of first) book.called(callId, { ...book.state, counter: book.state.counter + 1 });
    // Which of them came first is theirs to say, so none is a boundary for the model.
    book.pages = book.pages.filter(({ callId }) => !first.includes(callId));
  },
  say: async (book, places) => {
    const text = book.word();
    for (const { session } of places) await session.append({ kind: "user-said", text });
    book.conversation = [...book.conversation, `user ${text}`];
  },
  dispatch: async (book, places) => {
    const word = book.word();
    for (const { session } of places) await session.state.session.dispatch(steps.added(word));
    book.state = perform({ ops: [{ op: "step", name: word }], end: "returns" }, book.state, "").state;
  },
  file: async (book, places, random) => {
    const [path, text] = [random.pick(["a", "d/x"]), book.word()];
    for (const { session } of places) await session.files.writeText(path, text);
    book.state = perform({ ops: [{ op: "write", path, text }], end: "returns" }, book.state, "").state;
  },
  checkpoint: async (_, places) => {
    for (const { session } of places) await session.checkpoint();
  },
  rewind: async (book, places, random) => {
    const page = pick(book, random);
    if (page === undefined) return;
    const { target, side } = sideOf(page, random);
    const all = random.below(2) === 0;
    for (const { session } of places) {
      const plan = await session.rewind({ ...target, dryRun: true, scope: all ? "all" : ["state", "files"] });
      const done = await session.rewind({ ...target, scope: all ? "all" : ["state", "files"] });
      if (JSON.stringify([plan.delta, plan.calls]) !== JSON.stringify([done.delta, done.calls]))
        throw new Error("the rewind did something else than it had planned");
    }
    book.rewound(page, side, all);
    const at = book.pages.indexOf(page);
    book.pages = book.pages.slice(0, side === "before" ? at : at + 1);
  },
  fork: async (book, places, random) => {
    const page = pick(book, random);
    if (page === undefined) return;
    const { target, side } = sideOf(page, random);
    book.forks += 1;
    const as = `f${book.forks}`;
    for (const place of places) {
      const fork = await place.session.fork({ ...target, as });
      await place.session.close();
      place.session = fork;
      place.name = as;
    }
    book.state = side === "before" ? page.before : page.after;
    // Before its end the call was open: the fork closes it for itself.
    const open = side === "before" ? [`call ${page.callId}`, `output ${page.callId}`] : [];
    book.conversation = [...book.conversation.slice(0, page.said[side]), ...open];
    const at = book.pages.indexOf(page);
    book.pages = book.pages.slice(0, side === "before" ? at : at + 1);
  },
  reopen: async (_, places) => {
    for (const place of places) {
      await place.session.close();
      place.session = await place.hf.open(place.name);
    }
  },
  crash: async (_, places) => {
    for (const place of places) await place.crash();
  },
  sweep: async (_, places) => {
    for (const { hf } of places) await hf.sweep({ graceMs: 0, shrink: false });
  },
  restore: async (book, places) => {
    const { counter, table, steps: taken, files } = book.state;
    const word = book.word();
    for (const { session } of places) {
      const { state } = session;
      const snapshot = state.fromJson(state.toJson(await state.snapshot()));
      await state.session.dispatch(steps.added(word));
      await state.restore(snapshot);
    }
    book.state = { ...book.state, counter, table, steps: taken, files };
  },
};

export function anyCommands(most: number) {
  const weights: Readonly<Record<string, number>> = { call: 8, abort: 2, begin: 2, parallel: 2, rewind: 2 };
  const names = Object.keys(RUNS).flatMap((name) => Array.from({ length: weights[name] ?? 1 }, () => name));
  const command = fc
    .tuple(fc.constantFrom(...names), fc.nat())
    .map(([name, chance]) => new Command(name, chance, RUNS[name] as Run));
  return fc.commands([command], { maxCommands: most, size: "max" });
}

interface Ended {
  readonly callId: string;
  readonly status: string;
  readonly output: Json;
}

/** Runs a call everywhere; the book says how it must end. */
async function endAlike(
  book: Book,
  places: readonly Place[],
  tool: string,
  input: Script,
  run: (place: Place) => Promise<Ended>,
): Promise<void> {
  const alone = perform(input, book.state, tool);
  const knows = tool !== "nowhere" && tool !== "canceled";
  const succeeds = knows && alone.ok;
  const due = succeeds ? "success" : tool === "canceled" ? "canceled" : "failed";
  const noted = tool === "nowhere" ? book.state : withNotes(book.state, notesIn(input.ops));
  let ended: Ended | undefined;
  for (const place of places) {
    ended = await run(place);
    if (ended.status !== due) throw new Error(`${ended.callId} ended as ${ended.status}, not as ${due}`);
    const told = JSON.stringify((ended.output as { readonly said?: Json } | null)?.said);
    if (succeeds && told !== JSON.stringify(alone.said))
      throw new Error(`it saw ${told}, not ${JSON.stringify(alone.said)}`);
  }
  book.word();
  if (ended !== undefined) book.called(ended.callId, succeeds ? { ...alone.state, box: 0 } : noted);
}

async function agrees(book: Book, { session }: Place): Promise<void> {
  const [found, due] = [textOf(lookAt(session.state.root, 0)), textOf(book.state)];
  if (found !== due) throw new Error(`the state is ${found}, and should be ${due}`);
  if (session.openCalls.length > 0) throw new Error(`calls ${session.openCalls.join()} are open`);
  const told = (await session.conversation()).map((item) => {
    const { kind, callId, parts } = item as unknown as { kind: string; callId?: string; parts?: { text: string }[] };
    return kind === "call" || kind === "output" ? `${kind} ${callId}` : `${kind} ${parts?.[0]?.text}`;
  });
  if (told.sort().join() !== book.conversation.toSorted().join())
    throw new Error(`the conversation is ${told.join()}, and should be ${book.conversation.join()}`);
}

function draw(book: Book, random: SeededRandom): Script {
  const script = drawScript({ random, word: `${book.words}`, effectKeys: ["k1", "k2"], mayHang: false, mayBox: false });
  return script;
}

/** The same id on every store, so that one book serves them all. */
function idOf(book: Book, nth = 0) {
  return `call_${book.words}_${nth}` as never;
}

function pick(book: Book, random: SeededRandom): Page | undefined {
  return book.pages.length === 0 ? undefined : random.pick(book.pages.slice(-12));
}

function sideOf({ callId }: Page, random: SeededRandom) {
  return random.below(2) === 0
    ? ({ target: { before: callId }, side: "before" } as const)
    : ({ target: { after: callId }, side: "after" } as const);
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

const QUIET = { wait: async () => {}, effect: async () => {}, undo: async () => {}, hear: () => {} };
