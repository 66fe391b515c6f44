import { Anthropic } from "@anthropic-ai/sdk";
import { OpenAI } from "openai";
import { expect, test, vi } from "vitest";
import { readTree } from "../gates/tree.ts";
import { findVendors } from "../gates/vendor-free-core.ts";
import { user } from "../histories/items.ts";
import { HoldfastError } from "../../src/base/errors.ts";
import type { Model } from "../../src/contracts/model.ts";
import { answered } from "../../src/turn/answered.ts";
import { type AnthropicClient, anthropic } from "../../src/adapters/anthropic/entry.ts";
import { anthropicClient } from "../../src/adapters/anthropic/vendor.ts";
import { type OpenAiClient, openai, openaiCompatible } from "../../src/adapters/openai/entry.ts";
import { openAiClient } from "../../src/adapters/openai/vendor.ts";
import { startProviderServer } from "../../src/testing/entry.ts";

const absent = () => Promise.reject(new Error("Cannot find package"));
const ask = (model: Model) => answered(model.ask({ items: [user()] }, { signal: new AbortController().signal }));

test("[ADAPT-14] a missing SDK is named, with what to do", async () => {
  for (const [client, name] of [
    [openAiClient({}, absent), "openai"],
    [anthropicClient({}, absent), "@anthropic-ai/sdk"],
  ] as const) {
    const error = await client.catch((thrown: unknown) => thrown);
    expect(HoldfastError.is(error, "SDK_MISSING") && error.details["package"]).toBe(name);
  }
});

test("[ADAPT-14] the official clients have the shape, and a double takes their place", async () => {
  const official: readonly [OpenAiClient, AnthropicClient] = [
    new OpenAI({ apiKey: "k" }),
    new Anthropic({ apiKey: "k" }),
  ];
  expect(official.length).toBe(2);
  const asked: object[] = [];
  const said = {
    id: "c",
    choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  };
  const client: OpenAiClient = {
    chat: { completions: { create: async (body) => (asked.push(body), said) } },
    responses: { create: () => Promise.reject(new Error("not asked")) },
  };
  const model = openai({ model: "m", api: "chat", client, stream: false });
  expect((await ask(model)).stop).toBe("stop");
  expect(asked).toMatchObject([{ model: "m", messages: [{ role: "user", content: "hello" }] }]);
});

test("[ADAPT-46] a server that wants no key is asked without one, and another with the key that is given", async () => {
  vi.stubEnv("OPENAI_API_KEY", undefined);
  vi.stubEnv("OPENAI_ADMIN_KEY", undefined);
  await using free = await startProviderServer({ script: [{ text: "hi" }] });
  await using paid = await startProviderServer({ script: [{ text: "hi" }], apiKey: "mine" });
  const model = { model: "qwen", baseURL: `${free.url}/v1` };
  expect((await ask(openaiCompatible(model))).stop).toBe("stop");
  const known = { model: "qwen", baseURL: `${paid.url}/v1`, apiKey: "mine" };
  expect((await ask(openaiCompatible(known))).stop).toBe("stop");
  await expect(ask(openai(model))).rejects.toMatchObject({ cause: { failure: { kind: "not-allowed" } } }); // OpenAI wants one
  vi.stubEnv("OPENAI_API_KEY", "for-openai");
  await using other = await startProviderServer({ script: [{ text: "hi" }], apiKey: "for-openai" });
  const unpaid = openaiCompatible({ model: "qwen", baseURL: `${other.url}/v1` });
  await expect(ask(unpaid)).rejects.toMatchObject({ cause: { failure: { kind: "not-allowed" } } });
  vi.unstubAllEnvs();
});

test("[ADAPT-13] walking away also ends the request of a client that does not notice", async () => {
  let signal: AbortSignal | undefined;
  async function* chunks() {
    for (;;) yield { id: "c", choices: [{ index: 0, delta: { content: "on and on" } }] };
  }
  const endless = chunks();
  const unmindful = { [Symbol.asyncIterator]: () => ({ next: () => endless.next() }) };
  const client: OpenAiClient = {
    chat: { completions: { create: async (_body, options) => ((signal = options.signal), unmindful) } },
    responses: { create: () => Promise.reject(new Error("not asked")) },
  };
  const model = openai({ model: "m", api: "chat", client });
  for await (const event of model.ask({ items: [user()] }, { signal: new AbortController().signal })) {
    expect(event.kind).toBe("text-delta");
    expect(signal?.aborted).toBe(false);
    break;
  }
  expect(signal?.aborted).toBe(true);
});

test("[ADAPT-14] an adapter loads no SDK before it is asked", () => {
  const tree = readTree("src");
  for (const adapter of ["openai", "anthropic", "scripted"]) {
    const packages = findVendors(`src/adapters/${adapter}/entry.ts`, tree).filter(
      (fault) => !fault.includes("loads src/"),
    );
    expect(packages).toEqual([]);
  }
});

test("[ADAPT-14] making a model connects to nothing and needs no key", () => {
  expect(openai({ model: "m" }).name).toBe("openai:m");
  expect(anthropic({ model: "m" }).name).toBe("anthropic:m");
});

test("[ADAPT-10] without a key the first question says so, and nothing is sent", async () => {
  vi.stubEnv("OPENAI_API_KEY", undefined);
  vi.stubEnv("ANTHROPIC_API_KEY", undefined);
  vi.stubEnv("ANTHROPIC_AUTH_TOKEN", undefined);
  const nowhere = "http://127.0.0.1:9";
  for (const model of [openai({ model: "m", baseURL: nowhere }), anthropic({ model: "m", baseURL: nowhere })]) {
    const error = await ask(model).catch((thrown: unknown) => thrown);
    expect(HoldfastError.is(error, "MODEL_FAILED") && error.details).toMatchObject({
      kind: "not-allowed",
      reached: "no",
    });
  }
  vi.unstubAllEnvs();
});

test("[ADAPT-18] events without an ending are no answer, and a failure is thrown with what was said", async () => {
  async function* unfinished() {
    yield { kind: "text-delta", text: "so" } as const;
  }
  await expect(answered(unfinished())).rejects.toMatchObject({ code: "MODEL_UNFINISHED" });
  const failing: Model = {
    ...openai({ model: "m" }),
    async *ask() {
      const failure = { kind: "overloaded", message: "Overloaded", retryable: true, reached: "no" } as const;
      yield { kind: "failed", failure, partial: { items: [user("x")], unread: [] } } as const;
    },
  };
  const error = await ask(failing).catch((thrown: unknown) => thrown);
  expect(HoldfastError.is(error, "MODEL_FAILED") && error.details).toMatchObject({
    kind: "overloaded",
    retryable: true,
  });
  expect((error as Error).cause).toMatchObject({ partial: { items: [{ kind: "user" }] } });
});
