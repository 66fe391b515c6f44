import { expect, test } from "vitest";
import { failureOf } from "../../src/adapters/ai-sdk/errors.ts";
import { StreamReader } from "../../src/adapters/ai-sdk/stream.ts";
import { anthropic } from "../../src/adapters/anthropic/entry.ts";
import { openai, openaiCompatible } from "../../src/adapters/openai/entry.ts";
import type { Model, ModelEvent } from "../../src/contracts/model.ts";
import { user } from "../histories/items.ts";

async function ending(model: Model): Promise<ModelEvent | undefined> {
  let last: ModelEvent | undefined;
  for await (const event of model.ask({ items: [user()] }, { signal: new AbortController().signal })) last = event;
  return last;
}

async function* streamed(pieces: readonly unknown[]) {
  for (const piece of pieces) {
    if (piece instanceof Error) throw piece;
    yield piece;
  }
}

const client = (...pieces: readonly unknown[]) => ({ create: async () => streamed(pieces) });
const chat = (...pieces: readonly unknown[]) =>
  openaiCompatible({
    model: "m",
    baseURL: "https://a",
    client: { chat: { completions: client(...pieces) }, responses: client() } as never,
  });
const claude = (...pieces: readonly unknown[]) =>
  anthropic({ model: "m", client: { messages: client(...pieces) } as never });

const begun = { id: "c", choices: [{ index: 0, delta: { content: "Well" }, finish_reason: null }] };
/** As the official SDK throws what a server says in the middle of a stream: without a status. */
const thrown = (error: unknown) => Object.assign(new Error("told"), { error, status: undefined });

test.each([
  ["a status", { code: 429, message: "Slow down." }, "rate-limited"],
  ["a status that it broke", { code: 502, message: "Provider disconnected." }, "provider-broken"],
  ["a status of a refusal", { code: 400, type: "BadRequestError", message: "context length exceeded" }, "too-long"],
  ["nothing but words", { message: "Out of memory." }, "provider-broken"],
])("[ADAPT-10] [ADAPT-39] a server of chat fails in mid-answer and tells %s", async (_, error, kind) => {
  const { message } = error;
  for (const model of [
    chat(begun, thrown(error)),
    chat(begun, { id: "c", error, choices: [{ delta: { content: "" }, finish_reason: "error" }] }),
    chat({ error }), // in place of an answer, under a status of 200
  ]) {
    expect(await ending(model)).toMatchObject({ kind: "failed", failure: { kind, message, reached: "yes" } });
  }
});

test("[ADAPT-39] an answer whose reason to end is an error is none", async () => {
  const cause = { code: 503, message: "No instance." };
  const end = { index: 0, delta: {}, finish_reason: "error" };
  expect(await ending(chat(begun, { choices: [{ ...end, error: cause }] }))).toMatchObject({
    kind: "failed",
    failure: { kind: "overloaded", message: "No instance." },
    partial: { items: [{ kind: "assistant", parts: [{ text: "Well" }] }] },
  });
  expect(await ending(chat(begun, { choices: [end] }))).toMatchObject({
    kind: "failed",
    failure: { kind: "provider-broken" },
  });
});

test("[ADAPT-39] an error among Anthropic's events is a failure by its name, also of a client that hands it on", async () => {
  const start = { type: "message_start", message: { id: "m1", model: "m", usage: { input_tokens: 9 } } };
  const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  const end = await ending(claude(start, error));
  expect(end).toMatchObject({ kind: "failed", failure: { kind: "overloaded", message: "Overloaded" } });
});

test("[ADAPT-40] what Anthropic counted before the answer broke off is told", async () => {
  const start = { type: "message_start", message: { id: "m1", usage: { input_tokens: 9, output_tokens: 1 } } };
  expect(await ending(claude(start))).toMatchObject({
    kind: "failed",
    failure: { kind: "cut" },
    partial: { usage: { input: 9, output: 1 } },
  });
});

test("[ADAPT-41] of several choices the first is read, however they are counted", async () => {
  const piece = (index: number, content: string, finish_reason: string | null = null) => ({
    choices: [{ index, delta: { content }, finish_reason }],
  });
  for (const first of [0, 1]) {
    const model = chat(
      piece(first, "Yes"),
      piece(2, "No"),
      piece(first, "."),
      piece(2, "", "length"),
      piece(first, "", "stop"),
    );
    expect(await ending(model)).toMatchObject({
      kind: "end",
      answer: { stop: "stop", items: [{ parts: [{ text: "Yes." }] }] },
    });
  }
  const both = { choices: [...piece(1, "No", "stop").choices, ...piece(0, "Yes", "stop").choices] };
  const whole = openai({
    model: "m",
    api: "chat",
    stream: false,
    client: { chat: { completions: { create: async () => both } }, responses: client() } as never,
  });
  expect(await ending(whole)).toMatchObject({ kind: "end", answer: { items: [{ parts: [{ text: "No" }] }] } });
});

test("[ADAPT-39] what the AI SDK hands on as an error is told by its status and in its words", () => {
  const told = (error: unknown) => failureOf(error, true);
  expect(told({ code: 502, message: "Provider disconnected." })).toMatchObject({
    kind: "provider-broken",
    message: "Provider disconnected.",
    status: 502,
  });
  expect(told({ message: "Out of memory." })).toMatchObject({ kind: "provider-broken", message: "Out of memory." });
});

test("[ADAPT-39] a field for errors in which there is none fails no answer", async () => {
  for (const error of [null, {}, ""]) {
    const end = await ending(chat({ ...begun, error }, { error, choices: [{ delta: {}, finish_reason: "stop" }] }));
    expect(end).toMatchObject({ kind: "end", answer: { stop: "stop" } });
  }
  expect(await ending(chat(begun, { error: "Out of memory." }))).toMatchObject({
    failure: { kind: "provider-broken", message: "Out of memory." },
  });
});

test("[ADAPT-2] a tool that the provider runs itself is no call of ours, and is not told as one", () => {
  const reader = new StreamReader();
  const pieces = [
    { type: "tool-input-start", id: "w1", toolName: "web", providerExecuted: true },
    { type: "tool-input-delta", id: "w1", delta: "{}" },
    { type: "tool-call", toolCallId: "w1", toolName: "web", input: "{}", providerExecuted: true },
  ];
  expect(pieces.flatMap((piece) => [...reader.read(piece)])).toEqual([]);
});

test("[ADAPT-6] other words of servers of chat for a limit and an end are read", async () => {
  const stop = async (finish_reason: string) => {
    const end = await ending(chat(begun, { choices: [{ index: 0, delta: {}, finish_reason }] }));
    return end?.kind === "end" ? [end.answer.stop, end.answer.stopText] : end;
  };
  expect(await stop("model_length")).toEqual(["length", "model_length"]);
  expect(await stop("eos")).toEqual(["stop", "eos"]);
  expect(await stop("novel")).toEqual(["other", "novel"]);
});
