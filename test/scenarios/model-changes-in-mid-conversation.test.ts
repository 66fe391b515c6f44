import { afterAll, expect, test } from "vitest";
import { anthropic } from "../../src/adapters/anthropic/entry.ts";
import { openai, openaiCompatible } from "../../src/adapters/openai/entry.ts";
import { scripted } from "../../src/adapters/scripted/entry.ts";
import type { Model } from "../../src/contracts/model.ts";
import { normalize } from "../../src/history/normalize.ts";
import type { ScriptedAnswer } from "../../src/records/script.ts";
import { startProviderServer } from "../../src/testing/entry.ts";
import { answered } from "../../src/turn/answered.ts";
import type { Item } from "../../src/wire/item.ts";
import { keepItems, type KeptItems, unkeepItems } from "../../src/wire/keep.ts";
import { output, system, user } from "../histories/items.ts";

/** A user switches the model between two steps. Every thought, seal and id of the first must not break the second. */
const STEP: ScriptedAnswer = {
  reasoning: "Two files could hold it.",
  text: "Looking.",
  calls: [
    { name: "grep", input: { pattern: "x" }, id: "call_same" },
    { name: "read_file", inputText: '{"path": "a' },
  ],
};
const script = () => STEP;
const tools = [
  { name: "grep", input: { type: "object" } },
  { name: "read_file", input: { type: "object" } },
];
const key = { model: "m", apiKey: "k" };
const server = await startProviderServer({ script });
const compatible = await startProviderServer({ script, compatible: true });
afterAll(() => Promise.all([server.close(), compatible.close()]));

const MODELS: Readonly<Record<string, () => Model>> = {
  "openai responses": () => openai({ ...key, baseURL: `${server.url}/v1` }),
  "openai chat": () => openai({ ...key, api: "chat", baseURL: `${server.url}/v1` }),
  compatible: () => openaiCompatible({ ...key, baseURL: `${compatible.url}/v1` }),
  anthropic: () => anthropic({ ...key, baseURL: server.url }),
  scripted: () => scripted(script),
};

async function step(model: Model, items: readonly Item[]): Promise<readonly Item[]> {
  const offered = new Set(tools.map((tool) => tool.name));
  const { history } = normalize(items, { profile: model.profile.id, tools: offered });
  const { signal } = new AbortController();
  const answer = await answered(model.ask({ items: history, tools }, { signal }));
  const outputs = answer.calls.map((call) => output(call.callId, { status: call.input.ok ? "success" : "failed" }));
  return [...history, ...answer.items, ...outputs];
}

for (const [one, first] of Object.entries(MODELS)) {
  for (const [other, second] of Object.entries(MODELS)) {
    test(`[ADAPT-3] from ${one} to ${other} and back, nothing is refused`, async () => {
      const [a, b] = [first(), second()];
      let items: readonly Item[] = [system(), user("find it")];
      for (const model of [a, b, b, a]) items = await step(model, items);
      items = await step(b, [...items, user("thanks")]);
      expect([...server.refused, ...compatible.refused]).toEqual([]);
      expect(items.filter((item) => item.kind === "call")).toHaveLength(10);
      expect(new Set(items.flatMap((item) => (item.kind === "call" ? [item.callId] : []))).size).toBe(10);
    });
  }
}

test("[ADAPT-3] items that went through a journal, as JSON, are still accepted", async () => {
  for (const make of Object.values(MODELS)) {
    const model = make();
    const items = await step(model, [system(), user("find it")]);
    const kept = JSON.parse(JSON.stringify(keepItems(items))) as KeptItems;
    await step(model, unkeepItems(kept));
    expect([...server.refused, ...compatible.refused]).toEqual([]);
  }
});
