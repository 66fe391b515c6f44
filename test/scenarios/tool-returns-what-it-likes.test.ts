import { describe, expect, test } from "vitest";
import { checkWire, repairMessages, type WireFormat } from "../../src/index.ts";

const go = { role: "user", content: "go" };

/** A call and what its tool returned, passed on as it came. */
const PASSED_ON: Readonly<Record<WireFormat, (returned: unknown) => readonly object[]>> = {
  "openai-chat": (content) => [
    go,
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "A", type: "function", function: { name: "f", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "A", content },
  ],
  "openai-responses": (output) => [
    go,
    { type: "function_call", call_id: "A", name: "f", arguments: "{}" },
    { type: "function_call_output", call_id: "A", output },
  ],
  anthropic: (content) => [
    go,
    { role: "assistant", content: [{ type: "tool_use", id: "A", name: "f", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "A", content }] },
  ],
  gemini: (response) => [
    { role: "user", parts: [{ text: "go" }] },
    { role: "model", parts: [{ functionCall: { name: "f", args: {} } }] },
    { role: "user", parts: [{ functionResponse: { name: "f", response } }] },
  ],
  "ai-sdk": (result) => [
    go,
    { role: "assistant", content: [{ type: "tool-call", toolCallId: "A", toolName: "f", input: {} }] },
    { role: "tool", content: [{ type: "tool-result", toolCallId: "A", toolName: "f", result }] },
  ],
};

describe.each(Object.keys(PASSED_ON) as WireFormat[])("%s", (format) => {
  test.each([[null], [7], [{ answer: "forty-two" }], [["forty-two"]], [false]])(
    "[WIRE-29] %j is sent in a form that the provider takes, with all it holds",
    (returned) => {
      const messages = PASSED_ON[format](returned);
      if (checkWire(messages, format).length === 0) {
        expect(repairMessages(messages, { format }).messages).toBe(messages);
        return;
      }
      const once = repairMessages(messages, { format });
      expect(checkWire(once.messages, format)).toEqual([]);
      expect(once.adjustments).toEqual([{ kind: "result-rewritten", at: 2 }]);
      expect(once.repairs).toEqual([]);
      if (returned !== null)
        expect(JSON.stringify(once.messages)).toContain(
          String(Object.values([returned].flat()[0] as object)[0] ?? [returned].flat()[0]),
        );
      expect(repairMessages(once.messages, { format }).messages).toBe(once.messages);
    },
  );
});

test("[WIRE-14] arguments under their older name, or as a text, are rewritten and told", () => {
  const result = { type: "tool-result", toolCallId: "A", toolName: "f", output: { type: "text", value: "1" } };
  const call = { type: "tool-call", toolCallId: "A", toolName: "f" };
  const older = [
    go,
    { role: "assistant", content: [{ ...call, args: { a: 1 } }] },
    { role: "tool", content: [result] },
  ];
  const sdk = repairMessages(older, { format: "ai-sdk" });
  expect(sdk.messages[1]).toEqual({ role: "assistant", content: [{ ...call, input: { a: 1 } }] });
  expect(sdk.adjustments).toEqual([{ kind: "arguments-rewritten", at: 1 }]);
  const asked = { role: "user", parts: [{ text: "go" }] };
  const answer = { role: "user", parts: [{ functionResponse: { name: "f", response: {} } }] };
  const gemini = repairMessages(
    [asked, { role: "model", parts: [{ functionCall: { name: "f", args: "x" } }] }, answer],
    {
      format: "gemini",
    },
  );
  expect(gemini.messages[1]).toEqual({ role: "model", parts: [{ functionCall: { name: "f", args: { raw: "x" } } }] });
  expect(gemini.adjustments).toEqual([{ kind: "arguments-rewritten", at: 1 }]);
});
