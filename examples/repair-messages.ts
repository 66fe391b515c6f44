/** A chat that a crash has bricked, mended in three lines. Run it: `npm run example repair-messages`. */
import assert from "node:assert/strict";
import { checkWire, normalize, repairMessages, toolCallId } from "holdfast/history";

// The process died between two tool calls and their results; then the user wrote again.
const messages = [
  { role: "user", content: "What is in a.txt and b.txt?" },
  {
    role: "assistant",
    content: [
      { type: "tool_use", id: "toolu_1", name: "read_file", input: { path: "a.txt" } },
      { type: "tool_use", id: "toolu_2", name: "read_file", input: { path: "b.txt" } },
    ],
  },
  { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_2", content: "bee" }] },
  { role: "user", content: "Hello? Are you still there?" },
];

// What the provider would have said, at every turn from now on:
const refused = checkWire(messages, "anthropic");
assert.ok(refused.some(({ error }) => error.includes("`tool_use` ids were found without `tool_result` blocks")));

// The three lines.
const { messages: sendable, report, repairs } = repairMessages(messages, { format: "anthropic" });
assert.deepEqual(checkWire(sendable, "anthropic"), []);
assert.equal(report.summary(), "1 missing outputs, 0 orphan outputs");

// It says what it did, keeps every real result, and gives untouched messages back as they were.
assert.deepEqual(
  repairs.map(({ action, fault }) => [action, fault.toolName, fault.callId]),
  [["answered", "read_file", "toolu_1"]],
);
assert.equal(sendable[1], messages[1]);
assert.ok(JSON.stringify(sendable).includes("bee"));

// A second time there is nothing to do: the same array comes back.
assert.equal(repairMessages(sendable, { format: "anthropic" }).messages, sendable);

// The same on Holdfast's own items, whatever provider they go to.
const { items } = normalize([
  { kind: "user", parts: [{ type: "text", text: "go" }] },
  { kind: "call", callKind: "function", callId: toolCallId("c1"), name: "read_file", input: { path: "a.txt" } },
]);
assert.deepEqual(
  items.map((item) => item.kind),
  ["user", "call", "output"],
);
console.log(`ok: ${report.summary()}; the request may be sent`);
