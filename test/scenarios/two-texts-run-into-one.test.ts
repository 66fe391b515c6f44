import { expect, test } from "vitest";
import { writeMessages } from "../../src/wire/project.ts";
import type { Item } from "../../src/wire/item.ts";

/** Hosts put a reminder and the question, or two rules, into one message as two parts. */
const parts = [
  { type: "text", text: "Use metres." },
  { type: "text", text: "10" },
  { type: "text", text: "20" },
] as const;
const items: readonly Item[] = [
  { kind: "system", role: "system", parts },
  { kind: "user", parts },
];

test.each(["openai-chat", "openai-compatible", "openai-responses", "anthropic", "gemini", "ai-sdk"] as const)(
  "[WIRE-25] %s: texts of one message stay apart",
  (profile) => {
    const written = JSON.stringify(writeMessages(items, profile));
    expect(written).not.toContain("1020");
    expect(written).not.toContain("metres.10");
  },
);

test("[WIRE-25] pieces of what the assistant said in one breath stay together", () => {
  const said: Item = {
    kind: "assistant",
    parts: [
      { type: "text", text: "It is 10" },
      { type: "text", text: "20 metres." },
    ],
  };
  expect(writeMessages([items[1] as Item, said], "openai-chat").messages[1]).toMatchObject({
    content: "It is 1020 metres.",
  });
});
