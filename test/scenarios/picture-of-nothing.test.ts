import { expect, test } from "vitest";
import { checkWire, repairMessages, type WireFormat } from "../../src/index.ts";

const NOTHING: readonly (readonly [WireFormat, object])[] = [
  ["anthropic", { type: "image" }],
  ["anthropic", { type: "image", source: {} }],
  ["anthropic", { type: "document", title: "Plan" }],
  ["openai-chat", { type: "image_url" }],
  ["openai-chat", { type: "image_url", image_url: {} }],
  ["openai-chat", { type: "input_audio" }],
  ["openai-chat", { type: "file", file: { filename: "plan.pdf" } }],
  ["openai-responses", { type: "input_image", detail: "auto" }],
  ["openai-responses", { type: "input_file", filename: "plan.pdf" }],
];

test.each(NOTHING)("[WIRE-41] a part of %s that shows nothing is refused, and told in words: %j", (format, part) => {
  const words = { type: format === "openai-responses" ? "input_text" : "text", text: "look" };
  const messages = [{ role: "user", content: [words, part] }];
  expect(checkWire(messages, format)).toMatchObject([{ rule: "WIRE-41", at: 0 }]);
  const repaired = repairMessages(messages, { format });
  expect(checkWire(repaired.messages, format)).toEqual([]);
  expect(repaired.adjustments).toEqual([{ kind: "media-replaced", at: 0 }]);
  expect(JSON.stringify(repaired.messages)).toContain("look");
  expect(repairMessages(repaired.messages, { format }).messages).toBe(repaired.messages);
});

test("[WIRE-41] a picture of chat that is a bare address is refused, and sent as one that names it", () => {
  const url = "https://example.invalid/a.png";
  const messages = [{ role: "user", name: "ann", content: [{ type: "image_url", image_url: url }] }];
  expect(checkWire(messages, "openai-chat")).toMatchObject([{ rule: "WIRE-41", at: 0 }]);
  const { messages: sent, adjustments } = repairMessages(messages, { format: "openai-chat" });
  expect(sent).toEqual([{ role: "user", name: "ann", content: [{ type: "image_url", image_url: { url } }] }]);
  expect(adjustments).toEqual([{ kind: "part-replaced", at: 0 }]);
});
