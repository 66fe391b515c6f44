import { expect, test } from "vitest";
import { answerFrom } from "../answer.ts";
import { aiSdk, type AiSdkModel } from "./entry.ts";
import { StreamReader } from "./stream.ts";

function answer(...pieces: readonly object[]) {
  const reader = new StreamReader();
  for (const piece of pieces) Array.from(reader.read(piece));
  const draft = reader.draft();
  return draft.stop === undefined ? undefined : answerFrom(draft, draft.stop, { items: [] });
}

const finish = (finishReason: unknown, usage: object = {}) => ({ type: "finish", finishReason, usage });
const grep = (input: string, more: object = {}) => ({
  type: "tool-call",
  toolCallId: "a",
  toolName: "grep",
  input,
  ...more,
});

test("[ADAPT-6] the words of every major for the end of an answer are read", () => {
  expect(answer(finish("stop"))?.stop).toBe("stop"); // major 5
  expect(answer(finish("content-filter"))?.stop).toBe("content-filter");
  expect(answer(finish({ unified: "length", raw: "max_tokens" }))).toMatchObject({
    stop: "length",
    stopText: "max_tokens",
  });
  expect(answer(finish({ unified: "content-filter", raw: "refusal" }))?.stop).toBe("refusal");
  expect(answer(finish({ unified: "other", raw: "pause_turn" }))?.stop).toBe("paused");
  expect(answer(finish({ unified: "other", raw: "compaction" }))?.stop).toBe("paused");
});

test("[ADAPT-9] an ending without a reason is no ending", () => {
  for (const word of ["unknown", "error", "interrupted"]) {
    expect(answer(finish(word))).toBeUndefined();
    expect(answer(finish({ unified: word }))).toBeUndefined();
  }
  expect(answer(finish({ unified: "other", raw: undefined }))).toBeUndefined(); // major 6, cut
  expect(answer(finish("other"))?.stop).toBe("other"); // major 5, said
});

test("[ADAPT-2] tokens are counted as every major counts them", () => {
  const flat = { inputTokens: 9, outputTokens: 4, totalTokens: 13, cachedInputTokens: 5, reasoningTokens: 2 };
  const told = { input: 9, output: 4, cacheRead: 5, reasoning: 2 };
  expect(answer(finish("stop", flat))?.usage).toEqual(told);
  const nested = { inputTokens: { total: 9, cacheRead: 5 }, outputTokens: { total: 4, reasoning: 2 } };
  expect(answer(finish("stop", nested))?.usage).toEqual(told);
});

test("[ADAPT-2] what Anthropic's cache took is counted as read where major 5 leaves it out, and once", () => {
  const own = { input_tokens: 4, output_tokens: 2, cache_read_input_tokens: 600, cache_creation_input_tokens: 30 };
  const flat = { inputTokens: 4, outputTokens: 2, totalTokens: 6, cachedInputTokens: 600 };
  const told = { input: 634, output: 2, cacheRead: 600, cacheWrite: 30 };
  const providerMetadata = { anthropic: { usage: own } };
  const ended = (usage: object) => answer({ ...finish("stop", usage), providerMetadata })?.usage;
  expect(ended(flat)).toEqual(told);
  const reader = new StreamReader();
  const whole = { content: [], finishReason: "stop", usage: flat, providerMetadata };
  expect([...reader.read({ type: "whole", answer: whole })].at(-1)).toEqual({ kind: "usage", usage: told });
  // Whoever has counted it already, as a gateway or major 6 does, is taken by their word.
  expect(ended({ ...flat, inputTokens: 634 })).toMatchObject({ input: 634 });
  const nested = { inputTokens: { total: 634, cacheRead: 600, cacheWrite: 30 }, outputTokens: { total: 2 } };
  expect(ended(nested)).toEqual(told);
});

test("[ADAPT-5] what a provider tells beside a part goes back with it, whenever it came", () => {
  const said = answer(
    { type: "reasoning-start", id: "0" },
    { type: "reasoning-delta", id: "0", delta: "hm" },
    { type: "reasoning-end", id: "0", providerMetadata: { anthropic: { signature: "seal" } } },
    grep("{}", { providerMetadata: { openai: { itemId: "fc_1" } } }),
    finish("tool-calls"),
  );
  expect(said?.items.map((item) => item.origin?.pieces[0])).toEqual([
    { type: "reasoning", text: "hm", providerOptions: { anthropic: { signature: "seal" } } },
    expect.objectContaining({ type: "tool-call", providerOptions: { openai: { itemId: "fc_1" } } }),
  ]);
});

test("[ADAPT-19] what the provider ran itself waits for nobody, and what nobody knows is named", () => {
  const said = answer(
    grep('{"q":1}', { providerExecuted: true }),
    { type: "tool-result", toolCallId: "a", toolName: "grep", result: "found" },
    { type: "hologram", data: 1 },
    { type: "text-delta", id: "9", delta: "done" }, // without a start
    finish("stop"),
  );
  expect(said?.calls).toEqual([]);
  expect(said?.unread).toEqual(["hologram"]);
  expect(said?.items.at(-1)).toMatchObject({ kind: "assistant", parts: [{ text: "done" }] });
});

test("[ADAPT-52] of a result that a provider shows while it is made, only the last is the call's output", () => {
  const result = (said: string, more: object = {}) => ({
    type: "tool-result",
    toolCallId: "a",
    toolName: "grep",
    result: said,
    ...more,
  });
  const said = answer(
    grep("{}", { providerExecuted: true }),
    result("half", { preliminary: true }),
    result("nearly", { preliminary: true }),
    result("whole"),
    finish("stop"),
  );
  expect(said?.items.map(({ kind }) => kind)).toEqual(["call", "output"]);
  expect(said?.items.at(-1)).toMatchObject({ parts: [{ text: "whole" }] });
});

test("[ADAPT-10] a failure is told whatever somebody's own model takes for headers", async () => {
  const signal = new AbortController().signal;
  const failureWith = async (responseHeaders: unknown) => {
    const failed = () => Promise.reject(Object.assign(new Error("slow down"), { statusCode: 429, responseHeaders }));
    const vendor: AiSdkModel = {
      specificationVersion: "v4",
      provider: "own",
      modelId: "m",
      doStream: failed,
      doGenerate: failed,
    };
    const items = [{ kind: "user", parts: [{ type: "text", text: "hi" }] }] as const;
    const events = [];
    for await (const event of aiSdk(vendor).ask({ items }, { signal })) events.push(event);
    return events;
  };
  const told = (more: object) => [{ kind: "failed", failure: { kind: "rate-limited", status: 429, ...more } }];
  for (const odd of [{ "retry-after": "…" }, { "not a name": "x" }, { "retry-after": 3 }, "text", null])
    expect(await failureWith(odd)).toMatchObject(told({}));
  for (const good of [{ "retry-after": "3", "x-odd": "…" }, new Headers({ "retry-after": "3" })])
    expect(await failureWith(good)).toMatchObject(told({ retryAfterMs: 3_000 }));
});

function closed(into: ReadableStreamDefaultController<object>, pieces: readonly object[]): void {
  for (const piece of pieces) into.enqueue(piece);
  into.close();
}

test("[ADAPT-2] pieces that cannot be put together end in a failure like any other", async () => {
  const pieces = [{ type: "tool-result", toolCallId: "a", toolName: "grep", result: 1n }, finish("stop")];
  const vendor: AiSdkModel = {
    specificationVersion: "v4",
    provider: "own",
    modelId: "m",
    doStream: async () => ({ stream: new ReadableStream({ start: (into) => closed(into, pieces) }) }),
    doGenerate: () => Promise.reject(new Error("not asked")),
  };
  const items = [{ kind: "user", parts: [{ type: "text", text: "hi" }] }] as const;
  const kinds = [];
  for await (const event of aiSdk(vendor).ask({ items }, { signal: new AbortController().signal }))
    kinds.push(event.kind === "failed" ? event.failure.kind : event.kind);
  expect(kinds).toEqual(["usage", "unreadable"]);
});

test("[ADAPT-14] a version of the contract that nobody has looked at is refused, with those that are known", () => {
  const model = { specificationVersion: "v9", provider: "p", modelId: "m" } as AiSdkModel;
  expect(() => aiSdk(model)).toThrow(expect.objectContaining({ code: "BAD_OPTION" }));
});
