import { expect, test } from "vitest";
import { checkWire, repairMessages } from "../../src/index.ts";

const go = { role: "user", content: "go" };
const LOOSE = [5, true, { type: "text", text: "go" }];

test.each(["openai-chat", "openai-responses", "anthropic"] as const)(
  "[WIRE-40] content that is neither a text nor a list is refused at %s, and its message is left out and reported",
  (format) => {
    for (const content of format === "anthropic" ? LOOSE : [...LOOSE, null, undefined]) {
      const messages = [go, { role: "assistant", content: "well" }, { role: "user", content }];
      expect(checkWire(messages, format).map(({ rule, at }) => [rule, at])).toContainEqual(["WIRE-40", 2]);
      const repaired = repairMessages(messages, { format });
      expect(repaired.messages).toEqual(messages.slice(0, 2));
      expect(repaired.adjustments).toEqual([{ kind: "message-malformed", at: 2 }]);
    }
  },
);

test("[WIRE-40] an answer of chat needs no content beside its calls", () => {
  const tool_calls = [{ id: "A", type: "function", function: { name: "f", arguments: "{}" } }];
  const messages = [go, { role: "assistant", tool_calls }, { role: "tool", tool_call_id: "A", content: "done" }];
  expect(checkWire(messages, "openai-chat")).toEqual([]);
  expect(repairMessages(messages, { format: "openai-chat" }).messages).toBe(messages);
});
