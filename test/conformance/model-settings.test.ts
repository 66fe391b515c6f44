import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { aiSdk, type AiSdkModel } from "../../src/adapters/ai-sdk/entry.ts";
import { anthropic } from "../../src/adapters/anthropic/entry.ts";
import { openai, openaiTokens } from "../../src/adapters/openai/entry.ts";
import { failureOf, ScriptedFailure } from "../../src/adapters/scripted/errors.ts";
import type { Model, ModelEvent } from "../../src/index.ts";
import { user } from "../histories/items.ts";
import { collect } from "../support/stores.ts";

/** What a server hears that never answers, or refuses. */
async function heard(
  model: (url: string) => Model,
  answers: boolean,
): Promise<{ headers: IncomingHttpHeaders[]; last: ModelEvent | undefined }> {
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    headers.push(request.headers);
    if (answers)
      response
        .writeHead(401, { "content-type": "application/json", "x-should-retry": "false" })
        .end('{"error":{"message":"no"}}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const asked = model(`http://127.0.0.1:${port}`).ask(
      { items: [user()], maxOutputTokens: 9 },
      { signal: new AbortController().signal },
    );
    return { headers, last: (await collect(asked)).at(-1) };
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const key = { model: "m", apiKey: "k" };
const MODELS: Readonly<Record<string, (more: object) => (url: string) => Model>> = {
  "openai responses": (more) => (url) => openai({ ...key, ...more, baseURL: `${url}/v1` }),
  "openai chat": (more) => (url) => openai({ ...key, ...more, api: "chat", baseURL: `${url}/v1` }),
  anthropic: (more) => (url) => anthropic({ ...key, ...more, baseURL: url }),
};

describe.each(Object.entries(MODELS))("%s", (_, made) => {
  test("[ADAPT-1] says the headers that it was given with every question", async () => {
    const { headers, last } = await heard(made({ headers: { "x-team": "blue" } }), true);
    expect(headers[0]?.["x-team"]).toBe("blue");
    expect(last).toMatchObject({ kind: "failed" });
  });

  test("[ADAPT-5] gives up on a server that does not answer in the time it was given", async () => {
    const { last } = await heard(made({ timeoutMs: 50 }), false);
    expect(last).toMatchObject({ kind: "failed", failure: { kind: "timed-out" } });
  });
});

test("[ADAPT-1] whose demands are met, and what a model can, is told by an option or by the provider's name", () => {
  const model = (provider: string) => ({ specificationVersion: "v3", provider, modelId: "m" }) as unknown as AiSdkModel;
  expect(aiSdk(model("openai.chat"), { profile: "anthropic" }).profile.id).toBe("anthropic");
  expect(aiSdk(model("anthropic.messages")).can.sealsReasoning).toBe(true);
  expect(aiSdk(model("somebody")).can.sealsReasoning).toBe(false);
  expect(aiSdk(model("openai.responses"), { sealedReasoning: false }).can.sealsReasoning).toBe(false);
  expect(anthropic({ ...key, cache: false }).can.cacheMarks).toBe(0);
  expect(anthropic(key).can.cacheMarks).toBeGreaterThan(0);
});

test("[TOKEN-1] the encoding of a model is told by its name", async () => {
  const names = await Promise.all(
    ["gpt-oss-120b", "gpt-4", "gpt-4o", "cl100k_base"].map(async (of) => (await openaiTokens(of)).name),
  );
  expect(names).toEqual(["o200k_harmony", "cl100k_base", "o200k_base", "cl100k_base"]);
});

test("[ADAPT-5] a script's faults are failures of their kind, and what is no fault of its is unreadable", () => {
  const kind = (fault: string, begun: boolean) => failureOf(new ScriptedFailure({ fault } as never), begun).kind;
  expect([kind("hang-up", false), kind("hang-up", true), kind("silent", false), kind("overloaded", false)]).toEqual([
    "unreachable",
    "cut",
    "timed-out",
    "overloaded",
  ]);
  expect(failureOf("odd", false)).toMatchObject({ kind: "unreadable", message: expect.stringContaining("odd") });
  expect(failureOf(new ScriptedFailure({ fault: "overloaded", retryAfter: 2 } as never), false)).toMatchObject({
    retryAfterMs: 2_000,
  });
});
