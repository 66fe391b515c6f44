import { expect, test } from "vitest";
import { checkWire } from "../../src/wire/check.ts";
import { readMessages, writeMessages } from "../../src/wire/project.ts";
import { type ProfileId, PROFILES } from "../../src/wire/profiles.ts";
import { repairMessages } from "../../src/history/entry.ts";

/** Hosts write a word where a part belongs, in a list that is sound otherwise, and the whole request is refused for it. */
const text = (said: string, type = "text") => ({ type, text: said });
const CASES: readonly [ProfileId, field: "content" | "parts", part: (said: string, byModel: boolean) => object][] = [
  ["openai-chat", "content", (said) => text(said)],
  ["openai-compatible", "content", (said) => text(said)],
  ["openai-responses", "content", (said, byModel) => text(said, byModel ? "output_text" : "input_text")],
  ["anthropic", "content", (said) => text(said)],
  ["gemini", "parts", (said) => ({ text: said })],
  ["ai-sdk", "content", (said) => text(said)],
];

test.each(CASES)(
  "[WIRE-42] %s: a bare word is refused, written as a text in its place, and told",
  (id, field, part) => {
    const { format } = PROFILES[id];
    const model = format === "gemini" ? "model" : "assistant";
    const messages = [
      { role: "user", [field]: ["a", part("b", false), null, 5], more: 1 },
      { role: model, [field]: ["x"] },
      { role: "user", [field]: [part("go on", false)] },
    ];
    expect(checkWire(messages, id).filter(({ rule }) => rule === "WIRE-42")).toMatchObject([{ at: 0 }, { at: 1 }]);
    const before = structuredClone(messages);
    const mended = repairMessages(messages, { format, profile: id });
    expect(messages).toEqual(before);
    expect(mended.messages).toEqual([
      { role: "user", [field]: [part("a", false), part("b", false), part("5", false)], more: 1 },
      { role: model, [field]: [part("x", true)] },
      messages[2],
    ]);
    expect(mended.adjustments).toEqual([
      { kind: "part-replaced", at: 0 },
      { kind: "part-replaced", at: 1 },
    ]);
    expect(checkWire(mended.messages, id)).toEqual([]);
    expect(repairMessages(mended.messages, { format, profile: id }).messages).toBe(mended.messages);
  },
);

test("[WIRE-42] what a bare word says is said to another provider, too", () => {
  const { items } = readMessages([{ role: "user", content: ["a", { type: "text", text: "b" }] }], "openai-chat");
  const { messages, adjustments } = writeMessages(items, "anthropic");
  expect(messages).toEqual([{ role: "user", content: [text("a"), text("b")] }]);
  expect(adjustments).toEqual([]);
});

test("[WIRE-42] a message of several items is told once, and its calls keep their place", () => {
  const use = { type: "tool_use", id: "c1", name: "f", input: {} };
  const messages = [
    { role: "user", content: "go" },
    { role: "assistant", content: ["Look.", use] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "ok" }, "and?"] },
  ];
  const mended = repairMessages(messages, { format: "anthropic" });
  expect(mended.messages).toEqual([
    messages[0],
    { role: "assistant", content: [text("Look."), use] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "ok" }, text("and?")] },
  ]);
  expect(mended.adjustments.map(({ kind }) => kind)).toEqual(["part-replaced", "part-replaced"]);
});

test("[WIRE-29] [WIRE-42] bare words in what a tool returned are a result in no form, not parts", () => {
  const call = { id: "c1", type: "function", function: { name: "f", arguments: "{}" } };
  const messages = [
    { role: "user", content: "go" },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "c1", content: ["a.txt", "b.txt"] },
  ];
  expect(checkWire(messages, "openai-compatible")).toMatchObject([{ rule: "WIRE-29", at: 2 }]);
  const mended = repairMessages(messages, { format: "openai-chat" });
  expect(mended.messages[2]).toEqual({ role: "tool", tool_call_id: "c1", content: '["a.txt","b.txt"]' });
  expect(mended.adjustments.map(({ kind }) => kind)).toEqual(["result-rewritten"]);
});

test("[WIRE-42] whatever stands in a list, it is told or refused in words, and nothing breaks", () => {
  const circle: unknown[] = [];
  circle.push(circle);
  for (const odd of [circle, [1, 2], 7n, Symbol("s"), true, () => 1]) {
    const messages = [{ role: "user", content: ["go", odd] }];
    const mended = repairMessages(messages as never, { format: "openai-chat" }).messages as readonly object[];
    expect(checkWire(mended, "openai-chat")).toEqual([]);
    expect(() => JSON.stringify(mended)).not.toThrow();
  }
});
