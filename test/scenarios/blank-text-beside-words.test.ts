import { expect, test } from "vitest";
import { checkWire, repairMessages } from "../../src/index.ts";

const hi = { type: "text", text: "hi", cache_control: { type: "ephemeral" } };
const blank = { type: "text", text: " " };

/** Repaired, clean, and a second time untouched. */
function mended(messages: readonly object[]): readonly object[] {
  expect(checkWire(messages, "anthropic")).not.toEqual([]);
  const once = repairMessages(messages, { format: "anthropic" });
  expect(checkWire(once.messages, "anthropic")).toEqual([]);
  expect(once.adjustments).not.toEqual([]);
  expect(repairMessages(once.messages, { format: "anthropic" }).messages).toBe(once.messages);
  return once.messages;
}

test("[WIRE-10] a blank block beside words goes alone, and the others keep what they carry", () => {
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
  expect(mended([{ role: "user", content: [hi, blank, image], id: "m1" }])).toEqual([
    { role: "user", content: [hi, image], id: "m1" },
  ]);
});

test("[WIRE-10] a blank block inside a result goes alone, and the result stays", () => {
  const go = { role: "user", content: "go" };
  const use = { role: "assistant", content: [{ type: "tool_use", id: "A", name: "f", input: {} }] };
  const result = (is_error: boolean, content: unknown) => ({
    type: "tool_result",
    tool_use_id: "A",
    is_error,
    cache_control: {},
    content,
  });
  const [, , answer] = mended([go, use, { role: "user", content: [result(false, [blank])] }]);
  expect(answer).toEqual({ role: "user", content: [result(false, [])] });
  const [, , kept] = mended([go, use, { role: "user", content: [result(true, [hi, blank])] }]);
  expect(kept).toEqual({ role: "user", content: [result(true, [hi])] });
});

test("[WIRE-27] a text to be continued is trimmed at its end", () => {
  const go = { role: "user", content: "go" };
  expect(mended([go, { role: "assistant", content: "title: \n" }])[1]).toEqual({
    role: "assistant",
    content: [{ type: "text", text: "title:" }],
  });
  expect(mended([go, { role: "assistant", content: [{ ...hi, text: "hi " }] }])[1]).toEqual({
    role: "assistant",
    content: [hi],
  });
});
