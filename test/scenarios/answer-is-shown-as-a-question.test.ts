import { expect, test } from "vitest";
import { checkWire, repairMessages } from "../../src/index.ts";

test("[WIRE-39] texts of a type that OpenAI does not take from their speaker are written in the one that it takes, and told", () => {
  const texts = (...types: readonly string[]) => types.map((type) => ({ type, text: type }));
  const refusal = { type: "refusal", refusal: "no" };
  const picture = { type: "input_image", image_url: "https://example.invalid/a.png" };
  const asked = { type: "function_call", call_id: "A", name: "f", arguments: "{}" };
  const messages = [
    { role: "developer", content: texts("text") },
    { role: "user", content: [...texts("output_text"), picture, refusal] },
    { role: "assistant", id: "msg_1", content: [...texts("input_text", "output_text"), refusal] },
    asked,
    { type: "function_call_output", call_id: "A", output: [...texts("output_text"), picture] },
  ];
  const repaired = repairMessages(messages, { format: "openai-responses" });
  expect(checkWire(repaired.messages, "openai-responses")).toEqual([]);
  expect(repaired.messages).toEqual([
    { role: "developer", content: [{ type: "input_text", text: "text" }] },
    {
      role: "user",
      content: [{ type: "input_text", text: "output_text" }, picture, { type: "input_text", text: "no" }],
    },
    {
      role: "assistant",
      id: "msg_1",
      content: [{ type: "output_text", text: "input_text" }, ...texts("output_text"), refusal],
    },
    asked,
    { type: "function_call_output", call_id: "A", output: [{ type: "input_text", text: "output_text" }, picture] },
  ]);
  expect(repaired.adjustments.map(({ kind, at }) => [kind, at])).toEqual(
    [0, 1, 2, 4].map((at) => ["part-replaced", at]),
  );
  expect(repairMessages(repaired.messages, { format: "openai-responses" }).messages).toBe(repaired.messages);
});
