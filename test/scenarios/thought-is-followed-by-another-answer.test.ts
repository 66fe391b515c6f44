import { createOpenAI } from "@ai-sdk/openai";
import { expect, test } from "vitest";
import { aiSdk } from "../../src/adapters/ai-sdk/entry.ts";
import { openai } from "../../src/adapters/openai/entry.ts";
import { type Item, type Model, writeMessages } from "../../src/index.ts";
import { startProviderServer } from "../../src/testing/entry.ts";
import { user } from "../histories/items.ts";
import { opened } from "../support/durable.ts";
import { watch } from "../support/loop.ts";

const key = { apiKey: "key" };
const MODELS: Readonly<Record<string, (baseURL: string) => Model>> = {
  "the official SDK": (baseURL) => openai({ ...key, baseURL, model: "m" }),
  "the AI SDK": (baseURL) => aiSdk(createOpenAI({ ...key, baseURL })("m")),
};

test.each(Object.keys(MODELS))(
  "[WIRE-46] a thought that used up the limit is not sent before the answer that came when the turn went on: %s",
  async (name) => {
    const script = [{ reasoning: "too long", stop: "length" }, { reasoning: "short", text: "So." }, { text: "Yes." }];
    await using server = await startProviderServer({ script: script as never });
    const { session, holdfast } = await opened();
    const model = (MODELS[name] as (typeof MODELS)[string])(`${server.url}/v1`);
    for (const said of ["go", undefined, "well?"]) await watch(session.run(said, { model }));
    const sent = JSON.stringify(server.requests.at(-1)?.body);
    expect(sent).not.toContain("rs_strict0");
    expect(sent).toContain("rs_strict1");
    await holdfast.close();
  },
);

test("[WIRE-46] of several thoughts of one answer none is parted from it, and it is told which went", () => {
  const thought = (id: string, step: string | number): Item => ({
    kind: "reasoning",
    id,
    text: id,
    step,
    origin: {
      format: "openai-responses",
      message: { type: "reasoning", id, summary: [] },
      at: 0,
      pieces: [],
      nth: 0,
      of: 1,
    },
  });
  const say = (step: string | number): Item => ({ kind: "assistant", step, parts: [{ type: "text", text: "so" }] });
  const items = [
    user(),
    thought("a", "one"),
    thought("b", "one"),
    thought("c", "two"),
    thought("d", "two"),
    say("two"),
  ];
  const { messages, adjustments } = writeMessages(items, "openai-responses");
  expect(messages.flatMap((message) => ("id" in message ? [message.id] : []))).toEqual(["c", "d"]);
  expect(adjustments.filter(({ kind }) => kind === "thought-dropped").map(({ at }) => at)).toEqual([2, 1]);
  // A list that a host cut into messages says nothing of answers.
  const cut = writeMessages([user(), thought("a", 1), say(2)], "openai-responses");
  expect(JSON.stringify(cut.messages)).toContain('"id":"a"');
});
