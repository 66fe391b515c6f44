import { describe, expect, test } from "vitest";
import {
  checkWire,
  flushPending,
  HoldfastError,
  type Item,
  PROFILES,
  repairHistory,
  repairMessages,
  type ToolCallId,
  type WireFormat,
} from "../../src/index.ts";
import { call, output, user } from "../histories/items.ts";

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

test("[PAIR-30] a format or a profile that does not exist is named, with those that do", () => {
  expect(() => repairMessages([], { format: "openai" as never })).toThrow(
    expect.objectContaining({ code: "BAD_OPTION", details: expect.objectContaining({ option: "format" }) }),
  );
  for (const profile of ["mistral", "constructor"]) {
    expect(() => repairMessages([], { format: "openai-chat", profile: profile as never })).toThrow(
      expect.objectContaining({
        code: "BAD_OPTION",
        details: expect.objectContaining({ got: profile, known: Object.keys(PROFILES) }),
      }),
    );
    expect(() => checkWire([], profile as never)).toThrow(expect.objectContaining({ code: "BAD_OPTION" }));
  }
});

test("[PAIR-30] content that is neither text nor blocks is malformed, not blank", () => {
  const messages = [
    { role: "user", content: { text: "hi" } },
    { role: "user", content: "hi" },
  ];
  expect(repairMessages(messages, { format: "anthropic" }).malformed).toEqual([
    { at: 0, why: "content is neither text nor a list" },
  ]);
});

test("[WIRE-19] instructions among Anthropic messages are refused in either form, and told when they are lifted out", () => {
  for (const content of ["be brief", [{ type: "text", text: "be brief" }]]) {
    const messages = [
      { role: "system", content },
      { role: "user", content: "hi" },
    ];
    expect(checkWire(messages, "anthropic")).toContainEqual(expect.objectContaining({ rule: "WIRE-19" }));
    const { instructions, adjustments } = repairMessages(messages, { format: "anthropic" });
    expect(instructions).toEqual(["be brief"]);
    expect(adjustments).toEqual([{ kind: "instructions-lifted", at: 0 }]);
  }
});

test("[WIRE-17] a name that an AI SDK result is given is told", () => {
  const call = { type: "tool-call", toolCallId: "A", toolName: "f", input: {} };
  const result = { type: "tool-result", toolCallId: "A", output: { type: "text", value: "text" } };
  const messages = [
    { role: "user", content: "hi" },
    { role: "assistant", content: [call] },
    { role: "tool", content: [result] },
  ];
  expect(repairMessages(messages, { format: "ai-sdk" }).adjustments).toEqual([{ kind: "name-rewritten", at: 2 }]);
});

test("[PAIR-30] strict mode drops no message that it cannot read", () => {
  const messages = [{ role: "user", content: "hi" }, { role: "narrator" }];
  expect(() => repairMessages(messages, { format: "anthropic", mode: "strict" })).toThrow(
    expect.objectContaining({ code: "MESSAGES_UNREADABLE", details: expect.objectContaining({ at: 1 }) }),
  );
});

test("[PAIR-30] words that every object knows are no types, roles or reasons", () => {
  for (const word of ["constructor", "toString", "__proto__"]) {
    const items = [
      { role: "user", content: "hi" },
      { type: word, id: "x" },
    ];
    expect(repairMessages(items, { format: "openai-responses" }).messages).toBe(items);
    expect(checkWire(items, "openai-responses")).toEqual([]);
    expect(checkWire([{ role: word, content: "x" }], "openai-chat")).not.toEqual([]);
    expect(checkWire([{ role: word, parts: [{ text: "x" }] }], "gemini")).toContainEqual(
      expect.objectContaining({ rule: "WIRE-19" }),
    );
    const lost = [call("A", { step: 1 })];
    const [made] = flushPending(lost, new Map([[lost[0]?.callId as ToolCallId, { status: "canceled", reason: word }]]));
    expect(JSON.stringify(made)).toContain("Tool execution was interrupted");
  }
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

test("[PAIR-30] results that came first, thousands of times under one id, cost linear time", () => {
  const many = 20_000;
  const calls = Array.from({ length: many }, (_, at) => call("k", { step: at }));
  const outputs = (more: object) => Array.from({ length: many }, () => output("k", more));
  for (const more of [{}, { name: "grep" }, { synthetic: true }]) {
    expect(repairHistory([...outputs(more), user(), ...calls]).history).toHaveLength(2 * many + 1);
    expect(repairHistory([...outputs(more), ...calls]).history).toHaveLength(2 * many);
  }
});

test("[PAIR-30] more orphans than a call has arguments are left out", () => {
  const many = 200_000;
  const orphans = Array.from({ length: many }, (_, at) => output(`c${at}`));
  expect(repairHistory(orphans).repairs).toHaveLength(many);
});

test("[PAIR-30] tens of thousands of approvals in one answer cost linear time", () => {
  const many = 30_000;
  const calls = Array.from({ length: many }, (_, at) => call(`c${at}`, { step: 1 }));
  const asks = calls.map(({ callId }, at): Item => {
    return { kind: "approval-request", approvalId: `a${at}`, step: 1, ...(callId === undefined ? {} : { callId }) };
  });
  const consents = asks.map((_, at): Item => ({ kind: "approval-answer", approvalId: `a${at}`, approved: true }));
  const outputs = calls.map((_, at) => output(`c${at}`));
  const whole = [...calls, ...asks, ...consents, ...outputs];
  expect(repairHistory(whole).history).toBe(whole);
  expect(repairHistory(whole, { tools: new Set(["grep"]) }).history).toHaveLength(many);
  const twins = [...calls, ...asks].map((item) => ({ ...item, callId: calls[0]?.callId as never }));
  expect(repairHistory(twins).renamed.size).toBe(many - 1);
});

test("[PAIR-30] the judge and the reader of unnamed calls cost linear time", () => {
  const many = 50_000;
  const chat = Array.from({ length: many }, (_, at) => [
    { role: "user", content: "go" },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: `c${at}`, type: "function", function: { name: "f", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: `c${at}`, content: "text" },
  ]).flat();
  expect(checkWire(chat, "openai-chat")).toEqual([]);
  expect(checkWire(chat, "openai-compatible")).toEqual([]);
  const names = Array.from({ length: many }, (_, at) => `f${at}`);
  const { messages } = repairMessages(
    [
      { role: "user", parts: [{ text: "go" }] },
      { role: "model", parts: names.map((name) => ({ functionCall: { name, args: {} } })) },
      { role: "user", parts: names.toReversed().map((name) => ({ functionResponse: { name, response: {} } })) },
    ],
    { format: "gemini" },
  );
  expect(checkWire(messages, "gemini")).toEqual([]);
});
