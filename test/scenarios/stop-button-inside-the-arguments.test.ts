import { expect, test } from "vitest";
import { checkWire, repairMessages } from "../../src/index.ts";

test("[PAIR-4] the stream died inside the arguments: the call goes, its neighbour and the words stay", () => {
  const whole = { id: "call_1", type: "function", function: { name: "read_file", arguments: '{"path":"a"}' } };
  const cut = {
    id: "call_2",
    type: "function",
    function: { name: "write_file", arguments: '{"path":"b","text":"hal' },
  };
  const messages = [
    { role: "user", content: "tidy up" },
    { role: "assistant", content: "On it.", tool_calls: [whole, cut] },
    { role: "tool", tool_call_id: "call_1", content: "text" },
    { role: "user", content: "stop" },
  ];
  const { messages: mended, repairs } = repairMessages(messages, { format: "openai-chat" });
  expect(mended[1]).toEqual({ role: "assistant", content: "On it.", tool_calls: [whole] });
  expect(mended[2]).toBe(messages[2]);
  expect(repairs).toMatchObject([{ action: "left-out", fault: { kind: "partial-call", toolName: "write_file" } }]);
  expect(checkWire(mended, "openai-chat")).toEqual([]);
});

test("[PAIR-4] nothing was left of the answer: the message goes with its call", () => {
  const cut = {
    id: "call_2",
    type: "function",
    function: { name: "write_file", arguments: '{"path":"b","text":"hal' },
  };
  const messages = [
    { role: "user", content: "tidy up" },
    { role: "assistant", content: null, tool_calls: [cut] },
    { role: "user", content: "stop" },
  ];
  expect(repairMessages(messages, { format: "openai-chat" }).messages).toEqual([messages[0], messages[2]]);
});
