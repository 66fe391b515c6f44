import { expect, test } from "vitest";
import { checkWire, repairMessages } from "../../src/index.ts";

const turn = (text: string) => [
  { role: "user", content: text },
  { role: "assistant", content: [{ type: "tool_use", id: "call_0", name: "read_file", input: {} }] },
  { role: "user", content: [{ type: "tool_result", tool_use_id: "call_0", content: `read for ${text}` }] },
  { role: "assistant", content: [{ type: "text", text: "done" }] },
];

test("[N18] [N19] a backend that counts from zero in each turn keeps every result, under ids that stay the same", () => {
  const messages = [...turn("one"), ...turn("two"), ...turn("three")];
  expect(checkWire(messages, "anthropic")).toHaveLength(2);
  const { messages: mended } = repairMessages(messages, { format: "anthropic" });
  expect(checkWire(mended, "anthropic")).toEqual([]);
  for (const text of ["one", "two", "three"]) expect(JSON.stringify(mended)).toContain(`read for ${text}`);
  expect(mended.slice(0, 4)).toEqual(messages.slice(0, 4));
  const longer = repairMessages([...messages, ...turn("four")], { format: "anthropic" }).messages;
  expect(JSON.stringify(longer.slice(0, 12))).toBe(JSON.stringify(mended)); // the cached prefix is untouched
});
