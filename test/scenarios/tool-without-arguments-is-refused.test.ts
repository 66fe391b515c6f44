import { expect, test } from "vitest";
import { aiSdk } from "../../src/adapters/ai-sdk/entry.ts";
import type { AiSdkModel } from "../../src/adapters/ai-sdk/vendor.ts";
import { mcpTools } from "../../src/adapters/mcp/entry.ts";
import { createHoldfast, defineTool } from "../../src/index.ts";
import { memoryStore } from "../../src/stores/memory/entry.ts";
import { startProviderServer } from "../../src/testing/entry.ts";
import { user } from "../histories/items.ts";
import { WAYS, watch } from "../support/loop.ts";
import { MCP_VERSIONS } from "../support/mcp.ts";

/** One tool that takes nothing, and OpenAI refuses the whole request: "object schema missing properties". */
const now = defineTool({ name: "now", access: "read", run: () => "12:00" });
const untyped = defineTool({
  name: "untyped",
  access: "read",
  inputSchema: { properties: { at: { type: "string" } } },
  run: () => "12:00",
});
const SCRIPT = [{ calls: [{ name: "now", input: {} }] }, { text: "noon" }];

for (const [way, make] of Object.entries(WAYS)) {
  test(`[ADAPT-24] tools without arguments and without a type are offered to ${way} in its form`, async () => {
    const server = await startProviderServer({ script: SCRIPT });
    const serve = MCP_VERSIONS["version 1"];
    const served = await serve!([{ name: "theirs", run: () => ({ content: [] }) }]);
    const theirs = await mcpTools(served.client);
    const tools = [now, untyped, ...theirs.tools];
    {
      await using holdfast = await createHoldfast({ store: memoryStore(), tools });
      await using session = await holdfast.open("a");
      const { end } = await watch(session.run("what time is it?", { model: make(server.url, SCRIPT) }));
      expect([end.status, server.refused]).toEqual(["done", []]);
    }
    await served.close();
    await server.close();
  });
}

test("[ADAPT-24] a provider behind the AI SDK is given the whole schema, and a whole one as it is", async () => {
  const whole = { type: "object", properties: {}, additionalProperties: false };
  let offered: readonly { readonly inputSchema: object }[] = [];
  const doStream = (options: { readonly tools: typeof offered }) => {
    offered = options.tools;
    return Promise.reject(new Error("enough"));
  };
  const model = { specificationVersion: "v3", provider: "openai.chat", modelId: "m", doStream };
  const tools = [
    { name: "now", input: { type: "object" } },
    { name: "whole", input: whole },
  ];
  const { signal } = new AbortController();
  const events = aiSdk(model as unknown as AiSdkModel).ask({ items: [user("go")], tools }, { signal });
  for await (const _ of events);
  expect(offered.map(({ inputSchema }) => inputSchema)).toEqual([{ type: "object", properties: {} }, whole]);
});
