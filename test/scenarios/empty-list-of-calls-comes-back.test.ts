import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, describe, expect, test } from "vitest";
import { openai, openaiCompatible } from "../../src/adapters/openai/entry.ts";
import { checkWire, createHoldfast, readMessages, repairMessages, writeMessages } from "../../src/index.ts";
import { memoryStore } from "../../src/stores/memory/entry.ts";
import { openaiChatDialect } from "../../src/testing/provider-server/openai-chat.ts";
import { watch } from "../support/loop.ts";

/** A server that answers `tool_calls: []`, as many do, and refuses to have it back, as OpenAI does. */
const server = createServer((request, response) => {
  let text = "";
  request.on("data", (bytes: Buffer) => (text += bytes.toString()));
  request.on("end", () => {
    const fault = openaiChatDialect.refuseBody(JSON.parse(text) as Record<string, unknown>);
    response.writeHead(fault === undefined ? 200 : 400, { "content-type": "application/json" });
    const message = { role: "assistant", content: "hello", refusal: null, tool_calls: [] };
    const answer = {
      id: "c",
      object: "chat.completion",
      model: "m",
      choices: [{ index: 0, finish_reason: "stop", message }],
    };
    response.end(JSON.stringify(fault === undefined ? answer : { error: { message: fault } }));
  });
});
await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
afterAll(() => server.close());
const key = { model: "m", apiKey: "k", stream: false };
const baseURL = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;

test.each([
  ["OpenAI", () => openai({ ...key, api: "chat", baseURL: baseURL() })],
  ["a compatible server", () => openaiCompatible({ ...key, baseURL: baseURL() })],
])("[WIRE-10] [ADAPT-3] a session goes on after %s answered with an empty list of calls", async (_name, make) => {
  await using holdfast = await createHoldfast({ store: memoryStore() });
  await using session = await holdfast.open("a");
  for (const input of ["one", "two"]) {
    const { end } = await watch(session.run(input, { model: make() }));
    expect(end).toMatchObject({ status: "done", text: "hello" });
  }
});

describe.each(["openai-chat", "openai-compatible"] as const)("for %s", (profile) => {
  const spoken = { role: "assistant", content: "a", name: "ada", refusal: null };
  const thought = { role: "assistant", content: "", reasoning_content: "hm" };
  test.each([spoken, thought])("[WIRE-10] [WIRE-22] it is refused and left out, and nothing else: %j", (answer) => {
    const list = [
      { role: "user", content: "x" },
      { ...answer, tool_calls: [] },
      { role: "user", content: "y" },
    ];
    expect(checkWire(list, profile)).toMatchObject([{ rule: "WIRE-10", at: 1, detail: "an empty list of calls" }]);
    const repaired = repairMessages(list, { format: "openai-chat", profile });
    expect(repaired.messages).toEqual([list[0], answer, list[2]]);
    expect(repaired.messages[0]).toBe(list[0]);
    expect(repaired.messages[2]).toBe(list[2]);
    expect(repaired.adjustments).toEqual([{ kind: "blank-dropped", at: 1 }]);
    expect(checkWire(repaired.messages, profile)).toEqual([]);
    expect(list[1]).toHaveProperty("tool_calls");
  });
});

describe("a developer's instructions, for a server that knows none", () => {
  const list = [
    { role: "developer", content: "RULE", name: "ada" },
    { role: "user", content: "x" },
  ];

  test("[WIRE-19] are refused, and are the system's with all they carry", () => {
    expect(checkWire(list, "openai-compatible").map(({ rule }) => rule)).toEqual(["WIRE-19"]);
    const repaired = repairMessages(list, { format: "openai-chat", profile: "openai-compatible" });
    expect(repaired.messages).toEqual([{ ...list[0], role: "system" }, list[1]]);
    expect(repaired.adjustments).toEqual([{ kind: "role-rewritten", at: 0 }]);
  });

  test("[WIRE-19] are the system's when they come from elsewhere", () => {
    const { items } = readMessages(list, "openai-responses");
    const { messages, adjustments } = writeMessages(items, "openai-compatible");
    expect(messages[0]).toEqual({ role: "system", content: "RULE" });
    expect(adjustments).toEqual([{ kind: "role-rewritten", at: 0 }]);
  });

  test("[WIRE-21] stay the developer's at OpenAI", () => {
    expect(checkWire(list, "openai-chat")).toEqual([]);
    expect(repairMessages(list, { format: "openai-chat" }).messages).toBe(list);
  });
});
