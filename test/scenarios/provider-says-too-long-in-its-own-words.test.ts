import { expect, test } from "vitest";
import { aiSdk } from "../../src/adapters/ai-sdk/entry.ts";
import type { AiSdkModel } from "../../src/adapters/ai-sdk/vendor.ts";
import { createHoldfast } from "../../src/index.ts";
import { memoryStore } from "../../src/stores/memory/entry.ts";
import { watch } from "../support/loop.ts";

/** Taken for any other refusal, the session would be refused the same history in every later turn. */
const WORDS: Readonly<Record<string, string>> = {
  google: "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
  anthropic: "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000, decrease input length",
};

/** A model that refuses its second request. */
function refusing(provider: string, message: string): { readonly model: AiSdkModel; readonly asked: () => number } {
  let asked = 0;
  const doStream = () => {
    asked += 1;
    const body = { error: { message } };
    const called = { name: "AI_APICallError", statusCode: 400, responseBody: JSON.stringify(body) };
    if (asked === 2) return Promise.reject(Object.assign(new Error(message), called));
    return Promise.resolve({ stream: answer() });
  };
  const model = { specificationVersion: "v3", provider, modelId: "m", doStream } as unknown as AiSdkModel;
  return { model, asked: () => asked };
}

async function* answer(): AsyncGenerator<object> {
  yield { type: "text-start", id: "1" };
  yield { type: "text-delta", id: "1", delta: "ok" };
  yield { type: "text-end", id: "1" };
  const usage = { inputTokens: { total: 5 }, outputTokens: { total: 5 } };
  yield { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage };
}

for (const [provider, message] of Object.entries(WORDS)) {
  test(`[VIEW-22] a request that is too long in the words of ${provider} is sent once more, behind the AI SDK, too`, async () => {
    await using holdfast = await createHoldfast({ store: memoryStore() });
    await using session = await holdfast.open("a");
    const { model, asked } = refusing(provider, message);
    await watch(session.run(`first ${"x ".repeat(3000)}`, { model: aiSdk(model) }));
    const { end } = await watch(session.run("second", { model: aiSdk(model) }));
    expect([end.status, asked()]).toEqual(["done", 3]);
  });
}
