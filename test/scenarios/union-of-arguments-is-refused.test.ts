import { expect, test } from "vitest";
import { serveTools } from "../../src/adapters/mcp/entry.ts";
import { createHoldfast, defineTool, type JsonObject } from "../../src/index.ts";
import { memoryStore } from "../../src/stores/memory/entry.ts";
import { startProviderServer } from "../../src/testing/entry.ts";
import { WAYS, watch } from "../support/loop.ts";

/** One tool whose schema is a union at its root, and OpenAI and Anthropic refuse the whole request. */
const form = (action: string, more: JsonObject = {}, demanded: readonly string[] = Object.keys(more)): JsonObject => ({
  type: "object",
  properties: { action: { type: "string", const: action }, path: { type: "string" }, ...more },
  required: ["action", "path", ...demanded],
});
const inputSchema: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  oneOf: [form("read"), form("write", { text: { type: "string" } })],
};
const file = defineTool<{ action: string }>({
  name: "file",
  description: "Reads or writes a file.",
  access: "write",
  actions: { field: "action", access: { read: "read", write: "write" } },
  inputSchema,
  run: ({ action }) => action,
});
/** What a server lists, for example: an intersection of a named definition and a choice. */
const other = defineTool({
  name: "other",
  access: "read",
  inputSchema: {
    allOf: [{ $ref: "#/$defs/Page" }, { anyOf: [{ required: ["q"] }, { required: ["id"] }] }],
    $defs: { Page: { type: "object", properties: { q: {}, id: {}, page: { type: "integer" } } } },
  },
  run: () => "found",
});
const SCRIPT = [{ calls: [{ name: "file", input: { action: "read", path: "a" } }] }, { text: "done" }];

for (const [way, make] of Object.entries(WAYS))
  for (const mode of ["act", "plan"] as const)
    test(`[ADAPT-47] tools whose arguments are a union are offered to ${way} as objects, in ${mode} mode`, async () => {
      const server = await startProviderServer({ script: SCRIPT });
      {
        await using holdfast = await createHoldfast({ store: memoryStore(), tools: [file, other] });
        await using session = await holdfast.open("a");
        await session.setMode(mode, "for the test");
        const { end, events } = await watch(session.run("read it", { model: make(server.url, SCRIPT) }));
        expect([end.status, server.refused]).toEqual(["done", []]);
        expect(events).toContainEqual(
          expect.objectContaining({ kind: "call-closed", outcome: expect.objectContaining({ output: "read" }) }),
        );
      }
      await server.close();
    });

test("[ADAPT-48] a union at the root of a schema is refused in the words of OpenAI and of Anthropic", async () => {
  await using server = await startProviderServer({ script: () => ({ text: "done" }) });
  const send = async (path: string, body: object) => {
    const headers = { "content-type": "application/json", authorization: "Bearer k", "x-api-key": "k" };
    const versioned = { ...headers, "anthropic-version": "2023-06-01" };
    const answer = await fetch(`${server.url}${path}`, {
      method: "POST",
      headers: versioned,
      body: JSON.stringify(body),
    });
    const { error } = (await answer.json()) as { error?: { message: string } };
    return [answer.status, error?.message];
  };
  const messages = [{ role: "user", content: "go" }];
  const schema = { type: "object", properties: {}, ...inputSchema };
  const chat = { model: "m", messages, tools: [{ type: "function", function: { name: "file", parameters: schema } }] };
  const responses = { model: "m", input: "go", tools: [{ type: "function", name: "file", parameters: schema }] };
  const told =
    "Invalid schema for function 'file': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.";
  expect(await send("/v1/chat/completions", chat)).toEqual([400, told]);
  expect(await send("/v1/responses", responses)).toEqual([400, told]);
  const anthropic = { model: "m", max_tokens: 9, messages, tools: [{ name: "file", input_schema: schema }] };
  expect(await send("/v1/messages", anthropic)).toEqual([
    400,
    "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level",
  ]);
});

test("[ADAPT-47] whoever serves a session's tools lists them as objects, too", async () => {
  await using holdfast = await createHoldfast({ store: memoryStore(), tools: [file] });
  await using session = await holdfast.open("a");
  const { Client } = await import("@modelcontextprotocol/client");
  const { InMemoryTransport } = await import("@modelcontextprotocol/client");
  const [here, there] = InMemoryTransport.createLinkedPair();
  await serveTools(session).connect(there);
  const client = new Client({ name: "c", version: "1" });
  await client.connect(here);
  const { tools } = await client.listTools();
  expect(tools.find(({ name }) => name === "file")?.inputSchema).toEqual({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    description: 'Takes one of these forms: { action: "read", path } or { action: "write", path, text }.',
    type: "object",
    properties: {
      action: { type: "string", enum: ["read", "write"] },
      path: { type: "string" },
      text: { type: "string" },
    },
    required: ["action", "path"],
  });
  await client.close();
});
