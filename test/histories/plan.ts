import {
  callIdAt,
  estimateCounter,
  type Item,
  type Json,
  type SeededRandom,
  textOf,
  toolCallId,
  toSessionId,
} from "../../src/index.ts";
import type { ScriptedAnswer, ScriptedCall } from "../../src/records/script.ts";

/** A conversation to be lived through again: what the user said, what the model answered, what the tools returned. */
export interface Plan {
  readonly name: string;
  readonly instructions?: string;
  readonly tools: readonly string[];
  /** Inputs, each with the number of answers that are due when its turn is over. */
  readonly turns: readonly { readonly input: string; readonly answersSoFar: number }[];
  readonly answers: readonly ScriptedAnswer[];
  /** What each call returned, by answer and place. */
  readonly outputs: readonly (readonly RecordedOutput[])[];
}

export interface RecordedOutput {
  readonly ok: boolean;
  readonly text: string;
}

const GO_ON = "Go on.";
/** The conversation holds no output of this call. */
const LOST: RecordedOutput = { ok: false, text: "Nobody recorded what became of this." };
/** Tools that some providers would not let a host offer are not offered; calls of them are answered as unknown. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** The plan of a recorded conversation. Empty answers are left out: a loop would ask for them again. */
export function planOf(name: string, items: readonly Item[]): Plan {
  const outputs = new Map<string, RecordedOutput>();
  for (const item of items) {
    if (item.kind !== "output" || item.callId === undefined) continue;
    const text = item.parts.length > 0 ? textOf(item.parts) : JSON.stringify(item.value ?? null);
    outputs.set(item.callId, { ok: item.status === "success", text });
  }
  const planner = new Planner(outputs);
  let run: Item[] = [];
  let said: string[] = [];
  const system: string[] = [];
  const flush = () => {
    if (run.length > 0) planner.answer(run, said);
    if (run.length > 0) said = [];
    run = [];
  };
  for (const item of items) {
    if (item.kind === "user") {
      flush();
      said.push(textOf(item.parts));
    } else if (item.kind === "system") system.push(textOf(item.parts));
    else if (item.kind === "output") flush();
    else if (item.kind === "assistant" || item.kind === "reasoning" || isOurs(item)) run.push(item);
  }
  flush();
  const tools = new Set(planner.answers.flatMap(({ calls = [] }) => calls.map((call) => call.name)));
  return {
    name,
    ...(system.length === 0 ? {} : { instructions: system.join("\n\n") }),
    tools: [...tools].filter((tool) => NAME.test(tool)),
    ...planner.finished(),
  };
}

/** A made-up conversation, for those who have no real ones. */
export function anyPlan(random: SeededRandom): Plan {
  const items: Item[] = [];
  for (let turn = 0; turn < 3 + random.below(3); turn += 1) {
    items.push({ kind: "user", parts: [{ type: "text", text: `Turn ${turn}, please.` }] });
    for (let step = 0; step < 4 + random.below(6); step += 1) {
      const calls = Array.from({ length: 1 + random.below(3) }, (_, at) => toolCallId(`c${turn}-${step}-${at}`));
      items.push({ kind: "reasoning", text: `I think of ${step}.` });
      if (random.below(2) === 0) items.push({ kind: "assistant", parts: [{ type: "text", text: `Step ${step} 🥊` }] });
      const name = () => random.pick(["read_file", "grep", "edit"]);
      for (const callId of calls)
        items.push({ kind: "call", callKind: "function", callId, name: name(), input: { step } });
      for (const callId of calls) {
        const status = random.below(5) === 0 ? "failed" : "success";
        const text = `result of ${callId} `.repeat(1 + random.below(40));
        items.push({ kind: "output", callKind: "function", callId, status, parts: [{ type: "text", text }] });
      }
    }
    items.push({ kind: "assistant", parts: [{ type: "text", text: `Turn ${turn} is done.` }] });
  }
  return planOf("made up", items);
}

/** Room for an answer, and for the tools and what the kernel says around a conversation. */
export const ANSWER_TOKENS = 1_000;
const AROUND_TOKENS = 500;
const TOOL_TOKENS = 60;

/** A window in which a share of the whole conversation fits, beside what stands around it in every request. */
export function windowFor({ instructions = "", tools, turns, answers, outputs }: Plan, share: number): number {
  const said = [
    ...turns.map(({ input }) => input),
    ...answers.flatMap(({ text = "", reasoning = "", calls = [] }) => [text, reasoning, JSON.stringify(calls)]),
    ...outputs.flat().map(({ text }) => text),
  ];
  const tokens = said.reduce((sum, text) => sum + estimateCounter.count(text), 0);
  const around = estimateCounter.count(instructions) + tools.length * TOOL_TOKENS + AROUND_TOKENS;
  return Math.ceil((tokens * share + around) / 0.98) + ANSWER_TOKENS;
}

/** What the tools of a session return, by the ids their calls will have. */
export function outputsById(session: string, { outputs }: Plan): ReadonlyMap<string, RecordedOutput> {
  return new Map(
    outputs.flatMap((list, nth) =>
      list.map((output, index) => [callIdAt(toSessionId(session), nth + 1, index), output] as const),
    ),
  );
}

class Planner {
  readonly answers: ScriptedAnswer[] = [];
  readonly #outputs: RecordedOutput[][] = [];
  readonly #turns: { input: string; answersSoFar: number }[] = [];
  readonly #recorded: ReadonlyMap<string, RecordedOutput>;

  constructor(recorded: ReadonlyMap<string, RecordedOutput>) {
    this.#recorded = recorded;
  }

  answer(run: readonly Item[], said: readonly string[]): void {
    const { answer, outputs } = this.#spoken(run);
    if (answer === undefined) return;
    const open = this.#turns.length > 0 && (this.answers.at(-1)?.calls ?? []).length > 0;
    if (said.length > 0 || !open) {
      this.#close();
      this.#turns.push({ input: said.length === 0 ? GO_ON : said.join("\n\n"), answersSoFar: 0 });
    }
    this.answers.push(answer);
    this.#outputs.push(outputs);
  }

  finished(): Pick<Plan, "answers" | "outputs" | "turns"> {
    this.#close();
    return { answers: this.answers, outputs: this.#outputs, turns: this.#turns };
  }

  /** A turn that the recorded user cut short after calls: a loop asks on, so the model must say something. */
  #close(): void {
    const last = this.#turns.at(-1);
    if (last === undefined) return;
    if ((this.answers.at(-1)?.calls ?? []).length > 0) {
      this.answers.push({ text: "That is all." });
      this.#outputs.push([]);
    }
    last.answersSoFar = this.answers.length;
  }

  #spoken(run: readonly Item[]): { readonly answer?: ScriptedAnswer; readonly outputs: RecordedOutput[] } {
    const texts = run.flatMap((item) => (item.kind === "assistant" ? [textOf(item.parts)] : []));
    const thoughts = run.flatMap((item) => (item.kind === "reasoning" && item.text !== "" ? [item.text] : []));
    const calls: ScriptedCall[] = [];
    const outputs: RecordedOutput[] = [];
    for (const item of run) {
      if (item.kind !== "call") continue;
      const given =
        item.inputText === undefined ? { input: (item.input ?? {}) as Json } : { inputText: item.inputText };
      calls.push({ name: item.name, ...given, ...(item.callId === undefined ? {} : { id: item.callId }) });
      outputs.push(this.#recorded.get(item.callId ?? "") ?? LOST);
    }
    const text = texts.join("\n");
    if (text.trim() === "" && calls.length === 0) return { outputs };
    const answer: ScriptedAnswer = {
      ...(thoughts.length === 0 ? {} : { reasoning: thoughts.join("\n") }),
      ...(text === "" ? {} : { text }),
      ...(calls.length === 0 ? {} : { calls }),
    };
    return { answer, outputs };
  }
}

function isOurs(item: Item): boolean {
  return item.kind === "call" && item.partial !== true && item.server !== true;
}
