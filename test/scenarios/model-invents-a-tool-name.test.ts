import { describe, expect, test } from "vitest";
import { checkWire, repairMessages, PROFILES, type WireFormat } from "../../src/index.ts";

const go = { role: "user", content: "go" };

const CALLED: Readonly<Record<Exclude<WireFormat, "ai-sdk">, (name: string) => readonly object[]>> = {
  "openai-chat": (name) => [
    go,
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "A", type: "function", function: { name, arguments: "{}", strict: true } }],
    },
    { role: "tool", tool_call_id: "A", content: "no such tool" },
  ],
  "openai-responses": (name) => [
    go,
    { type: "function_call", call_id: "A", name, arguments: "{}" },
    { type: "function_call_output", call_id: "A", output: "no such tool" },
  ],
  anthropic: (name) => [
    go,
    { role: "assistant", content: [{ type: "tool_use", id: "A", name, input: {}, cache_control: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "A", content: "no such tool" }] },
  ],
  gemini: (name) => [
    { role: "user", parts: [{ text: "go" }] },
    { role: "model", parts: [{ functionCall: { name, args: {} } }] },
    { role: "user", parts: [{ functionResponse: { name, response: { error: "no such tool" } } }] },
  ],
};

describe.each(Object.keys(CALLED) as (keyof typeof CALLED)[])("%s", (format) => {
  test.each([
    ["functions.read file", "functions_read_file"],
    ["", "unnamed_tool"],
    ["x".repeat(600), "x".repeat(PROFILES[format].toolNames.maxLength)],
  ])("[WIRE-28] a call of %j no longer bricks the session", (name, sent) => {
    const messages = CALLED[format](name);
    if (format === "gemini" && name.includes(".")) return; // any name will do there
    expect(checkWire(messages, format)).toContainEqual(expect.objectContaining({ rule: "WIRE-28" }));
    const once = repairMessages(messages, { format });
    expect(once.messages).toEqual(CALLED[format](sent));
    expect(once.adjustments).toEqual([{ kind: "name-rewritten", at: 1 }]);
    expect(checkWire(once.messages, format)).toEqual([]);
    expect(repairMessages(once.messages, { format }).messages).toBe(once.messages);
  });
});

test("[WIRE-5] an id is written in the letters of a profile of one's own", () => {
  const callIds = { pattern: /^[a-zA-Z0-9]{9}$/, maxLength: 9 };
  const profile = { ...PROFILES["openai-compatible"], callIds };
  const { messages } = repairMessages(CALLED["openai-chat"]("read"), { format: "openai-chat", profile });
  expect(checkWire(messages, profile)).toEqual([]);
});
