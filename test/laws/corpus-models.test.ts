import { afterAll, describe, expect, test } from "vitest";
import { anthropic } from "../../src/adapters/anthropic/entry.ts";
import { openai, openaiCompatible } from "../../src/adapters/openai/entry.ts";
import type { Answer, Model } from "../../src/contracts/model.ts";
import { answered, type Item, normalize, readMessages, type ToolCallId } from "../../src/index.ts";
import type { ScriptedAnswer, ScriptStep } from "../../src/records/script.ts";
import { replayScript, startProviderServer } from "../../src/testing/entry.ts";
import { conversations, hasCorpus, TRANSCRIPTS } from "../histories/corpus.ts";

/** What the servers say next. */
let next: ScriptStep = {};
const server = await startProviderServer({ script: () => next });
const compatible = await startProviderServer({ script: () => next, compatible: true });
afterAll(() => Promise.all([server.close(), compatible.close()]));

const key = { model: "m", apiKey: "k" };
const MODELS: readonly Model[] = [
  openai({ ...key, baseURL: `${server.url}/v1` }),
  openai({ ...key, api: "chat", baseURL: `${server.url}/v1` }),
  openaiCompatible({ ...key, baseURL: `${compatible.url}/v1` }),
  anthropic({ ...key, baseURL: server.url }),
];
/** Requests grow with every answer, so long sessions are followed for so many. */
const MOST_ANSWERS = 40;

/** Tools that some providers would not let a host offer are not offered; calls of them become notes. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

describe.skipIf(!hasCorpus)("real transcripts (HOLDFAST_CORPUS)", () => {
  test.each(TRANSCRIPTS)(
    "[ADAPT-3] [ADAPT-17] %s: replayed through every provider, no request is refused and every answer is heard",
    { timeout: 600_000 },
    async (folder) => {
      let asked = 0;
      for (const { name, format, messages } of conversations(folder)) {
        const { items } = readMessages(messages, format);
        for (const model of MODELS) asked += await follow(model, items, name);
      }
      console.log(`${folder}: ${asked} requests, ${server.refused.length + compatible.refused.length} refused`);
      expect(asked).toBeGreaterThan(0);
    },
  );
});

/** Lives through a conversation again: the model's part is asked for anew, everybody else's is as it was. */
async function follow(model: Model, recorded: readonly Item[], name: string): Promise<number> {
  const names = new Set(recorded.flatMap((item) => (item.kind === "call" && NAME.test(item.name) ? [item.name] : [])));
  const tools = [...names].map((tool) => ({ name: tool, input: { type: "object" } }));
  let items: readonly Item[] = [];
  let asked = 0;
  for (const [answer, others] of parts(recorded)) {
    if (answer !== undefined && items.length > 0) {
      if (asked === MOST_ANSWERS) return asked;
      next = answer;
      const { history } = normalize(items, { profile: model.profile.id, tools: names });
      const heard = await answered(model.ask({ items: history, tools }, { signal: new AbortController().signal }));
      asked += 1;
      expect({ name, calls: heard.calls.map((call) => call.name) }).toEqual({
        name,
        calls: (answer.calls ?? []).map((call) => call.name),
      });
      items = [...history, ...heard.items, ...renamed(others, answer, heard)];
    } else items = [...items, ...others];
  }
  return asked;
}

/** The conversation as answers of the model, each with what followed it. */
function* parts(recorded: readonly Item[]): Generator<readonly [ScriptedAnswer | undefined, readonly Item[]]> {
  let run: Item[] = [];
  let others: Item[] = [];
  for (const item of recorded) {
    const models = replayScript([item]).length > 0;
    if (models && others.length > 0) {
      yield [run.length > 0 ? replayScript(run.map(({ step: _step, ...one }) => one as Item))[0] : undefined, others];
      [run, others] = [[], []];
    }
    (models ? run : others).push(item);
  }
  yield [run.length > 0 ? replayScript(run.map(({ step: _step, ...one }) => one as Item))[0] : undefined, others];
}

/** Outputs answer the calls as they are called now. */
function renamed(others: readonly Item[], said: ScriptedAnswer, heard: Answer): readonly Item[] {
  const now = new Map<string | undefined, ToolCallId>();
  for (const { index, callId } of heard.calls) now.set(said.calls?.[index]?.id, callId);
  return others.map((item) => {
    const callId = item.kind === "output" ? now.get(item.callId) : undefined;
    return callId === undefined ? item : ({ ...item, callId } as Item);
  });
}
