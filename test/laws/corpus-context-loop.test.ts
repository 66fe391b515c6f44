import { describe, expect, test } from "vitest";
import {
  defineTool,
  estimateCounter,
  itemTokens,
  type Item,
  normalize,
  readMessages,
  textOf,
  type Tool,
} from "../../src/index.ts";
import { resultParts } from "../../src/wire/item.ts";
import type { ScriptedAnswer } from "../../src/records/script.ts";
import { replayScript } from "../../src/testing/entry.ts";
import { conversations, hasCorpus, TRANSCRIPTS } from "../histories/corpus.ts";
import { opened } from "../support/durable.ts";
import { scripted, watch } from "../support/loop.ts";

/** Sessions that say something about a cache. */
const MANY_REQUESTS = 20;
const counter = { ...estimateCounter, exact: true };

describe.skipIf(!hasCorpus)("real transcripts (HOLDFAST_CORPUS)", { timeout: 900_000 }, () => {
  test.each(TRANSCRIPTS)(
    "[VIEW-24] %s: lived through again by the loop at half its size, no request is refused",
    async (folder) => {
      let sessions = 0;
      let requests = 0;
      let reclaims = 0;
      for (const { format, messages } of conversations(folder)) {
        const { items } = normalize(readMessages(messages, format).items);
        const turns = turnsOf(items);
        if (turns.reduce((sum, { answers }) => sum + answers.length, 0) < MANY_REQUESTS) continue;
        const total = items.reduce((sum, item) => sum + itemTokens(item, counter), 0);
        const { session } = await opened(undefined, {
          tools: toolsOf(items),
          context: { window: Math.ceil(total / 2 / 0.98) + ANSWER, counter },
        });
        for (const { said, answers } of turns) {
          const script = [...answers, { text: "ok" }];
          let asked = 0;
          const model = scripted(() => script[Math.min(asked++, script.length - 1)] as ScriptedAnswer);
          const { end, events } = await watch(session.run(said, { model, maxOutputTokens: ANSWER, ...BOUNDS }));
          expect({ folder, end }).toMatchObject({ folder, end: { status: "done" } });
          requests += asked;
          reclaims += events.filter(({ kind }) => kind === "reclaimed").length;
          const view = session.context.view!;
          expect(view.tokens).toBeLessThanOrEqual(view.budget);
        }
        sessions += 1;
        await session.close();
      }
      console.log(`${folder}: ${sessions} sessions, ${requests} requests, ${reclaims} reclaims, none refused`);
      expect(sessions).toBeGreaterThan(0);
    },
  );
});

const ANSWER = 1_000;
const BOUNDS = { limits: { steps: 10_000 }, retry: { attempts: 1 } };

interface Turn {
  readonly said: string;
  readonly answers: ScriptedAnswer[];
}

/** What the user said, and what the model answered until the user spoke again. */
function turnsOf(items: readonly Item[]): readonly Turn[] {
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
function toolsOf(items: readonly Item[]): readonly Tool[] {
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
