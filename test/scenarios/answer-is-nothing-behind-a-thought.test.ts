import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { expect, test } from "vitest";
import { aiSdk } from "../../src/adapters/ai-sdk/entry.ts";
import { checkWire, PROFILES, type ProfileId, readMessages, writeMessages } from "../../src/index.ts";
import { startProviderServer } from "../../src/testing/entry.ts";
import { user } from "../histories/items.ts";
import { opened } from "../support/durable.ts";
import { watch } from "../support/loop.ts";

const key = { apiKey: "key" };
test.each(Object.keys(PROFILES) as readonly ProfileId[])(
  "[WIRE-11] an empty answer behind a thought that was cut off leaves no thought alone: %s",
  (profile) => {
    const { items: thought } = readMessages([{ type: "reasoning", id: "rs_1", summary: [] }], "openai-responses");
    const { items: nothing } = readMessages([{ role: "assistant", content: [] }], "ai-sdk");
    const { messages } = writeMessages([user(), ...thought, ...nothing, user()], profile);
    expect(checkWire(messages, profile)).toEqual([]);
  },
);

test("[ADAPT-3] a turn that thinks to its limit, and then hears nothing from another model, can go on", async () => {
  const script = [{ reasoning: "hm", stop: "length" }, {}, { text: "done" }] as const;
  await using server = await startProviderServer({ script });
  const { session, holdfast } = await opened();
  const at = { ...key, baseURL: `${server.url}/v1` };
  const [thinking, silent] = [aiSdk(createOpenAI(at)("m")), aiSdk(createAnthropic(at)("m"))];
  const retry = { attempts: 1 };
  await watch(session.run("go", { model: thinking, retry }));
  await watch(session.run(undefined, { model: silent, retry }));
  expect((await watch(session.run("well?", { model: thinking, retry }))).end.status).toBe("done");
  expect(server.refused).toEqual([]);
  await holdfast.close();
});
