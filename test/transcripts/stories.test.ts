import { expect, test } from "vitest";
import { FORMAT_IDS } from "../../src/transcripts/format.ts";
import { codesOf, examined, repairedText } from "./in-memory.ts";
import { SAMPLES, type Step } from "./samples.ts";

/** What happened to somebody, in the format it happened in. All texts are made up. */

type Fields = Record<string, unknown>;

function jsonl(...records: readonly unknown[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

function records(text: string): Fields[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Fields);
}

const claude = (uuid: string, parentUuid: string | null, type: string, message: Fields, more: Fields = {}) => ({
  parentUuid,
  isSidechain: false,
  sessionId: "s",
  ...more,
  type,
  message: { role: type, ...message },
  uuid,
});
const use = (id: string) => ({ type: "tool_use", id, name: "Bash", input: {} });
const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "ok" });

test("[DOC-11] Claude Code: outputs written while the answer still streams are in order", async () => {
  const text = jsonl(
    claude("a", null, "user", { content: "go" }),
    claude("b", "a", "assistant", { id: "m", content: [use("t1")] }),
    claude("c", "b", "assistant", { id: "m", content: [use("t2")] }),
    claude("d", "b", "user", { content: [result("t1")] }),
    claude("e", "d", "assistant", { id: "m", content: [use("t3")] }),
    claude("f", "c", "user", { content: [result("t2")] }),
    claude("g", "e", "user", { content: [result("t3")] }),
    claude("h", "g", "assistant", { id: "n", content: [{ type: "text", text: "done" }] }),
  );
  const found = await examined(text);
  expect(codesOf(found)).toEqual([]);
  expect(found.counts.displaced).toBe(0);
});

test("[DOC-11] Claude Code: text that came with an output is parted from it, and what followed hangs on the text", async () => {
  const text = jsonl(
    claude("a", null, "user", { content: "go" }),
    claude("b", "a", "assistant", { id: "m", content: [use("t1")] }),
    claude("c", "b", "user", { content: [result("t1"), { type: "text", text: "and hurry" }] }, { toolUseResult: "ok" }),
    claude("d", "c", "assistant", { id: "n", content: [{ type: "text", text: "done" }] }),
  );
  const found = await examined(text);
  expect(codesOf(found)).toEqual(["mixed-outputs"]);
  expect(found.counts.displaced).toBe(1);
  const after = records(await repairedText(text));
  expect(after.map((one) => (one["message"] as Fields)["content"])).toEqual([
    "go",
    [use("t1")],
    [result("t1")],
    [{ type: "text", text: "and hurry" }],
    [{ type: "text", text: "done" }],
  ]);
  expect(after[2]).toHaveProperty("toolUseResult");
  expect(after[3]).not.toHaveProperty("toolUseResult");
  expect(after[3]!["parentUuid"]).toBe("c");
  expect(after[4]!["parentUuid"]).toBe(after[3]!["uuid"]);
});

test("[DOC-11] Claude Code: a sub-agent's side chain between a call and its output is another conversation", async () => {
  const side = { isSidechain: true, agentId: "x" };
  const text = jsonl(
    claude("a", null, "user", { content: "go" }),
    claude("b", "a", "assistant", { id: "m", content: [use("task")] }),
    claude("s1", null, "user", { content: "sub task" }, side),
    claude("s2", "s1", "assistant", { id: "sm", content: [use("inner")] }, side),
    claude("s3", "s2", "user", { content: [result("inner")] }, side),
    claude("c", "b", "user", { content: [result("task")] }),
  );
  expect(codesOf(await examined(text))).toEqual([]);
});

test("[DOC-11] Claude Code: an answer to a forked batch of calls goes between them and what followed", async () => {
  const text = jsonl(
    claude("a", null, "user", { content: "go" }),
    claude("b", "a", "assistant", { id: "m", content: [use("t1")] }, { cwd: "/w", timestamp: "T" }),
    claude("c", "b", "user", { content: "stop" }),
  );
  const after = records(await repairedText(text));
  expect(after).toHaveLength(4);
  expect(after[2]).toMatchObject({
    parentUuid: "b",
    cwd: "/w",
    timestamp: "T",
    sourceToolAssistantUUID: "b",
    type: "user",
  });
  expect(after[3]!["parentUuid"]).toBe(after[2]!["uuid"]);
});

test("[DOC-12] a call cut inside its arguments is taken out, never answered, and its message with it when it was alone", async () => {
  const entry = (message: Fields) => ({ type: "message", timestamp: "T", message });
  const cut = { type: "toolCall", id: "t1", name: "edit", arguments: {}, partialJson: '{"path": "a' };
  const text = jsonl(
    { type: "session", id: "s", timestamp: "T", cwd: "/w" },
    entry({ role: "user", content: "go" }),
    entry({ role: "assistant", content: [{ type: "text", text: "I will" }, cut], stopReason: "aborted" }),
    entry({ role: "assistant", content: [cut], stopReason: "aborted" }),
    entry({ role: "user", content: "well?" }),
  );
  expect(codesOf(await examined(text))).toContain("partial-call");
  const after = await repairedText(text);
  expect(after).not.toContain("toolCall");
  expect(after).not.toContain("toolResult");
  expect(after).toContain("I will");
  expect(records(after)).toHaveLength(4);
});

test("[DOC-12] OpenAI: arguments that stop in the middle make a partial call; the message keeps its words and loses the empty list", async () => {
  const call = { id: "t1", type: "function", function: { name: "edit", arguments: '{"path": "a' } };
  const messages = [
    { role: "user", content: "go" },
    { role: "assistant", content: "I will", tool_calls: [call] },
    { role: "user", content: "well?" },
  ];
  const after = await repairedText(JSON.stringify({ model: "m", messages }));
  expect(JSON.parse(after)).toEqual({
    model: "m",
    messages: [messages[0], { role: "assistant", content: "I will" }, messages[2]],
  });
});

test("[DOC-13] pi v1: compactions name entries by their place, and still name the same ones after a repair", async () => {
  const entry = (message: Fields) => ({ type: "message", timestamp: "T", message });
  const call = { type: "toolCall", id: "t1", name: "bash", arguments: {} };
  const text = jsonl(
    { type: "session", id: "s", timestamp: "T", cwd: "/w" },
    entry({ role: "user", content: "go" }),
    entry({ role: "assistant", content: [call], stopReason: "toolUse" }),
    entry({ role: "user", content: "keep from here" }),
    { type: "compaction", timestamp: "T", summary: "…", firstKeptEntryIndex: 3, tokensBefore: 9 },
  );
  const after = records(await repairedText(text));
  const index = after.at(-1)!["firstKeptEntryIndex"] as number;
  expect((after[index]!["message"] as Fields)["content"]).toBe("keep from here");
});

test("[DOC-14] the last answer of a request log is still open: no finding, and nothing to repair", async () => {
  const call = { id: "t1", type: "function", function: { name: "edit", arguments: "{}" } };
  const log = {
    messages: [{ role: "user", content: "go" }],
    response: { choices: [{ message: { role: "assistant", content: null, tool_calls: [call] } }] },
  };
  const found = await examined(JSON.stringify(log));
  expect(found.findings).toEqual([]);
  expect(found.counts).toMatchObject({ missing: 1, missingAtTail: 1 });
  const request = {
    type: "toolRequest",
    id: "t1",
    toolCall: { status: "success", value: { name: "f", arguments: {} } },
  };
  const goose = {
    h: {
      input: { messages: [{ role: "user", content: [] }] },
      output: { message: { role: "assistant", content: [request] } },
    },
  };
  expect((await examined(JSON.stringify(goose))).findings).toEqual([]);
});

test("[DOC-14] a consent that is still awaited at the end is open; once the conversation went on it is lost", async () => {
  const part = { type: "tool-pay", toolCallId: "t1", state: "approval-requested", input: {}, approval: { id: "a" } };
  const open = [
    { id: "1", role: "user", parts: [{ type: "text", text: "pay" }] },
    { id: "2", role: "assistant", parts: [{ type: "step-start" }, part] },
  ];
  expect(codesOf(await examined(JSON.stringify(open)))).toEqual([]);
  const lost = [...open, { id: "3", role: "user", parts: [{ type: "text", text: "hello?" }] }];
  expect(codesOf(await examined(JSON.stringify(lost)))).toEqual(["missing-output"]);
  expect(await repairedText(JSON.stringify(lost))).toContain('"state":"output-error"');
});

test("[DOC-33] the output of a local shell is that of its call, under either of its names for it", async () => {
  const call = { type: "local_shell_call", id: "lsh_1", call_id: "call_1", status: "completed", action: {} };
  for (const named of [{ id: "call_1" }, { call_id: "call_1" }, { id: "out_1", call_id: "call_1" }]) {
    const output = { type: "local_shell_call_output", ...named, output: "a" };
    const request = { model: "m", input: [{ role: "user", content: "go" }, call, output] };
    const found = await examined(JSON.stringify(request));
    expect([codesOf(found), found.calls, found.outputs]).toEqual([[], 1, 1]);
  }
});

test("[DOC-34] what has no ids by its nature, functions before tools and a search that the provider runs, is sound", async () => {
  const go = { role: "user", content: "go" };
  const legacy = [
    go,
    { role: "assistant", content: null, function_call: { name: "x", arguments: "{}" } },
    { role: "function", name: "x", content: "found" },
    go,
  ];
  const search = [
    go,
    { type: "tool_search_call", id: "t1", call_id: null, execution: "server", arguments: {} },
    { type: "tool_search_output", id: "t2", call_id: null, execution: "server", tools: [] },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "done" }] },
  ];
  for (const request of [{ messages: legacy }, { model: "m", input: search }]) {
    const text = JSON.stringify(request);
    expect(codesOf(await examined(text))).toEqual([]);
    expect(await repairedText(text)).toBe(text);
  }
});

const STEPS: readonly Step[] = [
  { say: "user", text: "hello" },
  { call: [{ id: "c1", name: "read" }], text: "I look." },
  { output: "c1", name: "read", text: "one" },
  { say: "assistant", text: "done" },
];

test.each(FORMAT_IDS.filter((format) => !SAMPLES[format].lines))(
  "[DOC-32] %s: a document is one however its lines are broken",
  async (format) => {
    const text = SAMPLES[format].write(STEPS);
    const value = JSON.parse(text) as unknown;
    const layouts = [
      JSON.stringify(value).replaceAll(/([[,])\{/g, "$1\n{"), // an element a line
      JSON.stringify(value)
        .replaceAll(/([[,])\{/g, "$1\n{")
        .replaceAll("}]", "}\n]"), // and the brackets on lines of their own
      JSON.stringify(value).replaceAll(/\},\{/g, "},\n{"),
      JSON.stringify(value, undefined, 1).replace("\n", ""),
    ];
    for (const layout of layouts) {
      expect(JSON.parse(layout)).toEqual(value);
      const found = await examined(layout);
      expect([found.format, codesOf(found), found.calls, found.outputs]).toEqual([format, [], 1, 1]);
      expect(await repairedText(layout)).toBe(layout);
    }
  },
);

test("[DOC-31] a call that was denied, or never consented to, is not told as one that may have run", async () => {
  const part = (toolCallId: string, state: string, approval: Fields) => ({
    type: "tool-pay",
    toolCallId,
    state,
    input: {},
    approval: { id: toolCallId, ...approval },
  });
  const parts = [
    part("t1", "approval-responded", { approved: false, reason: "too much" }),
    part("t2", "approval-responded", { approved: true }),
    part("t3", "approval-requested", {}),
  ];
  const messages = [
    { id: "1", role: "user", parts: [{ type: "text", text: "pay" }] },
    { id: "2", role: "assistant", parts: [{ type: "step-start" }, ...parts] },
    { id: "3", role: "user", parts: [{ type: "text", text: "well then" }] },
  ];
  const repaired = JSON.parse(await repairedText(JSON.stringify(messages))) as typeof messages;
  expect(repaired[1]?.parts.slice(1)).toEqual([
    { ...parts[0], state: "output-denied" },
    { ...parts[1], state: "output-error", errorText: expect.stringContaining("may have happened") },
    { ...parts[2], state: "output-error", errorText: expect.stringContaining("did not run") },
  ]);
  expect(codesOf(await examined(JSON.stringify(repaired)))).toEqual([]);
});

test("[DOC-11] calls of different kinds that share an id are paired by kind, then told apart", async () => {
  const item = (payload: Fields) => ({ timestamp: "T", type: "response_item", payload });
  const text = jsonl(
    { timestamp: "T", type: "session_meta", payload: { id: "s" } },
    item({ type: "function_call", call_id: "x", name: "shell", arguments: "{}" }),
    item({ type: "custom_tool_call", call_id: "x", name: "apply_patch", input: "…" }),
    item({ type: "custom_tool_call_output", call_id: "x", output: "patched" }),
    item({ type: "function_call_output", call_id: "x", output: "listed" }),
  );
  expect(codesOf(await examined(text))).toEqual(["duplicate-call-id"]);
  const after = records(await repairedText(text))
    .slice(1)
    .map((one) => one["payload"] as Fields);
  expect(after[0]!["call_id"]).toBe(after[3]!["call_id"]);
  expect(after[1]!["call_id"]).toBe(after[2]!["call_id"]);
  expect(after[0]!["call_id"]).not.toBe(after[1]!["call_id"]);
});

test("[DOC-1] older and newer shapes of the same formats are recognised", async () => {
  const codex = jsonl(
    { id: "s", timestamp: "T", instructions: null },
    { type: "message", role: "user", content: [] },
    { type: "function_call", name: "f", arguments: "{}", call_id: "c" },
  );
  expect((await examined(codex)).format).toBe("codex-rollout");
  const gemini = jsonl(
    { sessionId: "s", projectHash: "h" },
    { id: "1", type: "user", content: "hi" },
    { id: "2", type: "gemini", content: "", toolCalls: [{ id: "t", name: "f", args: {}, status: "executing" }] },
    {
      id: "2",
      type: "gemini",
      content: "",
      toolCalls: [{ id: "t", name: "f", args: {}, status: "success", result: [{}] }],
    },
  );
  expect(await examined(gemini)).toMatchObject({ format: "gemini-cli-chat", calls: 1, findings: [] });
  const sdk = jsonl(
    { kind: "SystemPromptEvent", id: "0", source: "agent" },
    {
      kind: "ActionEvent",
      id: "1",
      source: "agent",
      tool_name: "f",
      tool_call_id: "t",
      tool_call: { id: "t", arguments: "{}" },
      llm_response_id: "r",
    },
  );
  expect(await examined(sdk)).toMatchObject({ format: "openhands-output", findings: [{ code: "missing-output" }] });
  expect(await repairedText(sdk)).toContain("AgentErrorEvent");
  const v4 = [
    { role: "user", content: "hi" },
    { role: "assistant", content: "", toolInvocations: [{ state: "call", toolCallId: "t", toolName: "f", args: {} }] },
  ];
  expect(await examined(JSON.stringify(v4))).toMatchObject({
    format: "ai-sdk-ui",
    findings: [{ code: "missing-output" }],
  });
  const tau = [
    { task_id: 0, traj: [{ role: "user", content: "hi" }] },
    { task_id: 1, traj: [{ role: "user", content: "hi" }] },
  ];
  expect(await examined(JSON.stringify(tau))).toMatchObject({ format: "openai-chat", conversations: 2 });
  const mini = {
    info: { mini_version: "1" },
    messages: [{ role: "user", content: "hi" }],
    trajectory_format: "mini-swe-agent-1",
  };
  expect((await examined(JSON.stringify(mini))).format).toBe("swe-agent");
});

test("[DOC-11] OpenCode: calls that share an id keep their own outputs, also when one of them has none", async () => {
  const part = (state: Fields) => ({ type: "tool", tool: "bash", callID: "same", state });
  const parts = [
    part({ status: "running", input: { a: 1 } }),
    part({ status: "completed", input: {}, output: "second" }),
  ];
  const message = { info: { id: "m", role: "assistant", time: { created: 1 } }, parts };
  const file = JSON.stringify({ info: { id: "ses" }, messages: [message] });
  expect(codesOf(await examined(file)).toSorted()).toEqual(["duplicate-call-id", "missing-output"]);
  const after = JSON.parse(await repairedText(file)) as { messages: [{ parts: { callID: string; state: Fields }[] }] };
  const [first, second] = after.messages[0].parts;
  expect(first).toMatchObject({ callID: "same", state: { status: "error", input: { a: 1 } } });
  expect(second).toMatchObject({ state: { status: "completed", output: "second" } });
  expect(second!.callID).not.toBe("same");
});

test("[DOC-1] a file of requests, one to a line, is as many conversations, each repaired for itself", async () => {
  const call = { id: "t1", type: "function", function: { name: "edit", arguments: "{}" } };
  const open = {
    messages: [
      { role: "user", content: "go" },
      { role: "assistant", content: null, tool_calls: [call] },
    ],
  };
  const sound = {
    messages: [
      { role: "user", content: "hi" },
      { role: "assistant", content: "hello" },
    ],
  };
  const text = jsonl(sound, open, sound);
  expect(await examined(text)).toMatchObject({
    format: "openai-chat",
    conversations: 3,
    calls: 1,
    findings: [{ line: 2, conversation: 2 }],
  });
  const after = (await repairedText(text)).split("\n");
  expect([after[0], after[2]]).toEqual([JSON.stringify(sound), JSON.stringify(sound)]);
  expect(JSON.parse(after[1]!)).toMatchObject({ messages: [{}, {}, { role: "tool", tool_call_id: "t1" }] });
});
