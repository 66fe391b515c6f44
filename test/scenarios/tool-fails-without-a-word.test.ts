import { describe, expect, test } from "vitest";
import { checkWire, createHoldfast, defineTool, repairMessages, writeMessages } from "../../src/index.ts";
import { memoryStore } from "../../src/stores/memory/entry.ts";
import { startProviderServer } from "../../src/testing/entry.ts";
import type { ScriptedAnswer } from "../../src/records/script.ts";
import { PROFILES, type ProfileId } from "../../src/wire/profiles.ts";
import { call, output, user } from "../histories/items.ts";
import { WAYS, watch } from "../support/loop.ts";

/** `throw new Error("")`: Anthropic refused it in this request and in every later one, OpenAI took it for a success. */
const silent = defineTool({ name: "silent", access: "read", run: () => Promise.reject(new Error("")) });
const mute = defineTool({ name: "mute", access: "read", run: (_input, call) => call.fail("boom", "") });
const SCRIPT: readonly ScriptedAnswer[] = [
  {
    calls: [
      { name: "silent", input: {} },
      { name: "mute", input: {} },
    ],
  },
  { text: "It failed." },
];

for (const [way, make] of Object.entries(WAYS)) {
  test(`[WIRE-10] [ADAPT-3] a tool that fails without a word is told as failed, through ${way}`, async () => {
    const server = await startProviderServer({ script: SCRIPT });
    {
      await using holdfast = await createHoldfast({ store: memoryStore(), tools: [silent, mute] });
      await using session = await holdfast.open("a");
      const { end } = await watch(session.run("try it", { model: make(server.url, SCRIPT) }));
      expect([end.status, server.refused]).toEqual(["done", []]);
    }
    const sent = JSON.stringify(server.requests.at(-1)?.body ?? "");
    if (way !== "scripted") expect(sent.split("The tool failed and said nothing.")).toHaveLength(3);
    await server.close();
  });
}

const END = { failed: /failed and said/, canceled: /canceled and said/, timeout: /out of time and said/ } as const;

describe.each(Object.keys(PROFILES) as readonly ProfileId[])("a result without a word, for %s", (profile) => {
  test.each(Object.keys(END) as readonly (keyof typeof END)[])("[WIRE-10] that ended as %s says so", (status) => {
    const bare = output("c1", { status, parts: [{ type: "text", text: " " }] });
    const { messages, adjustments } = writeMessages([user("go"), call("c1"), bare], profile);
    expect(JSON.stringify(messages)).toMatch(END[status]);
    expect(adjustments).toContainEqual({ kind: "blank-filled", at: 2 });
    expect(checkWire(messages, profile)).toEqual([]);
  });

  test("[WIRE-10] that succeeded stays empty", () => {
    const { messages } = writeMessages([user("go"), call("c1"), output("c1", { parts: [] })], profile);
    expect(JSON.stringify(messages)).not.toContain("said nothing");
  });
});

describe("in the list of a host", () => {
  const claude = (result: object) => [
    { role: "user", content: "go" },
    { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: {} }] },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "t", ...result },
        { type: "text", text: "and?" },
      ],
    },
  ];
  const said = (text: unknown) => ({ content: [{ type: "text", text }] });

  test.each([{}, { content: "" }, { content: null }, { content: [] }, said(""), said(null), said(5), said({})])(
    "[WIRE-10] [WIRE-22] Anthropic's %j that failed is refused, and is given words",
    (content) => {
      const cached = { is_error: true, cache_control: { type: "ephemeral" } };
      const messages = claude({ ...content, ...cached });
      expect(checkWire(messages, "anthropic").map(({ rule }) => rule)).toContain("WIRE-10");
      const repaired = repairMessages(messages, { format: "anthropic" });
      expect(repaired.messages).toEqual(claude({ ...cached, content: "The tool failed and said nothing." }));
      expect(repaired.adjustments).toContainEqual({ kind: "blank-filled", at: 2 });
      expect(checkWire(repaired.messages, "anthropic")).toEqual([]);
    },
  );

  test("[WIRE-10] the AI SDK's is too, and keeps what else it carries", () => {
    const sdk = (value: string) => [
      { role: "user", content: "go" },
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "t", toolName: "f", input: {} }] },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "t",
            toolName: "f",
            output: { type: "error-text", value },
            providerOptions: { own: {} },
          },
        ],
      },
    ];
    expect(checkWire(sdk(""), "ai-sdk").map(({ rule }) => rule)).toEqual(["WIRE-10"]);
    const { messages } = repairMessages(sdk(""), { format: "ai-sdk" });
    expect(messages).toEqual(sdk("The tool failed and said nothing."));
  });

  test("[WIRE-21] one that succeeded with nothing, and a patch that failed, come back as they are", () => {
    const empty = claude({ content: "" });
    expect(repairMessages(empty, { format: "anthropic" }).messages).toBe(empty);
    const patch = [
      { role: "user", content: "go" },
      { type: "apply_patch_call", call_id: "c", operation: {}, status: "completed" },
      { type: "apply_patch_call_output", call_id: "c", status: "failed" },
    ];
    expect(repairMessages(patch, { format: "openai-responses" }).messages).toBe(patch);
  });
});
