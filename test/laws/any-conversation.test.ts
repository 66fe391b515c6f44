import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { anthropic } from "../../src/adapters/anthropic/entry.ts";
import { openai, openaiCompatible } from "../../src/adapters/openai/entry.ts";
import { scripted } from "../../src/adapters/scripted/entry.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type { Answer, Model, ModelRequest } from "../../src/contracts/model.ts";
import { answered, normalize, textOf } from "../../src/index.ts";
import type { ScriptedAnswer, ScriptStep } from "../../src/records/script.ts";
import { startProviderServer } from "../../src/testing/entry.ts";
import { brokenHistory } from "../histories/generate.ts";
import { output, user } from "../histories/items.ts";

/** What every server and the scripted model say next. */
let next: ScriptStep = {};
const script = () => next;
const server = await startProviderServer({ script });
const compatible = await startProviderServer({ script, compatible: true });
afterAll(() => Promise.all([server.close(), compatible.close()]));

const key = { model: "m", apiKey: "k" };
const MODELS: readonly Model[] = [
  openai({ ...key, baseURL: `${server.url}/v1` }),
  openai({ ...key, api: "chat", baseURL: `${server.url}/v1` }),
  openaiCompatible({ ...key, baseURL: `${compatible.url}/v1` }),
  anthropic({ ...key, baseURL: server.url }),
  openai({ ...key, baseURL: `${server.url}/v1`, stream: false }),
  anthropic({ ...key, baseURL: server.url, stream: false }),
  scripted(script),
];
const ask = (model: Model, request: ModelRequest) =>
  answered(model.ask(request, { signal: new AbortController().signal }));

test("[ADAPT-3] whatever happened to a history, what repair makes of it is taken by every provider", async () => {
  next = { text: "ok" };
  const history = fc.boolean().chain((steps) => brokenHistory({ steps }));
  await fc.assert(
    fc.asyncProperty(history, async (items) => {
      for (const model of MODELS) {
        const repaired = normalize([...items, user("go on")], { profile: model.profile.id }).history;
        const names = new Set(repaired.flatMap((item) => (item.kind === "call" ? [item.name] : [])));
        const tools = [...names].map((name) => ({ name, input: { type: "object" } }));
        expect((await ask(model, { items: repaired, tools })).stop).toBe("stop");
      }
      expect([...server.refused, ...compatible.refused]).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

const word = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }).filter((text) => text.trim() !== "");
/** As JSON has it: no negative zero, and no key that a parser must refuse. */
const anyInput = fc
  .dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
  .map((input) => JSON.stringify(input))
  .filter((text) => !text.includes("__proto__"))
  .map((text) => JSON.parse(text) as JsonObject);
const anyCall = fc.record({ name: fc.constantFrom("grep", "read_file"), input: anyInput });
const anyAnswer = fc.record(
  { text: word, reasoning: word, calls: fc.array(anyCall, { maxLength: 4 }) },
  { requiredKeys: [] },
) as fc.Arbitrary<ScriptedAnswer>;

/** An answer without ids, times and formats. */
const neutral = ({ items, calls, stop }: Answer) => ({
  text: items.map((item) => (item.kind === "assistant" ? textOf(item.parts) : "")).join(""),
  calls: calls.map(({ index, name, input }) => ({ index, name, input })),
  stop,
});

test("[ADAPT-1] whatever a script says, it is the same answer from every adapter, and every next request is taken", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyAnswer, { minLength: 1, maxLength: 3 }), async (answers) => {
      const told: object[][] = [];
      for (const model of MODELS) {
        let request: ModelRequest = {
          items: [user("go")],
          tools: [
            { name: "grep", input: {} },
            { name: "read_file", input: {} },
          ],
        };
        const said: object[] = [];
        for (const answer of answers) {
          next = answer;
          const heard = await ask(model, request);
          said.push(neutral(heard));
          const outputs = heard.calls.map(({ callId }) => output(callId));
          const items = normalize([...request.items, ...heard.items, ...outputs, user("on")], {
            profile: model.profile.id,
          });
          request = { ...request, items: items.history };
        }
        told.push(said);
      }
      for (const said of told) expect(said).toEqual(told[0]);
      expect([...server.refused, ...compatible.refused]).toEqual([]);
    }),
    { numRuns: 40 },
  );
});
