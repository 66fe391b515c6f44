import { describe, expect, test } from "vitest";
import { ask, call, output, say, user } from "../../test/histories/items.ts";
import type { CallKind, Item, Part } from "./item.ts";
import { PROFILES, type ProfileId } from "./profiles.ts";
import { readMessages, writeMessages } from "./project.ts";

const IDS = Object.keys(PROFILES) as readonly ProfileId[];
const A = "https://example.invalid/a";

describe("what was brought here, written for each provider", () => {
  const parts: readonly Part[] = [
    { type: "image", media: { base64: "AAAA" } },
    { type: "image", media: { url: `${A}.png` } },
    { type: "audio", media: { base64: "AAAA", mediaType: "audio/mpeg" } },
    { type: "file", media: { base64: "AAAA" } },
    { type: "file", media: { url: `${A}.pdf`, name: "a.pdf" } },
  ];
  const foreign = (format: "gemini" | "anthropic"): Part => ({
    type: "other",
    origin: { format, piece: { of: "another" } },
  });
  const FOREIGN = '[In the form of gemini: {"of":"another"}]';
  const DEAF = { type: "text", text: "[A recording stood here. This model does not hear audio.]" };
  const chat = (sound: object) => [
    { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
    { type: "image_url", image_url: { url: `${A}.png` } },
    sound,
    { type: "file", file: { filename: "file.pdf", file_data: "data:application/pdf;base64,AAAA" } },
    { type: "text", text: `[A file stood here: ${A}.pdf]` },
    { type: "text", text: `\n${FOREIGN}` },
  ];
  const WRITTEN: readonly (readonly [Exclude<ProfileId, "gemini">, readonly object[]])[] = [
    ["openai-chat", chat({ type: "input_audio", input_audio: { data: "AAAA", format: "mp3" } })],
    ["openai-compatible", chat(DEAF)],
    [
      "openai-responses",
      [
        { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "auto" },
        { type: "input_image", image_url: `${A}.png`, detail: "auto" },
        { type: "input_text", text: "[audio/mpeg: not shown]" },
        { type: "input_file", filename: "file.pdf", file_data: "data:application/pdf;base64,AAAA" },
        { type: "input_file", file_url: `${A}.pdf` },
        { type: "input_text", text: FOREIGN },
      ],
    ],
    [
      "anthropic",
      [
        { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
        { type: "image", source: { type: "url", url: `${A}.png` } },
        DEAF,
        { type: "document", source: { type: "base64", media_type: "application/pdf", data: "AAAA" } },
        { type: "document", source: { type: "url", url: `${A}.pdf` } },
        { type: "text", text: FOREIGN },
      ],
    ],
    [
      "ai-sdk",
      [
        { type: "file", mediaType: "image/png", data: "AAAA" },
        { type: "file", mediaType: "image/png", data: `${A}.png` },
        { type: "file", mediaType: "audio/mpeg", data: "AAAA" },
        { type: "file", mediaType: "application/pdf", data: "AAAA" },
        { type: "file", mediaType: "application/pdf", data: `${A}.pdf`, filename: "a.pdf" },
        { type: "text", text: FOREIGN },
      ],
    ],
  ];

  test.each(WRITTEN)(
    "[WIRE-24] [WIRE-36] %s: pictures, sound and files in its own form, and another's own as data",
    (id, content) => {
      const { messages } = writeMessages([{ ...user(), parts: [...parts, foreign("gemini")] }], id);
      expect(messages).toEqual([expect.objectContaining({ role: "user", content })]);
    },
  );

  test.each(IDS)("[WIRE-34] %s: what it does not fetch by an address is told in words, never sent empty", (id) => {
    const sound: Part = { type: "audio", media: { url: `${A}.mp3`, mediaType: "audio/mpeg" } };
    const { messages, adjustments } = writeMessages(
      [{ ...user(), parts: [{ type: "text", text: "hear" }, sound] }],
      id,
    );
    const fetched = id === "gemini" || id === "ai-sdk";
    const said = JSON.stringify(messages);
    expect(adjustments).toEqual(fetched ? [] : [{ kind: "media-replaced", at: 0 }]);
    const deaf = id === "anthropic" || id === "openai-compatible";
    expect(said).toContain(fetched ? `"${A}.mp3"` : deaf ? DEAF.text : `[A recording stood here: ${A}.mp3]`);
    expect(said).not.toMatch(/"data":""|base64,"/);
  });

  test("[WIRE-24] [WIRE-36] gemini: pictures, sound and files in its own form, and another's own as data", () => {
    const { messages } = writeMessages([{ ...user(), parts: [...parts, foreign("anthropic")] }], "gemini");
    const inline = (mimeType: string) => ({ inlineData: { mimeType, data: "AAAA" } });
    const told = (mimeType: string, fileUri: string) => ({ fileData: { mimeType, fileUri } });
    const pdf = "application/pdf";
    expect(messages).toEqual([
      {
        role: "user",
        parts: [
          inline("image/png"),
          told("image/png", `${A}.png`),
          inline("audio/mpeg"),
          inline(pdf),
          told(pdf, `${A}.pdf`),
          { text: '[In the form of anthropic: {"of":"another"}]' },
        ],
      },
    ]);
  });
});

describe("what a format has no place for", () => {
  const { callId: _call, ...nameless } = call("x");
  const { callId: _output, ...event } = output("x", { name: "clock" });
  const { callId: _asked, ...asking } = ask("q", "x");
  const odd: readonly Item[] = [
    user(),
    call("s", { server: true }),
    output("s", { server: true }),
    nameless,
    event,
    { kind: "other", by: "model" },
    { kind: "other", by: "host" },
    asking,
    say(),
  ];
  const OWN = ["call s", "output s", "other", "other"];
  const OMITTED: Readonly<Record<ProfileId, readonly string[]>> = {
    "openai-chat": ["call s", "output s", "call", "output", "other", "other", "approval-request"],
    "openai-compatible": ["call s", "output s", "call", "output", "other", "other", "approval-request"],
    "openai-responses": [...OWN, "approval-request"],
    anthropic: ["call s", "output s", "call", "output", "other", "other", "approval-request"],
    gemini: ["call s", "output s", "call", "output", "other", "other", "approval-request"],
    "ai-sdk": ["call s", "output s", "call", "output", "other", "other"],
  };

  test.each(IDS)("[WIRE-26] %s: is left out and listed, and the rest is written", (id) => {
    const { messages, omitted } = writeMessages(odd, id);
    const named = omitted.map((item) =>
      "callId" in item && item.callId !== undefined ? `${item.kind} ${item.callId}` : item.kind,
    );
    expect(named).toEqual(OMITTED[id]);
    expect(JSON.stringify(messages)).toContain("well");
  });

  test("[WIRE-32] Responses takes an event that no call asked for, by its name", () => {
    const { messages } = writeMessages([user(), event], "openai-responses");
    expect(messages[1]).toEqual({ type: "function_call_output", name: "clock", output: "result of x" });
  });
});

describe("calls of every kind", () => {
  const withoutInput = (callKind: CallKind): Item => {
    const { input: _input, ...rest } = call("c", { callKind });
    return rest;
  };
  const KINDS: readonly (readonly [CallKind, object])[] = [
    ["function", { type: "function_call", name: "read_file", arguments: "{}" }],
    ["custom", { type: "custom_tool_call", name: "read_file", input: "{}" }],
    ["search", { type: "tool_search_call", execution: "client", arguments: {} }],
    ["computer", { type: "computer_call", action: {} }],
    ["commands", { type: "shell_call", action: {} }],
    ["patch", { type: "apply_patch_call", operation: {} }],
  ];

  test.each(KINDS)(
    "[WIRE-32] Responses: a %s without arguments is written with none, and read again as it was",
    (kind, piece) => {
      const { messages } = writeMessages(
        [user(), withoutInput(kind), output("c", { callKind: kind })],
        "openai-responses",
      );
      expect(messages[1]).toMatchObject({ ...piece, call_id: "c" });
      const { items, malformed } = readMessages(messages, "openai-responses");
      expect(malformed).toEqual([]);
      expect(items.slice(1)).toMatchObject([
        { kind: "call", callKind: kind, callId: "c" },
        { kind: "output", callKind: kind, callId: "c", status: "success" },
      ]);
    },
  );

  test("[WIRE-32] Responses: results that say less than their kind should are read for what they say", () => {
    const { items } = readMessages(
      [
        { type: "computer_call_output", call_id: "a", output: { type: "computer_screenshot", image_url: `${A}.png` } },
        {
          type: "shell_call_output",
          call_id: "b",
          output: [{ stdout: "out", stderr: "err", outcome: { type: "exit", exit_code: 0 } }],
        },
        { type: "function_call_output", name: "clock", output: "noon" },
        { type: "function_call_output", output: "whose?" },
        { type: "tool_search_call", call_id: "s", execution: "server", arguments: {} },
        { type: "tool_search_output", call_id: "s", execution: "server", tools: [] },
        { type: "web_search_call_output", id: "w" },
        { type: "item_reference", id: "i" },
      ],
      "openai-responses",
    );
    expect(items).toMatchObject([
      { callId: "a", parts: [{ type: "image", media: { url: `${A}.png` } }] },
      { callId: "b", parts: [{ type: "text", text: "out\nerr" }] },
      { name: "clock" },
      { callId: "" },
      { kind: "call", callId: "s", server: true },
      { kind: "output", callId: "s", server: true },
      { kind: "other", by: "host" },
      { kind: "other" },
    ]);
    expect(items[2]).not.toHaveProperty("callId");
  });

  test("[WIRE-11] Responses: an item that was cut loose from its thought goes back without the id that asks for it", () => {
    const message = { type: "function_call", id: "fc_1", call_id: "a", name: "ls", arguments: "{}" };
    const [read] = readMessages([message], "openai-responses").items as readonly [Item];
    const { id: _id, ...free } = read;
    expect(writeMessages([read], "openai-responses").messages).toEqual([message]);
    const { id: _sent, ...without } = message;
    expect(writeMessages([free as Item], "openai-responses").messages).toEqual([without]);
  });
});

describe("what the AI SDK keeps", () => {
  test("[WIRE-20] a refusal is read as one, and told to any other provider in words", () => {
    const { items } = readMessages(
      [
        { role: "user", content: [{ type: "image", image: new URL(`${A}.png`) }] },
        { role: "assistant", content: [{ type: "tool-call", toolCallId: "a", toolName: "rm", input: {} }] },
        {
          role: "tool",
          content: [
            {
              type: "tool-result",
              toolCallId: "a",
              toolName: "rm",
              output: { type: "execution-denied", reason: "no" },
            },
          ],
        },
      ],
      "ai-sdk",
    );
    expect(items[0]).toMatchObject({ parts: [{ type: "image", media: { url: `${A}.png` } }] });
    expect(items[2]).toMatchObject({ kind: "output", status: "canceled", reason: "denied" });
    const back = writeMessages(
      [user(), call("b"), output("b", { status: "canceled", reason: "denied", parts: [{ type: "text", text: "no" }] })],
      "ai-sdk",
    );
    expect(JSON.stringify(back.messages)).toContain('"execution-denied","reason":"no"');
  });

  test("[WIRE-20] a question for consent that names no call is written all the same", () => {
    const { callId: _callId, ...asking } = ask("q", "x");
    expect(writeMessages([user(), asking], "ai-sdk").messages[1]).toMatchObject({
      content: [{ type: "tool-approval-request", approvalId: "q", toolCallId: "" }],
    });
  });
});

describe("two answers that have to become one", () => {
  test("[WIRE-7] of chat messages: thoughts beside them stand one below the other, texts and lists alike", () => {
    const thinks = (text: string, n: number) => ({ role: "assistant", reasoning: text, reasoning_details: [{ n }] });
    const calls = [{ id: "c", type: "function", function: { name: "ls", arguments: "{}" } }];
    const messages = [
      { role: "user", content: "go" },
      { ...thinks("a", 1), content: "so" },
      { ...thinks("b", 2), content: null, tool_calls: calls },
      { role: "tool", tool_call_id: "c", content: "ok" },
    ];
    const written = writeMessages(readMessages(messages, "openai-chat").items, "openai-compatible");
    expect(written.messages).toEqual([
      messages[0],
      { ...thinks("a\nb", 1), reasoning_details: [{ n: 1 }, { n: 2 }], content: "so", tool_calls: calls },
      messages[3],
    ]);
  });

  test("[WIRE-33] a result with a picture in it is written as parts where the format takes them so", () => {
    const picture: Part = { type: "image", media: { base64: "AAAA" } };
    const { messages } = writeMessages(
      [user(), call("a"), output("a", { parts: [{ type: "text", text: "see" }, picture] })],
      "anthropic",
    );
    expect(messages[2]).toMatchObject({
      content: [{ type: "tool_result", content: [{ type: "text", text: "see" }, { type: "image" }] }],
    });
  });
});
