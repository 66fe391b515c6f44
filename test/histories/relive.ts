import { defineTool, type Item, textOf, type Tool } from "../../src/index.ts";
import type { ScriptedAnswer } from "../../src/records/script.ts";
import { replayScript } from "../../src/testing/entry.ts";
import { resultParts } from "../../src/wire/item.ts";

/** One turn of a real session, to be lived through again. */
interface Turn {
  readonly said: string;
  readonly answers: ScriptedAnswer[];
}

/** What the user said, and what the model answered until the user spoke again. */
export function turnsOf(items: readonly Item[]): readonly Turn[] {
  const turns: Turn[] = [];
  let run: Item[] = [];
  const close = () => {
    const [answer = {}] = run.length === 0 ? [] : replayScript(run.map(({ step: _step, ...item }) => item as Item));
    const text = answer.text?.trim() === "" ? undefined : answer.text;
    const calls = (answer.calls ?? []).map(({ id: _id, ...call }) => call);
    if (text !== undefined || calls.length > 0)
      turns.at(-1)?.answers.push({ ...(text === undefined ? {} : { text }), calls });
    run = [];
  };
  for (const item of items) {
    const byModel = item.kind === "assistant" || item.kind === "call";
    if (!byModel) close();
    else run.push(item);
    const said = item.kind === "user" ? textOf(item.parts).trim() : "";
    if (said !== "") turns.push({ said, answers: [] });
  }
  close();
  return turns;
}

/** Tools that answer as they did, by what they were asked. */
export function toolsOf(items: readonly Item[]): readonly Tool[] {
  const outputs = new Map<string, string>();
  const names = new Set<string>();
  const inputs = new Map<string, string>();
  for (const item of items) {
    if (item.kind === "call" && item.callId !== undefined) {
      names.add(item.name);
      inputs.set(item.callId, JSON.stringify(item.inputText === undefined ? item.input : safe(item.inputText)));
    }
    if (item.kind === "output" && item.callId !== undefined)
      outputs.set(inputs.get(item.callId) ?? "", textOf(resultParts(item)));
  }
  return [...names]
    .filter((name) => /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name))
    .map((name) =>
      defineTool({
        name,
        access: "write",
        run: (input) => outputs.get(JSON.stringify(input)) ?? "nothing",
        retryable: true,
      }),
    );
}

function safe(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
