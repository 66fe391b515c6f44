import { describe, expect, test } from "vitest";
import { checkWire, repairMessages, type WireFormat } from "../../src/index.ts";

const FORMATS: readonly WireFormat[] = ["openai-chat", "openai-responses", "anthropic", "gemini", "ai-sdk"];

const go = { role: "user", content: "go" };
const said = (format: WireFormat, text: string) =>
  format === "gemini" ? { role: "user", parts: [{ text }] } : { role: "user", content: text };

/** Valid messages come back as they are: same array, nothing told, and the judge agrees. */
function expectUntouched(messages: readonly object[], format: WireFormat): void {
  expect(checkWire(messages, format)).toEqual([]);
  const repaired = repairMessages(messages, { format });
  expect(repaired.messages).toBe(messages);
  expect(repaired.report.faults).toEqual([]);
  expect(repaired.adjustments).toEqual([]);
}

describe.each(FORMATS)("%s", (format) => {
  test("[WIRE-21] one object that was sent twice is two messages", () => {
    const again = said(format, "continue");
    const { messages } = repairMessages([again, again], { format });
    if (format === "anthropic" || format === "gemini") {
      expect(checkWire(messages, format)).toEqual([]);
      expect(JSON.stringify(messages).match(/continue/g)).toHaveLength(2);
    } else expectUntouched([again, again], format);
  });
});
