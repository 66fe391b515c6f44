import { describe, expect, test } from "vitest";
import { checkWire, type WireRequest } from "./check.ts";
import { PROFILES, type ProfileChoice } from "./profiles.ts";
import { WIRE_RULES, type WireRuleId } from "./rules.ts";

const go = { role: "user", content: "go" };
const calls = (...ids: (string | undefined)[]) => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "read_file", arguments: "{}" } })),
});
const tool = (id: string, more: object = {}) => ({ role: "tool", tool_call_id: id, content: "text", ...more });
const uses = (...ids: string[]) => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "tool_use", id, name: "read_file", input: {} })),
});
const results = (...ids: string[]) => ({
  role: "user",
  content: ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: "text" })),
});
const says = (content: unknown) => ({ role: "assistant", content });
const part = (type: string, more: object) => ({ type, toolCallId: "A", toolName: "read_file", ...more });

const picture = (media_type: string, data = "AA==") => ({
  type: "image",
  source: { type: "base64", media_type, data },
});

/** One request for each rule, whole but for the one thing. */
const BROKEN: readonly [`[${WireRuleId}]`, ProfileChoice, WireRequest][] = [
  ["[WIRE-1]", "openai-chat", [go, calls("A"), go]],
  ["[WIRE-1]", "openai-responses", [{ type: "function_call", call_id: "A", name: "f", arguments: "{}" }]],
  ["[WIRE-1]", "anthropic", [go, uses("A", "B"), results("A")]],
  ["[WIRE-2]", "openai-chat", [go, tool("A")]],
  ["[WIRE-2]", "openai-responses", [{ type: "custom_tool_call_output", call_id: "A", output: "" }]],
  ["[WIRE-3]", "openai-chat", [go, calls("A"), tool("A"), tool("A")]],
  ["[WIRE-3]", "anthropic", [go, uses("A"), results("A", "A")]],
  ["[WIRE-4]", "anthropic", [go, uses("A"), results("A"), uses("A"), results("A")]],
  ["[WIRE-5]", "anthropic", [go, uses("a:0"), results("a:0")]],
  ["[WIRE-5]", "openai-chat", [go, calls("x".repeat(41)), tool("x".repeat(41))]],
  [
    "[WIRE-6]",
    "anthropic",
    [go, uses("A"), { role: "user", content: [{ type: "text", text: "x" }, results("A").content[0]] }],
  ],
  ["[WIRE-7]", "anthropic", [go, go]],
  ["[WIRE-8]", "anthropic", [says("hello")]],
  ["[WIRE-9]", { ...PROFILES.anthropic, userLast: true }, [go, says("hello")]],
  ["[WIRE-10]", "anthropic", [go, says([{ type: "text", text: " " }])]],
  ["[WIRE-27]", "anthropic", [go, says("hello ")]],
  ["[WIRE-29]", "openai-chat", [go, calls("A"), tool("A", { content: null })]],
  ["[WIRE-28]", "anthropic", [go, says([{ ...uses("A").content[0], name: "functions.read" }]), results("A")]],
  [
    "[WIRE-10]",
    "anthropic",
    [
      go,
      uses("A"),
      { role: "user", content: [{ type: "tool_result", tool_use_id: "A", content: [{ type: "text", text: "" }] }] },
    ],
  ],
  ["[WIRE-11]", "openai-responses", [{ type: "reasoning", id: "rs_1", summary: [] }]],
  [
    "[WIRE-12]",
    "anthropic",
    [
      go,
      says([
        { type: "thinking", thinking: "hm" },
        { type: "text", text: "x" },
      ]),
    ],
  ],
  [
    "[WIRE-13]",
    "gemini",
    [
      { role: "user", parts: [{ text: "go" }] },
      { role: "model", parts: [{ functionCall: { name: "f", args: {} }, thoughtSignature: "s" }] },
      { role: "user", parts: [{ functionResponse: { name: "f", response: {} } }] },
      { role: "model", parts: [{ functionCall: { name: "f", args: {} } }] },
      { role: "user", parts: [{ functionResponse: { name: "f", response: {} } }] },
    ],
  ],
  ["[WIRE-14]", "anthropic", [go, says([{ type: "tool_use", id: "A", name: "f", input: "{}" }]), results("A")]],
  ["[WIRE-15]", "openai-chat", [{ role: "user", content: "a\0b" }]],
  ["[WIRE-15]", "anthropic", [{ role: "user", content: "a\ud800b" }]],
  [
    "[WIRE-16]",
    "openai-chat",
    { messages: [go, calls("A"), tool("A")], tools: [{ type: "function", function: { name: "grep" } }] },
  ],
  [
    "[WIRE-17]",
    "ai-sdk",
    [
      says([part("tool-call", { input: {} })]),
      { role: "tool", content: [part("tool-result", { toolName: "grep", output: { type: "text", value: "text" } })] },
    ],
  ],
  ["[WIRE-18]", "openai-compatible", [go, calls("A", "B"), tool("B"), tool("A")]],
  ["[WIRE-19]", "openai-chat", [{ role: "narrator", content: "once" }]],
  [
    "[WIRE-20]",
    "ai-sdk",
    [go, { role: "tool", content: [{ type: "tool-approval-response", approvalId: "x", approved: true }] }],
  ],
  ["[WIRE-1]", "openai-responses", [{ type: "computer_call", call_id: "A", action: { type: "screenshot" } }]],
  [
    "[WIRE-1]",
    "openai-responses",
    [
      { type: "shell_call", call_id: "A", action: { commands: ["ls"] } },
      { type: "apply_patch_call", call_id: "B", operation: { type: "delete_file", path: "a" } },
      { type: "apply_patch_call_output", call_id: "B", status: "completed" },
    ],
  ],
  ["[WIRE-2]", "openai-responses", [{ type: "shell_call_output", call_id: "A", output: [] }]],
  ["[WIRE-30]", "anthropic", { messages: [go, uses("A"), results("A")], thinking: { type: "enabled" } }],
  [
    "[WIRE-33]",
    "openai-chat",
    [
      go,
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "A", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      {
        role: "tool",
        tool_call_id: "A",
        content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }],
      },
    ],
  ],
  [
    "[WIRE-35]",
    "openai-chat",
    [go, says([{ type: "image_url", image_url: { url: "https://example.invalid/a.png" } }])],
  ],
  ["[WIRE-35]", "openai-responses", [go, says([{ type: "input_image", image_url: "https://example.invalid/a.png" }])]],
  ["[WIRE-39]", "openai-responses", [{ role: "user", content: [{ type: "output_text", text: "go" }] }]],
  ["[WIRE-39]", "openai-responses", [{ role: "developer", content: [{ type: "text", text: "be brief" }] }]],
  ["[WIRE-39]", "openai-responses", [go, says([{ type: "input_text", text: "well" }])]],
  [
    "[WIRE-39]",
    "openai-responses",
    [
      go,
      { type: "function_call", call_id: "A", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "A", output: [{ type: "output_text", text: "done" }] },
    ],
  ],
  ["[WIRE-41]", "anthropic", [{ role: "user", content: [{ type: "image" }] }]],
  ["[WIRE-41]", "openai-chat", [{ role: "user", content: [{ type: "image_url" }] }]],
  [
    "[WIRE-41]",
    "openai-chat",
    [{ role: "user", content: [{ type: "image_url", image_url: "https://example.invalid" }] }],
  ],
  ["[WIRE-41]", "openai-chat", [{ role: "user", content: [{ type: "file", file: { filename: "a.pdf" } }] }]],
  ["[WIRE-41]", "openai-responses", [{ role: "user", content: [{ type: "input_image" }] }]],
  ["[WIRE-42]", "openai-chat", [{ role: "user", content: ["go", { type: "text", text: "on" }] }]],
  ["[WIRE-42]", "openai-compatible", [go, says([null, { type: "text", text: "on" }])]],
  ["[WIRE-42]", "openai-responses", [{ role: "user", content: ["go"] }]],
  ["[WIRE-42]", "anthropic", [{ role: "user", content: ["go"] }]],
  ["[WIRE-42]", "gemini", [{ role: "user", parts: ["go"] }]],
  ["[WIRE-42]", "ai-sdk", [{ role: "user", content: ["go"] }]],
  [
    "[WIRE-43]",
    "anthropic",
    [
      {
        role: "user",
        content: [
          { type: "thinking", thinking: "hm", signature: "s" },
          { type: "text", text: "go" },
        ],
      },
    ],
  ],
  ["[WIRE-43]", "gemini", [{ role: "user", parts: [{ text: "go" }, { thought: true, text: "hm" }] }]],
  ["[WIRE-40]", "openai-chat", [{ role: "user", content: 5 }]],
  ["[WIRE-40]", "openai-chat", [{ role: "user", content: null }]],
  ["[WIRE-40]", "openai-responses", [{ role: "user", content: { type: "input_text", text: "go" } }]],
  ["[WIRE-35]", "anthropic", [go, says([picture("image/png")]), go]],
  ["[WIRE-35]", "anthropic", [{ role: "user", content: [picture("image/svg+xml")] }]],
  ["[WIRE-35]", "anthropic", [{ role: "user", content: [picture("image/png", "")] }]],
  ["[WIRE-35]", "anthropic", [{ role: "user", content: [{ ...picture("text/csv"), type: "document" }] }]],
  [
    "[WIRE-44]",
    "openai-chat",
    { messages: [go], tools: [{ type: "function", function: { name: "admin.tools.list" } }, { name: "fine-1" }] },
  ],
  ["[WIRE-44]", "openai-responses", { input: [{ role: "user", content: "go" }], tools: [{ name: "x".repeat(65) }] }],
  ["[WIRE-44]", "anthropic", { messages: [go], tools: [{ name: "x".repeat(65) }, { name: "files.read" }] }],
];

const thinking = { type: "thinking", thinking: "hm", signature: "s" };

describe("the judge", () => {
  test("[WIRE-30] thinking is demanded only where it is on, and only of the answer that the last results belong to", () => {
    const thought = { role: "assistant", content: [thinking, ...uses("A").content] };
    const on = { type: "enabled", budget_tokens: 1024 };
    expect(checkWire({ messages: [go, thought, results("A")], thinking: on }, "anthropic")).toEqual([]);
    expect(checkWire({ messages: [go, uses("A"), results("A")] }, "anthropic")).toEqual([]);
    const over = [go, uses("A"), results("A"), says("done"), go];
    expect(checkWire({ messages: over, thinking: on }, "anthropic")).toEqual([]);
  });

  test("[WIRE-31] outputs of calls that the provider keeps are taken where the request goes on from them", () => {
    const input = [{ type: "function_call_output", call_id: "A", output: "" }];
    expect(checkWire({ input }, "openai-responses")).toHaveLength(1);
    expect(checkWire({ input, previous_response_id: "resp_1" }, "openai-responses")).toEqual([]);
    expect(checkWire({ input, conversation: "conv_1" }, "openai-responses")).toEqual([]);
  });

  test.each(BROKEN)("%s is refused at %s", (rule, profile, request) => {
    const faults = checkWire(request, profile);
    expect([...new Set(faults.map((fault) => `[${fault.rule}]`))]).toEqual([rule]);
    expect(faults[0]?.error.length).toBeGreaterThan(10);
  });

  test("every rule is shown broken above, has a demand, and binds somebody", () => {
    expect([...new Set(BROKEN.map(([rule]) => rule))].toSorted()).toEqual(
      WIRE_RULES.map(({ id }) => `[${id}]`).toSorted(),
    );
    for (const { demands, errors } of WIRE_RULES) {
      expect(demands.endsWith(".")).toBe(true);
      expect(Object.keys(errors).length).toBeGreaterThan(0);
    }
  });

  test("a whole request passes in every shape it may be given in", () => {
    const messages = [go, calls("A"), tool("A"), says("done")];
    const offered = [
      [{ type: "function", function: { name: "read_file" } }],
      { read_file: {} },
      ["read_file"],
      [{ name: "read_file" }],
    ];
    for (const tools of offered) expect(checkWire({ messages, tools }, "openai-chat")).toEqual([]);
    expect(
      checkWire(
        { contents: [{ role: "user", parts: [{ text: "go" }] }], tools: [{ functionDeclarations: [] }] },
        "gemini",
      ),
    ).toEqual([]);
    expect(checkWire({ input: [{ role: "user", content: "go" }] }, "openai-responses")).toEqual([]);
  });
});

test("[WIRE-16] a request without messages breaks nothing by them, and a tool without a name is known by its type", () => {
  expect(checkWire({} as WireRequest, "openai-responses")).toEqual([]);
  const called = [
    go,
    { type: "function_call", call_id: "A", name: "web_search", arguments: "{}" },
    { type: "function_call_output", call_id: "A", output: "" },
  ];
  const rules = (tools: readonly object[]) =>
    checkWire({ input: called, tools } as unknown as WireRequest, "openai-responses").map(({ rule }) => rule);
  expect(rules([{ type: "web_search" }])).toEqual([]);
  expect(rules([{ type: "other" }])).toContain("WIRE-16");
});
