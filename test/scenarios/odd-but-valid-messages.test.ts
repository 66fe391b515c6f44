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

test.each([
  ["a refusal", { content: null, refusal: "I cannot help with that." }],
  ["a recording", { audio: { id: "audio_1" } }],
  ["a thought alone", { content: "", reasoning_content: "hm" }],
])("[WIRE-21] a chat answer that is %s is not blank", (_, answer) => {
  expectUntouched([go, { role: "assistant", ...answer }, { ...go }], "openai-chat");
});

test("[WIRE-21] the older form of calls and results in a chat is carried", () => {
  const called = { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } };
  expectUntouched([go, called, { role: "function", name: "f", content: "1" }, { ...go }], "openai-chat");
});

test("[WIRE-7] answers that become one message keep the thoughts of both", () => {
  const tool_calls = [{ id: "A", type: "function", function: { name: "f", arguments: "{}" } }];
  const { messages } = repairMessages(
    [
      go,
      { role: "assistant", content: "well", reasoning_content: "first" },
      { role: "assistant", content: null, reasoning_content: "second", tool_calls },
      { role: "tool", tool_call_id: "A", content: "text" },
    ],
    { format: "openai-chat", profile: "openai-compatible" },
  );
  expect(messages[1]).toEqual({
    role: "assistant",
    content: "well",
    reasoning_content: "first\nsecond",
    tool_calls,
  });
});

test("[WIRE-7] texts alone that become one message keep their thoughts too, and the joining is told", () => {
  const { messages, adjustments } = repairMessages(
    [
      go,
      { role: "assistant", content: "one", reasoning: "first" },
      { role: "assistant", content: "two", reasoning: "second" },
      { ...go },
    ],
    { format: "openai-chat", profile: "openai-compatible" },
  );
  expect(messages[1]).toEqual({ role: "assistant", content: "one\ntwo", reasoning: "first\nsecond" });
  expect(adjustments.map(({ kind }) => kind)).toEqual(["messages-joined"]);
});

test("[WIRE-8] an added opening claims nothing that did not happen", () => {
  const { messages } = repairMessages([{ role: "assistant", content: "Welcome!" }, go], { format: "anthropic" });
  expect(JSON.stringify(messages[0])).not.toContain("removed");
});

const asked = said("gemini", "go");
const model = (...parts: object[]) => ({ role: "model", parts });
const answered = (...parts: object[]) => ({ role: "user", parts });

test("[WIRE-21] a Gemini response without an id answers the call of its name that has one", () => {
  const call = { functionCall: { id: "abc", name: "f", args: {} } };
  const other = { functionCall: { id: "def", name: "g", args: {} } };
  const result = { functionResponse: { name: "f", response: { result: 1 } } };
  const named = { functionResponse: { id: "def", name: "g", response: { result: 2 } } };
  expectUntouched([asked, model(call), answered(result)], "gemini");
  expectUntouched([asked, model(call, other), answered(result, named)], "gemini");
});

test("[WIRE-21] a Gemini seal on an empty text is kept", () => {
  const call = { functionCall: { name: "f", args: {} } };
  const result = { functionResponse: { name: "f", response: {} } };
  const seal = { text: "", thoughtSignature: "sealed" };
  expectUntouched([asked, model({ text: "hm" }, seal), said("gemini", "more")], "gemini");
  expectUntouched([asked, model(call, seal), answered(result)], "gemini");
});

test("[PAIR-18] an AI SDK result that was kept beside its call in the answer is real, and moves to a tool message", () => {
  const call = { type: "tool-call", toolCallId: "A", toolName: "f", input: {} };
  const result = { type: "tool-result", toolCallId: "A", toolName: "f", output: { type: "text", value: "real" } };
  const { messages, adjustments } = repairMessages([go, { role: "assistant", content: [call, result] }, { ...go }], {
    format: "ai-sdk",
  });
  expect(messages.slice(1, 3)).toEqual([
    { role: "assistant", content: [call] },
    { role: "tool", content: [result] },
  ]);
  expect(adjustments).toEqual([{ kind: "message-split", at: 2 }]);
  expect(checkWire(messages, "ai-sdk")).toEqual([]);
});

test("[WIRE-21] a shell output of the Responses format answers its call, by either of its ids", () => {
  const shell = { type: "local_shell_call", id: "lsh_1", call_id: "A", action: { type: "exec" }, status: "completed" };
  expectUntouched([go, shell, { type: "local_shell_call_output", call_id: "A", output: "text" }], "openai-responses");
  expectUntouched([go, shell, { type: "local_shell_call_output", id: "A", output: "text" }], "openai-responses");
});

test("[WIRE-21] an output may answer a call that the provider keeps under a reference", () => {
  const call = { type: "function_call", call_id: "B", name: "f", arguments: "{}" };
  const result = (call_id: string) => ({ type: "function_call_output", call_id, output: "text" });
  expectUntouched([go, { type: "item_reference", id: "fc_1" }, result("A")], "openai-responses");
  expectUntouched([go, { type: "item_reference", id: "fc_1" }, call, result("A"), result("B")], "openai-responses");
});

test("[WIRE-4] of two items under one id the second is sent without it, or not at all where it is only that", () => {
  const seen = [
    { type: "reasoning", id: "rs_1", summary: [] },
    { type: "function_call", id: "fc_1", call_id: "A", name: "f", arguments: "{}" },
    { type: "function_call_output", call_id: "A", output: "text" },
  ];
  const doubled = [go, ...seen, go, ...seen.map((item) => ({ ...item }))];
  expect(checkWire(doubled, "openai-responses")).toContainEqual(
    expect.objectContaining({ rule: "WIRE-4", detail: "rs_1" }),
  );
  const { messages, adjustments, renamed } = repairMessages(doubled, { format: "openai-responses" });
  const [second] = renamed.values();
  expect(messages.slice(5)).toEqual([
    { type: "function_call", call_id: second, name: "f", arguments: "{}" },
    { type: "function_call_output", call_id: second, output: "text" },
  ]);
  expect(adjustments.filter(({ kind }) => kind === "item-id-dropped")).toHaveLength(2);
  expect(checkWire(messages, "openai-responses")).toEqual([]);
  expect(repairMessages(messages, { format: "openai-responses" }).messages).toBe(messages);
});
