import { describe, expect, test } from "vitest";
import { checkWire, HoldfastError, repairHistory, repairMessages, type WireFormat } from "../../src/index.ts";
import { call, output } from "../histories/items.ts";

const FORMATS: readonly WireFormat[] = ["openai-chat", "openai-responses", "anthropic", "gemini", "ai-sdk"];

const circular: Record<string, unknown> = { role: "user", type: "message" };
circular["content"] = [circular];
circular["parts"] = [circular];

const STRANGE: readonly unknown[] = [
  null,
  undefined,
  7,
  "text",
  [],
  {},
  { role: 5 },
  { role: "narrator", content: "x", parts: [] },
  { role: "user" },
  { role: "user", content: null, parts: null },
  { role: "assistant", content: 7, parts: 7, tool_calls: 7 },
  { role: "assistant", content: [null, 7], parts: [null, 7], tool_calls: [null, 7, {}] },
  { role: "tool", content: [] },
  { role: "tool", tool_call_id: 7 },
  { type: "function_call" },
  { type: "function_call_output" },
  { type: 7 },
  Object.freeze({ role: "user", content: "frozen", parts: Object.freeze([{ text: "frozen" }]) }),
  JSON.parse('{"__proto__": {"role": "user"}, "role": "user", "content": "x", "parts": []}'),
  circular,
];

describe.each(FORMATS)("%s", (format) => {
  test("[PAIR-30] strange messages are left out and reported, or carried; nothing throws, nothing is half done", () => {
    for (const strange of STRANGE) {
      const good = format === "gemini" ? { role: "user", parts: [{ text: "hi" }] } : { role: "user", content: "hi" };
      const { messages, malformed } = repairMessages([good, strange as object, good], { format });
      expect(checkWire(messages, format).filter((fault) => fault.rule !== "WIRE-10")).toEqual([]);
      expect(malformed.every(({ at }) => at === 1)).toBe(true);
    }
  });

  test("[PAIR-30] a getter that throws is the caller's, and said so", () => {
    const trap = {
      get role(): string {
        throw new Error("boo");
      },
    };
    expect(() => repairMessages([trap], { format })).toThrow(expect.objectContaining({ code: "MESSAGES_UNREADABLE" }));
    expect(() => repairMessages("hello" as never, { format })).toThrow(HoldfastError);
  });
});

test("[PAIR-30] a profile of another format is refused", () => {
  expect(() => repairMessages([], { format: "gemini", profile: "anthropic" })).toThrow(
    expect.objectContaining({ code: "BAD_OPTION" }),
  );
});

test("[PAIR-30] a hundred thousand parallel calls, unanswered, doubled or shuffled, cost linear time", () => {
  const many = 100_000;
  const calls = Array.from({ length: many }, (_, at) => call(`c${at}`, { step: 1 }));
  const outputs = Array.from({ length: many }, (_, at) => output(`c${(at * 7919) % many}`));
  expect(repairHistory(calls).history).toHaveLength(2 * many);
  const shuffled = [...calls, ...outputs];
  expect(repairHistory(shuffled).history).toBe(shuffled);
  const half = [...calls, ...outputs.slice(0, many / 2)];
  expect(repairHistory(half).history).toHaveLength(2 * many);
  const twins = [...calls.map((one) => ({ ...one, callId: calls[0]?.callId as never })), ...outputs];
  expect(repairHistory(twins).history.length).toBe(2 * many);
});
