import { describe, expect, test } from "vitest";
import { call, output, say, system, think, user } from "../../test/histories/items.ts";
import { repairHistory } from "./repair.ts";
import { repairMessages } from "./messages.ts";
import { checkWire } from "../wire/check.ts";
import type { Item } from "../wire/item.ts";
import { PROFILES, type ProfileId } from "../wire/profiles.ts";
import { readMessages, writeMessages } from "../wire/project.ts";

const sent = (items: readonly Item[], profile: ProfileId) =>
  writeMessages(repairHistory(items).history, profile).messages;
const toolResult = (id: string, text: string) => ({ type: "tool_result", tool_use_id: id, content: text });
const toolUse = (id: string) => ({ type: "tool_use", id, name: "read_file", input: {} });

describe("batches", () => {
  test("[N25] parallel results in two messages become one, in call order, none lost", () => {
    const messages = [
      { role: "user", content: "go" },
      { role: "assistant", content: [toolUse("A"), toolUse("B")] },
      { role: "user", content: [toolResult("A", "a")] },
      { role: "user", content: [toolResult("B", "b")] },
    ];
    const { messages: mended } = repairMessages(messages, { format: "anthropic" });
    expect(mended).toEqual([
      messages[0],
      messages[1],
      { role: "user", content: [toolResult("A", "a"), toolResult("B", "b")] },
    ]);
  });

  test("[PAIR-7] an answer that was stored in pieces under one id is one batch", () => {
    const messages = [
      { role: "user", content: "go" },
      { role: "assistant", id: "msg_1", content: [toolUse("A")] },
      { role: "assistant", id: "msg_1", content: [toolUse("B")] },
      { role: "user", content: [toolResult("B", "b")] },
      { role: "user", content: [toolResult("A", "a")] },
    ];
    const { messages: mended, report } = repairMessages(messages, { format: "anthropic" });
    expect(report.faults).toEqual([]);
    expect(mended).toMatchObject([
      { content: "go" },
      { role: "assistant", id: "msg_1", content: [toolUse("A"), toolUse("B")] },
      { role: "user", content: [toolResult("B", "b"), toolResult("A", "a")] },
    ]);
  });

  test("[N37] a result behind text in one message comes first, and nothing else moves", () => {
    const messages = [
      { role: "user", content: "go" },
      { role: "assistant", content: [toolUse("A")] },
      {
        role: "user",
        content: [{ type: "text", text: "one" }, toolResult("A", "a"), { type: "text", text: "two" }],
      },
    ];
    const { messages: mended } = repairMessages(messages, { format: "anthropic" });
    expect(mended[2]).toEqual({
      role: "user",
      content: [toolResult("A", "a"), { type: "text", text: "one" }, { type: "text", text: "two" }],
    });
    expect(mended.slice(0, 2)).toEqual(messages.slice(0, 2));
    expect(mended[0]).toBe(messages[0]);
  });

  test("[N22] of a message with one valid and one orphan result only the orphan part goes", () => {
    const messages = [
      { role: "user", content: "go" },
      { role: "assistant", content: [toolUse("A")] },
      { role: "user", content: [toolResult("Z", "z"), toolResult("A", "a")] },
    ];
    const { messages: mended } = repairMessages(messages, { format: "anthropic" });
    expect(mended[2]).toEqual({ role: "user", content: [toolResult("A", "a")] });
  });

  test("[WIRE-18] Gemini gets results in call order, whoever finished first", () => {
    const items = [user(), call("A", { name: "a" }), call("B", { name: "b" }), output("B"), output("A")];
    expect(sent(items, "gemini")[2]).toMatchObject({
      parts: [{ functionResponse: { id: "A", name: "a" } }, { functionResponse: { id: "B", name: "b" } }],
    });
  });
});

describe("blank and adjacent texts", () => {
  test("[N30] a blank answer is dropped; one with calls or reasoning is kept", () => {
    expect(sent([user(), say(" "), user("x")], "openai-chat")).toHaveLength(2);
    const withCall = [user(), say("", { step: 1 }), call("A", { step: 1 }), output("A")];
    expect(sent(withCall, "openai-chat")[1]).toMatchObject({
      role: "assistant",
      content: "",
      tool_calls: [{ id: "A" }],
    });
    expect(sent(withCall, "anthropic")[1]).toMatchObject({ role: "assistant", content: [{ type: "tool_use" }] });
    const thought = {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: "s" },
        { type: "text", text: "" },
      ],
    };
    const { messages } = repairMessages([{ role: "user", content: "go" }, thought], { format: "anthropic" });
    expect(messages[1]).toMatchObject({ content: [{ type: "thinking" }, { type: "text", text: "[no text]" }] });
  });

  test("[N31] neighbouring texts of one phase are joined by a newline, of two phases kept apart", () => {
    const one = [user(), say("a", { step: 1, phase: "final" }), say("b", { step: 2, phase: "final" })];
    expect(sent(one, "anthropic")[1]).toEqual({ role: "assistant", content: [{ type: "text", text: "a\nb" }] });
    expect(sent(one, "openai-compatible")[1]).toEqual({ role: "assistant", content: "a\nb" });
    const two = [user(), say("a", { step: 1, phase: "commentary" }), say("b", { step: 2, phase: "final" })];
    const apart = [
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ];
    expect(sent(two, "anthropic")[1]).toEqual({ role: "assistant", content: apart });
    expect(sent(two, "openai-compatible")[1]).toEqual({ role: "assistant", content: apart });
    expect(sent(one, "openai-chat")).toHaveLength(3);
  });
});

describe("media, flags and ends", () => {
  const picture = { type: "image", media: { mediaType: "image/png", base64: "AAAA" } } as const;
  const sound = { type: "audio", media: { mediaType: "audio/wav", base64: "AAAA" } } as const;
  const items = [user("see", { parts: [picture, sound] }), call("A"), output("A", { parts: [picture] })];

  test("[N32] a model without images or audio reads a fixed text in messages and outputs", () => {
    const { messages } = writeMessages(items, { ...PROFILES["openai-chat"], images: false, audio: false });
    const text = JSON.stringify(messages);
    expect(text.match(/An image stood here/g)).toHaveLength(2);
    expect(text.match(/A recording stood here/g)).toHaveLength(1);
  });

  test("[N32] a model with them gets them untouched", () => {
    const raw = [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] }];
    expect(repairMessages(raw, { format: "openai-chat" }).messages).toBe(raw);
    expect(JSON.stringify(writeMessages(items, "openai-chat").messages)).not.toContain("stood here");
  });

  test("[N33] a synthetic output carries the error flag where there is one", () => {
    const lost = [user(), call("A")];
    expect(sent(lost, "anthropic")[2]).toMatchObject({ content: [{ type: "tool_result", is_error: true }] });
    expect(sent(lost, "gemini")[2]).toMatchObject({
      parts: [{ functionResponse: { response: { error: expect.any(String) } } }],
    });
    expect(sent(lost, "ai-sdk")[2]).toMatchObject({ content: [{ output: { type: "error-text" } }] });
    expect(sent(lost, "openai-chat")[2]).toMatchObject({ role: "tool", tool_call_id: "A" });
  });

  test("[N38] without prefill a marked turn is appended; with it nothing changes", () => {
    const ends = [user(), say("so far")];
    const { messages, adjustments } = writeMessages(ends, { ...PROFILES.anthropic, userLast: true });
    expect(messages.at(-1)).toMatchObject({ role: "user" });
    expect(adjustments).toMatchObject([{ kind: "continuation-added" }]);
    expect(writeMessages(ends, "anthropic").messages).toHaveLength(2);
  });

  test("[N05] a client search that was cut off is answered with an empty list, completed", () => {
    expect(sent([user(), call("q", { callKind: "search" })], "openai-responses")[2]).toEqual({
      type: "tool_search_output",
      call_id: "q",
      execution: "client",
      status: "completed",
      tools: [],
    });
  });

  test("[WIRE-5] an id that does not fit is written under a derived alias, on both sides, and told", () => {
    const odd = "functions.read_file:0";
    const { messages, aliases } = writeMessages([user(), call(odd), output(odd)], "anthropic");
    const alias = [...aliases.values()][0];
    expect(messages[1]).toMatchObject({ content: [{ id: alias }] });
    expect(messages[2]).toMatchObject({ content: [{ tool_use_id: alias }] });
    expect(checkWire(messages, "anthropic")).toEqual([]);
  });

  test("[WIRE-8] a history cut before its first user message opens with a marked turn", () => {
    expect(sent([say("hello")], "anthropic")[0]).toMatchObject({ role: "user" });
  });

  test("[WIRE-19] instructions go beside the messages where the format keeps them there", () => {
    const { messages, instructions } = writeMessages([system("be good"), user()], "anthropic");
    expect(messages).toHaveLength(1);
    expect(instructions).toEqual(["be good"]);
  });
});

describe("bonds on the wire", () => {
  const thinking = { type: "thinking", thinking: "hm", signature: "sealed" };

  test("[WIRE-12] thinking that lost its signature goes, and what it led to stays", () => {
    const messages = [
      { role: "user", content: "go" },
      { role: "assistant", content: [{ ...thinking, signature: undefined }, toolUse("A")] },
      { role: "user", content: [toolResult("A", "a")] },
    ];
    expect(checkWire(messages, "anthropic")).toMatchObject([{ rule: "WIRE-12" }]);
    const { messages: mended } = repairMessages(messages, { format: "anthropic" });
    expect(mended[1]).toEqual({ role: "assistant", content: [toolUse("A")] });
  });

  test("[WIRE-11] a sealed thought is written back by reference, beside a repaired call", () => {
    const messages = [
      { role: "user", content: "go" },
      { role: "assistant", content: [thinking, toolUse("A"), toolUse("B")] },
      { role: "user", content: [toolResult("B", "b")] },
    ];
    const { messages: mended } = repairMessages(messages, { format: "anthropic" });
    expect(mended[1]).toBe(messages[1]);
    expect(mended[2]).toMatchObject({ content: [{ tool_use_id: "A", is_error: true }, { tool_use_id: "B" }] });
  });

  test("[WIRE-13] when the sealed call of a batch goes, the next one carries Gemini's waiver", () => {
    const part = (name: string, more: object = {}) => ({ functionCall: { id: name, name, args: {} }, ...more });
    const messages = [
      { role: "user", parts: [{ text: "go" }] },
      { role: "model", parts: [part("gone", { thoughtSignature: "sealed" }), part("kept")] },
      { role: "user", parts: [{ functionResponse: { id: "kept", name: "kept", response: { output: 1 } } }] },
      { role: "model", parts: [part("kept2", { thoughtSignature: "sealed" })] },
      { role: "user", parts: [{ functionResponse: { id: "kept2", name: "kept2", response: { output: 1 } } }] },
    ];
    const options = { format: "gemini", tools: new Set(["kept", "kept2"]) } as const;
    const { messages: mended } = repairMessages(messages, options);
    expect(mended[1]).toMatchObject({ parts: [{ thoughtSignature: "skip_thought_signature_validator" }] });
    expect(checkWire(mended, "gemini")).toEqual([]);
  });

  test("[WIRE-20] [PAIR-11] an approval nobody gave does not brick an AI SDK chat", () => {
    const part = { type: "tool-call", toolCallId: "A", toolName: "pay", input: {} };
    const messages = [
      { role: "user", content: "go" },
      { role: "assistant", content: [part, { type: "tool-approval-request", approvalId: "ok", toolCallId: "A" }] },
      { role: "user", content: "never mind" },
    ];
    expect(checkWire(messages, "ai-sdk")).not.toEqual([]);
    const { messages: mended } = repairMessages(messages, { format: "ai-sdk" });
    expect(checkWire(mended, "ai-sdk")).toEqual([]);
    expect(mended[2]).toMatchObject({ role: "tool", content: [{ toolCallId: "A" }] });
    const given = [
      ...messages.slice(0, 2),
      { role: "tool", content: [{ type: "tool-approval-response", approvalId: "ok", approved: true }] },
    ];
    expect(repairMessages(given, { format: "ai-sdk" }).messages).toBe(given);
    expect(checkWire(given, "ai-sdk")).toEqual([]);
  });

  test("[WIRE-26] reasoning of one provider is not shown to another, and is listed", () => {
    const { items } = readMessages([{ type: "reasoning", id: "rs_1", summary: [] }], "openai-responses");
    const { omitted, messages } = writeMessages([user(), ...items, say(), think("plain"), say()], "anthropic");
    expect(omitted).toHaveLength(2);
    expect(messages).toHaveLength(2);
  });
});

describe("Gemini without ids", () => {
  const asks = (...names: string[]) => ({
    role: "model",
    parts: names.map((name) => ({ functionCall: { name, args: {} } })),
  });
  const answers = (...names: string[]) => ({
    role: "user",
    parts: names.map((name) => ({ functionResponse: { name, response: { output: name } } })),
  });
  const go = { role: "user", parts: [{ text: "go" }] };
  const mend = (...messages: object[]) => repairMessages(messages, { format: "gemini" });

  test("[WIRE-17] calls and responses are matched by name and order, and written back as they were", () => {
    const whole = [go, asks("a", "b", "a"), answers("a", "b", "a")];
    expect(repairMessages(whole, { format: "gemini" }).messages).toBe(whole);
  });

  test("[WIRE-17] a missing response is added without an id, in call order", () => {
    const { messages } = mend(go, asks("a", "b"), answers("b"));
    expect(messages[2]).toMatchObject({
      parts: [{ functionResponse: { name: "a" } }, { functionResponse: { name: "b" } }],
    });
    expect(JSON.stringify(messages)).not.toContain('"id"');
    expect(checkWire(messages, "gemini")).toEqual([]);
  });

  test("[WIRE-17] a wrong name is corrected; an orphan beside the right one takes nothing from it", () => {
    expect(mend(go, asks("a"), answers("z")).messages[2]).toMatchObject(
      answers("a").parts.length === 1
        ? { parts: [{ functionResponse: { name: "a", response: { output: "z" } } }] }
        : {},
    );
    expect(mend(go, asks("a"), answers("z", "a")).messages[2]).toEqual(answers("a"));
  });
});
