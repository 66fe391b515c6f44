import { expect, test } from "vitest";
import { checkWire } from "../../src/wire/check.ts";
import { type ProfileId, PROFILES } from "../../src/wire/profiles.ts";
import { repairMessages } from "../../src/history/entry.ts";

/** Conversations that were exported by hand say "user" where a model called, or "assistant" where a tool answered. */
const go = { role: "user", content: "go" };
const use = { type: "tool_use", id: "c1", name: "f", input: {} };
const result = { type: "tool_result", tool_use_id: "c1", content: "ok" };
const text = (said: string) => ({ type: "text", text: said });
const asked = { id: "c1", type: "function", function: { name: "f", arguments: "{}" } };
const called = { type: "tool-call", toolCallId: "c1", toolName: "f", input: {} };
const returned = { type: "tool-result", toolCallId: "c1", toolName: "f", output: { type: "text", value: "ok" } };
const functionCall = { name: "f", args: {} };
const functionResponse = { name: "f", response: { output: "ok" } };

const CASES: readonly [what: string, ProfileId, broken: readonly object[], mended: readonly object[]][] = [
  [
    "a call of the user and a result of the assistant",
    "anthropic",
    [go, { role: "user", content: [use] }, { role: "assistant", content: [result] }],
    [go, { role: "assistant", content: [use] }, { role: "user", content: [result] }],
  ],
  [
    "a call beside the user's words",
    "anthropic",
    [
      { role: "user", content: [text("go"), use] },
      { role: "user", content: [result] },
    ],
    [
      { role: "user", content: [text("go")] },
      { role: "assistant", content: [use] },
      { role: "user", content: [result] },
    ],
  ],
  [
    "a call beside the user's words",
    "openai-chat",
    [
      { ...go, tool_calls: [asked] },
      { role: "tool", tool_call_id: "c1", content: "ok" },
    ],
    [
      go,
      { role: "assistant", content: null, tool_calls: [asked] },
      { role: "tool", tool_call_id: "c1", content: "ok" },
    ],
  ],
  [
    "a call of the user",
    "openai-compatible",
    [go, { role: "user", content: null, tool_calls: [asked] }, { role: "tool", tool_call_id: "c1", content: "ok" }],
    [
      go,
      { role: "assistant", content: null, tool_calls: [asked] },
      { role: "tool", tool_call_id: "c1", content: "ok" },
    ],
  ],
  [
    "a call of the user and a result of the model",
    "gemini",
    [
      { role: "user", parts: [{ text: "go" }] },
      { role: "user", parts: [{ functionCall }] },
      { role: "model", parts: [{ functionResponse }] },
    ],
    [
      { role: "user", parts: [{ text: "go" }] },
      { role: "model", parts: [{ functionCall }] },
      { role: "user", parts: [{ functionResponse }] },
    ],
  ],
  [
    "a result of the user",
    "ai-sdk",
    [go, { role: "assistant", content: [called] }, { role: "user", content: [returned] }],
    [go, { role: "assistant", content: [called] }, { role: "tool", content: [returned] }],
  ],
  [
    "a call and a result of the user",
    "ai-sdk",
    [go, { role: "user", content: [called] }, { role: "user", content: [returned] }],
    [go, { role: "assistant", content: [called] }, { role: "tool", content: [returned] }],
  ],
];

test.each(CASES)(
  "[WIRE-43] %s: %s is refused, and written under the role that it belongs to",
  (_, id, broken, mended) => {
    const { format } = PROFILES[id];
    expect(checkWire(broken, id).map(({ rule }) => rule)).toContain("WIRE-43");
    const repaired = repairMessages(broken, { format, profile: id });
    expect(repaired.messages).toEqual(mended);
    expect(repaired.repairs).toEqual([]);
    expect(repaired.adjustments.map(({ kind }) => kind)).toContain("role-rewritten");
    expect(checkWire(repaired.messages, id)).toEqual([]);
    expect(repairMessages(repaired.messages, { format, profile: id }).messages).toBe(repaired.messages);
  },
);

test("[WIRE-19] [WIRE-43] a result that stands alone in an instruction is written under the user", () => {
  const call = { role: "assistant", content: [use] };
  const broken = [go, call, { role: "system", content: [result] }];
  expect(checkWire(broken, "anthropic")).toMatchObject([{ rule: "WIRE-19", at: 2 }]);
  const repaired = repairMessages(broken, { format: "anthropic" });
  expect(repaired.messages).toEqual([go, call, { role: "user", content: [result] }]);
  expect(repaired.adjustments.map(({ kind }) => kind)).toContain("role-rewritten");
});
