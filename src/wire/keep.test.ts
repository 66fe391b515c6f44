import fc from "fast-check";
import { expect, test } from "vitest";
import { wholeHistory } from "../../test/histories/generate.ts";
import { user } from "../../test/histories/items.ts";
import { keepItems, type KeptItems, unkeepItems } from "./keep.ts";
import { PROFILES } from "./profiles.ts";
import { readMessages, writeMessages } from "./project.ts";

const throughJson = (kept: KeptItems) => JSON.parse(JSON.stringify(kept)) as KeptItems;

const FORMATS = ["openai-chat", "openai-responses", "anthropic", "gemini", "ai-sdk"] as const;

test.each(FORMATS)("[ADAPT-20] items of %s that were kept as JSON are sent byte for byte as before", (format) => {
  fc.assert(
    fc.property(wholeHistory({ steps: true }), (history) => {
      const { messages } = writeMessages(history, PROFILES[format]);
      const { items } = readMessages(messages, format);
      const again = unkeepItems(throughJson(keepItems(items)));
      for (const target of FORMATS) {
        const sent = (list: typeof items) => JSON.stringify(writeMessages(list, PROFILES[target]).messages);
        expect(sent(again)).toBe(sent(items));
      }
    }),
    { numRuns: 50 },
  );
});

test("[ADAPT-20] a message is kept once, and what has no original stands for itself", () => {
  const message = {
    role: "assistant",
    content: [
      { type: "text", text: "x".repeat(1000) },
      { type: "tool_use", id: "a", name: "n", input: {} },
      { type: "tool_use", id: "b", name: "n", input: {} },
    ],
  };
  const { items } = readMessages([message], "anthropic");
  const kept = keepItems([user(), ...items]);
  expect(kept.originals).toEqual([{ format: "anthropic", message }]);
  expect(JSON.stringify(kept).length).toBeLessThan(2.6 * JSON.stringify(message).length);
  const again = unkeepItems(throughJson(kept));
  expect(again[0]).toEqual(user());
  expect(new Set(again.slice(1).map((item) => item.origin?.message)).size).toBe(1);
});

test("[ADAPT-20] what was changed since it was read stays changed, and an original that reads otherwise is let go", () => {
  const { items } = readMessages(
    [{ role: "assistant", content: [{ type: "tool_use", id: "a", name: "n", input: {} }] }],
    "anthropic",
  );
  const renamed = items.map((item) => ({ ...item, callId: "call_new", step: "s1" }) as never);
  const kept = keepItems(renamed);
  expect(unkeepItems(throughJson(kept))[0]).toMatchObject({ callId: "call_new", step: "s1" });
  const two = [
    { type: "tool_use", id: "a", name: "n", input: {} },
    { type: "tool_use", id: "b", name: "n", input: {} },
  ];
  const other = {
    ...kept,
    originals: [{ format: "anthropic", message: { role: "assistant", content: two } }],
  } as const;
  expect(unkeepItems(other)[0]).not.toHaveProperty("origin");
});

test("[ADAPT-20] an item that is told in another kind than it was read keeps its original", () => {
  const message = { role: "assistant", content: null, refusal: "I will not." };
  const { items } = readMessages([message], "openai-chat");
  const told = items.map(
    (item) => ({ kind: "assistant", parts: [{ type: "text", text: "I will not." }], origin: item.origin! }) as const,
  );
  const again = unkeepItems(throughJson(keepItems(told)));
  expect(writeMessages([user(), ...again, user()], PROFILES["openai-chat"]).messages[1]).toEqual(message);
});
