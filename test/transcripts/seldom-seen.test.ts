import { describe, expect, test, vi } from "vitest";
import { joined, type Source } from "../../src/base/text/source.ts";
import { examine } from "../../src/transcripts/doctor.ts";
import type { FormatId } from "../../src/transcripts/format.ts";
import { bytesOf, codesOf, examined, repaired, repairedText } from "./in-memory.ts";

/** What formats also hold, beside words, calls and outputs: seals, consent, a provider's own tools, old versions. */
interface Seldom {
  readonly what: string;
  readonly format: FormatId;
  readonly file: unknown;
  readonly found: readonly string[];
  /** What the repaired file says where it had said nothing. */
  readonly says?: string;
  /** Findings that nobody can mend, and that stay. */
  readonly stays?: readonly string[];
}

const jsonl = (...records: readonly unknown[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("");
const textOf = (file: unknown) => (typeof file === "string" ? file : JSON.stringify(file));

const event = (kind: string, more: object) => ({ kind, source: "agent", id: kind, ...more });
const said = (role: string, text: string) => ({
  ...event("MessageEvent", { source: role === "user" ? "user" : "agent" }),
  llm_message: { role, content: [{ type: "text", text }] },
});
const acted = (id: string, more: object = {}) =>
  event("ActionEvent", { tool_name: "ls", tool_call_id: id, tool_call: { id, arguments: "{}" }, ...more });
const saw = (id: string | null, kind = "ObservationEvent") =>
  event(kind, { source: "environment", tool_name: "ls", tool_call_id: id });

const use = (id: string, type = "tool_use") => ({ type, id, name: "ls", input: {} });
const used = (id: string, type = "tool_result") => ({ type, tool_use_id: id, content: "ok" });
const words = (text: string) => ({ type: "text", text });
const message = (role: string, ...content: readonly object[]) => ({ role, content });

const FOUND: readonly Seldom[] = [
  {
    what: "events of the newer OpenHands, with a refusal, an error and one that answers nothing",
    format: "openhands-output",
    file: [
      event("SystemPromptEvent", { system_prompt: words("be good") }),
      said("user", "go"),
      acted("a", { llm_response_id: "r1" }),
      acted("b", { llm_response_id: "r1" }),
      acted("c", { llm_response_id: "r1", tool_call: undefined }),
      saw("a"),
      saw("b", "UserRejectObservation"),
      saw("c", "AgentErrorEvent"),
      saw(null, "AgentErrorEvent"),
      event("CondensationSummaryEvent", {}),
      acted("d"),
      said("assistant", "done"),
    ],
    found: ["missing-output"],
    says: "Tool execution was interrupted",
  },
  {
    what: "a trajectory of OpenHands that begins with its system prompt, whose call has no number",
    format: "openhands-output",
    file: [
      { source: "agent", action: "system", args: { content: "be good" } },
      { source: "user", action: "message", args: { content: "go" } },
      { source: "agent", action: "run", args: {}, tool_call_metadata: { tool_call_id: "a", function_name: "run" } },
    ],
    found: ["missing-output"],
    says: '"observation":"error"',
  },
  {
    what: "thoughts of Anthropic, sealed and unsealed, and a tool of the provider's",
    format: "anthropic-messages",
    file: [
      message("user", words("go")),
      message("assistant", { type: "thinking", thinking: "hm", signature: "s" }, use("a")),
      message("user", used("a")),
      message(
        "assistant",
        { type: "redacted_thinking", data: "x" },
        use("w", "server_tool_use"),
        used("w", "web_search_tool_result"),
        use("b"),
      ),
      message("user", used("b")),
      message(
        "assistant",
        { type: "thinking", thinking: "hm", signature: "" },
        { type: "redacted_thinking" },
        words("done"),
      ),
    ],
    found: ["broken-bond", "broken-bond"],
  },
  {
    what: "model messages of the AI SDK with consent, a thought and a provider's own result",
    format: "ai-sdk-model",
    file: {
      prompt: [
        { role: "system", content: "be good" },
        message("user", words("go")),
        message(
          "assistant",
          { type: "reasoning", text: "hm" },
          { type: "tool-call", toolCallId: "w", toolName: "web", input: {}, providerExecuted: true },
          { type: "tool-result", toolCallId: "w", toolName: "web", output: { type: "text", value: "ok" } },
          { type: "tool-call", toolCallId: "a", toolName: "rm", input: {} },
          { type: "tool-approval-request", approvalId: "q", toolCallId: "a" },
          { type: "tool-approval-request", approvalId: "nobody's" },
        ),
        message(
          "tool",
          { type: "tool-approval-response", approvalId: "q", approved: true },
          { type: "tool-result", toolCallId: "a", toolName: "rm", output: { type: "error-text", value: "no" } },
        ),
        message("assistant", words("done")),
      ],
    },
    found: ["broken-bond"],
  },
  {
    what: "version 4 of the AI SDK's messages for a screen, whose tool never ended",
    format: "ai-sdk-ui",
    file: {
      messages: [
        { role: "system", content: "be good" },
        { role: "user", content: "go" },
        {
          role: "assistant",
          content: "so",
          toolInvocations: [{ state: "call", toolCallId: "a", toolName: "ls", args: {} }],
        },
      ],
    },
    found: ["missing-output"],
    says: '"state":"result"',
  },
  {
    what: "a part of a message for a screen that holds its invocation inside, and one that never had arguments",
    format: "ai-sdk-ui",
    file: [
      { role: "user", parts: [words("go")] },
      {
        role: "assistant",
        parts: [
          { type: "tool-invocation", toolInvocation: { state: "call", toolCallId: "a", toolName: "ls" } },
          { type: "tool-ls", toolCallId: "b", state: "input-available" },
          {
            type: "tool-web",
            toolCallId: "w",
            state: "output-available",
            providerExecuted: true,
            output: 1,
            input: {},
          },
        ],
      },
    ],
    found: ["missing-output", "missing-output"],
    says: "output-error",
  },
  {
    what: "the export of Claude Code on the web, whose records name no one",
    format: "claude-code",
    file: {
      loglines: [
        { type: "user", sessionId: "s", message: { role: "user", content: "go" } },
        {
          type: "assistant",
          sessionId: "s",
          message: {
            role: "assistant",
            id: "m",
            content: [
              { type: "thinking", thinking: "hm" },
              use("w", "server_tool_use"),
              used("w", "web_search_tool_result"),
              use("a"),
            ],
          },
        },
      ],
    },
    found: ["missing-output"],
    says: '"toolUseResult"',
  },
  {
    what: "bare items of Responses, with a thought, a client's search and what the provider ran",
    format: "openai-responses",
    file: [
      { type: "message", role: "user", content: "go" },
      { type: "reasoning", id: "rs", summary: [] },
      { type: "web_search_call", id: "ws" },
      { type: "image_generation_call", id: "ig" },
      { type: "tool_search_call", call_id: "a", execution: "client", arguments: {} },
    ],
    found: ["missing-output"],
    says: "tool_search_output",
  },
  {
    what: "a stored conversation's items, without the answer that came back",
    format: "openai-responses",
    file: {
      items: [
        { type: "message", role: "user", content: "go" },
        { type: "function_call", call_id: "a", name: "ls", arguments: "{}" },
        { type: "function_call_output", call_id: "a", output: "ok" },
      ],
    },
    found: [],
  },
  {
    what: "a request of Responses with what came back: calls at its end still run",
    format: "openai-responses",
    file: {
      input: [{ type: "message", role: "user", content: "go" }],
      output: [{ type: "function_call", call_id: "a", name: "ls", arguments: "{}" }],
    },
    found: [],
  },
  {
    what: "items of OpenAI Agents with a thought",
    format: "openai-agents",
    file: [
      { type: "message", role: "system", content: "be good" },
      { role: "user", content: "go" },
      { type: "reasoning", content: [] },
      { type: "function_call", callId: "a", name: "ls", arguments: "{}" },
    ],
    found: ["missing-output"],
    says: "function_call_result",
  },
  {
    what: "what goose exports, the messages inside the conversation, and a call without the id of a message",
    format: "goose-recording",
    file: {
      working_dir: "/w",
      conversation: {
        messages: [
          { role: "user", created: 1, content: [words("go")] },
          {
            role: "assistant",
            created: 2,
            content: [
              { type: "thinking", thinking: "hm" },
              { type: "toolRequest", id: "a", toolCall: { status: "error" } },
            ],
          },
        ],
      },
    },
    found: ["missing-output"],
    says: '"toolResponse"',
  },
  {
    what: "messages of goose, one a line, with blocks that no model is shown",
    format: "goose-recording",
    file: jsonl(
      { working_dir: "/w", description: "d" },
      { role: "user", created: 1, content: [words("go")] },
      {
        role: "assistant",
        created: 2,
        content: [
          { type: "redactedThinking", data: "x" },
          { type: "actionRequired" },
          { type: "toolConfirmationRequest", id: "a" },
          { type: "toolRequest", id: "a", toolCall: { status: "success", value: { name: "ls", arguments: {} } } },
        ],
      },
      { role: "user", created: 3, content: [{ type: "toolResponse", id: "a", toolResult: { status: "success" } }] },
    ),
    found: [],
  },
  {
    what: "a sample of Inspect that stands alone, whose messages have no ids",
    format: "inspect-eval-log",
    file: {
      id: 1,
      epoch: 1,
      messages: [
        { role: "system", content: "be good" },
        { role: "user", content: "go" },
        { role: "assistant", content: "", tool_calls: [{ id: "a", function: "ls", arguments: {} }] },
      ],
    },
    found: ["missing-output"],
    says: '"tool_call_id":"a"',
  },
  {
    what: "a trajectory of SWE-agent with one message for several calls, and one without marks",
    format: "swe-agent",
    file: {
      trajectory: [],
      history: [
        { role: "developer", content: "be good" },
        { role: "user", content: "go" },
        {
          role: "assistant",
          content: "so",
          tool_calls: [
            { id: "a", function: { name: "ls" } },
            { id: "b", function: { name: "ls" } },
          ],
        },
        { role: "tool", content: "ok", tool_call_ids: ["a", "b"] },
        { role: "assistant", content: "so", tool_calls: [{ id: "c", function: { name: "ls" } }] },
      ],
    },
    found: ["missing-output"],
    says: '"tool_call_id":"c"',
  },
  {
    what: "chat messages whose results stand together in one",
    format: "openai-chat",
    file: [
      { role: "system", content: "be good" },
      { role: "user", content: "go" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "a", type: "function", function: { name: "ls", arguments: "{}" } }],
      },
      { role: "tool", tool_messages: [{ id: "a", content: "ok" }] },
    ],
    found: [],
  },
  {
    what: "an export of OpenCode with two answers in one message, and a tool of the provider's",
    format: "opencode-export",
    file: {
      info: { id: "ses" },
      messages: [
        { info: { role: "user" }, parts: [words("go")] },
        {
          info: { role: "assistant" },
          parts: [
            { type: "step-start" },
            {
              type: "tool",
              tool: "web",
              callID: "w",
              metadata: { providerExecuted: true },
              state: { status: "completed", input: {}, output: "ok" },
            },
            { type: "step-start" },
            words("so"),
            { type: "tool", tool: "ls", callID: "a", state: { status: "pending", input: { a: 1 } } },
          ],
        },
      ],
    },
    found: ["missing-output"],
    says: '"status":"error"',
  },
  {
    what: "a log of Gemini CLI whose records are updated and taken back",
    format: "gemini-cli-chat",
    file: jsonl(
      { sessionId: "s", projectHash: "h" },
      { id: "1", type: "user", content: "go" },
      { id: "2", type: "gemini", content: "so", toolCalls: [{ id: "a", name: "ls", args: {}, status: "executing" }] },
      { $set: { lastUpdated: "x" } },
    ),
    found: ["missing-output"],
  },
  {
    what: "a session of pi with a thought, and an answer that failed while it wrote its arguments",
    format: "pi-session",
    file: jsonl(
      { type: "session", version: 3, id: "s" },
      { type: "message", id: "1", parentId: null, message: message("user", words("go")) },
      {
        type: "message",
        id: "2",
        parentId: "1",
        message: {
          ...message(
            "assistant",
            { type: "thinking", thinking: "hm" },
            { type: "toolCall", id: "a", name: "ls", arguments: {}, partialJson: "{" },
          ),
          stopReason: "error",
        },
      },
    ),
    found: ["partial-call"],
  },
  {
    what: "a rollout of Codex in its first form: bare items, one a line",
    format: "codex-rollout",
    file: jsonl(
      { id: "s", timestamp: "t", instructions: null },
      { type: "message", role: "user", content: [{ type: "input_text", text: "go" }] },
      { type: "reasoning", summary: [] },
      { type: "function_call", name: "shell", arguments: "{}", call_id: "a" },
    ),
    found: ["missing-output"],
    says: "function_call_output",
  },
];

describe("what is seldom seen in a session of somebody's", () => {
  test.each(FOUND)(
    "[DOC-1] [DOC-3] $what: it is read, and what is wrong with it mended",
    async ({ format, file, found, says, stays = [] }) => {
      const text = textOf(file);
      const examination = await examined(text);
      expect([examination.format, codesOf(examination)]).toEqual([format, found]);
      const after = await repairedText(text);
      if (found.length === 0) expect(after).toBe(text);
      if (says !== undefined) {
        expect(text).not.toContain(says);
        expect(after).toContain(says);
      }
      expect(codesOf(await examined(after))).toEqual(stays);
    },
  );
});

const spoken = (text: string) => ({ type: "message", message: message("user", words(text)) });
const calls = (id: string) => ({
  type: "message",
  message: { ...message("assistant", { type: "toolCall", id, name: "ls", arguments: {} }), stopReason: "toolUse" },
});
const kept = (at: unknown) => ({ type: "compaction", summary: "before", firstKeptEntryIndex: at });

describe("a log that is mended in the middle", () => {
  test("[DOC-13] pi's first version: whoever names a record by its place names it by its new one", async () => {
    const head = { type: "session", version: 1, id: "s" };
    const text = jsonl(
      head,
      spoken("a"),
      calls("x"),
      spoken("b"),
      calls("y"),
      spoken("c"),
      kept(6),
      kept(1),
      kept("?"),
    );
    const after = (await repairedText(text))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(after).toHaveLength(11);
    expect(after.slice(-3).map((one) => one["firstKeptEntryIndex"])).toEqual([8, 1, "?"]);
  });

  test("[DOC-7] lines end as lines of a log do, blank ones too, and the last may go without", async () => {
    const claude = (type: string, content: unknown, id?: string) =>
      JSON.stringify({ type, sessionId: "s", message: { role: type, content, ...(id === undefined ? {} : { id }) } });
    const [first, second, last] = [claude("user", "go"), claude("assistant", [use("a")], "m"), claude("user", "on")];
    const text = `${first}\r\n${second}\r\n\r\n${last}`;
    expect(codesOf(await examined(text))).toEqual(["crlf", "crlf", "missing-output", "crlf"]);
    const after = await repairedText(text);
    expect(after.startsWith(`${first}\n${second}\n`)).toBe(true);
    expect(after.endsWith(last)).toBe(true);
    expect(codesOf(await examined(after))).toEqual([]);
  });

  test("[DOC-11] an output that was parted from its text goes under the name that its call was given", async () => {
    const record = (uuid: string, parentUuid: string | null, type: string, content: unknown) => ({
      parentUuid,
      sessionId: "s",
      type,
      message: { role: type, content, ...(type === "assistant" ? { id: uuid } : {}) },
      uuid,
    });
    const text = jsonl(
      record("a", null, "user", "go"),
      record("b", "a", "assistant", [use("t")]),
      record("c", "b", "user", [used("t")]),
      record("d", "c", "assistant", [use("t"), use("u")]),
      record("e", "d", "user", [words("first"), used("t"), used("u"), words("and hurry")]),
    );
    expect(codesOf(await examined(text)).toSorted()).toEqual([
      "displaced-output",
      "displaced-output",
      "duplicate-call-id",
      "mixed-outputs",
    ]);
    const after = await repairedText(text);
    expect(codesOf(await examined(after))).toEqual([]);
    expect(after).toContain("and hurry");
  });

  test("[DOC-1] a document far longer than a piece that is written at once is mended, and every other letter stays", async () => {
    const long = "x".repeat(150_000);
    const file = [message("user", words(long)), message("assistant", use("a")), message("user", words("on"))];
    const text = JSON.stringify(file, null, 1);
    const after = await repairedText(text);
    expect(codesOf(await examined(after))).toEqual([]);
    expect(after).toContain(long);
  });
});

/** A file that comes in pieces, as from a disk. */
const inPieces = (text: string, size: number): Source => ({
  name: "pieces",
  async *chunks() {
    const bytes = bytesOf(text);
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  },
});

describe("a file whose first line is longer than what is looked at to know it", () => {
  const picture = "A".repeat(4_300_000);
  const codes = async (text: string, format?: FormatId) => {
    const found = await examine(inPieces(text, 1_000_000), format === undefined ? {} : { format });
    if ("unrecognised" in found) throw new Error(found.unrecognised);
    return { found, codes: [found.format, ...codesOf(found)] };
  };

  test("[DOC-1] is a document when it is the only one, whatever blank space follows it", async () => {
    const file = [message("user", words(picture)), message("assistant", use("a")), message("user", words("on"))];
    const { found, codes: before } = await codes(`${JSON.stringify(file)}\n  \n`);
    expect(before).toEqual(["anthropic-messages", "missing-output"]);
    expect(codesOf(await examined(joined([await repaired(found)])))).toEqual([]);
  });

  test("[DOC-1] is a log when it is the record of one, and nothing came after it", async () => {
    const only = {
      type: "user",
      uuid: "u1",
      parentUuid: null,
      sessionId: "s",
      message: message("user", words(picture)),
    };
    expect((await codes(jsonl(only))).codes).toEqual(["claude-code"]);
    await expect(codes(JSON.stringify({ of: "nobody's", picture }))).rejects.toThrow("unknown");
  });

  test("[DOC-1] [DOC-21] is the same log when its format is named, and nothing in it is passed over as clean", async () => {
    const asked = message("assistant", words(picture), use("a"));
    const only = { type: "assistant", uuid: "u1", parentUuid: null, sessionId: "s", message: asked };
    for (const text of [jsonl(only), `\ufeff${jsonl(only)}\n \n`, JSON.stringify(only)]) {
      const named = await codes(text, "claude-code");
      expect(named.codes).toEqual((await codes(text)).codes);
      expect(named.codes).toContain("missing-output");
      expect(named.found.calls).toBe(1);
    }
  });

  test("[DOC-27] is parsed once, and not once more to see whether it is a record, when it is nobody's", async () => {
    const parse = vi.spyOn(JSON, "parse");
    await expect(codes(JSON.stringify({ of: "nobody's", picture }))).rejects.toThrow("unknown");
    expect(parse.mock.calls.filter(([text]) => text.length > picture.length).length).toBe(1);
    parse.mockRestore();
  });

  test("[DOC-1] is a log when more lines follow it", async () => {
    const head = { type: "session", version: 3, id: "s" };
    const lines = jsonl({ ...spoken(picture), id: "1", parentId: null }, head, {
      ...calls("x"),
      id: "2",
      parentId: "1",
    });
    expect((await codes(lines)).codes).toEqual(["pi-session", "missing-output"]);
  });
});
