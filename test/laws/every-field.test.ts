import { describe, expect, test } from "vitest";
import { HoldfastError } from "../../src/base/errors.ts";
import { repairMessages } from "../../src/history/messages.ts";
import { checkWire } from "../../src/wire/check.ts";
import type { WireFormat } from "../../src/wire/item.ts";
import { PROFILES } from "../../src/wire/profiles.ts";
import { everyField } from "../support/every-field.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";
const URL_OF = `data:image/png;base64,${PNG}`;

/** One conversation with everything in it that a format knows, as its provider writes it. */
const WHOLE: Readonly<Record<WireFormat, readonly object[]>> = {
  "openai-chat": [
    { role: "system", content: "Be good." },
    {
      role: "user",
      content: [
        { type: "text", text: "hello" },
        { type: "image_url", image_url: { url: URL_OF } },
        { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
        { type: "file", file: { file_data: "data:application/pdf;base64,AAAA", filename: "a.pdf" } },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "text", text: "well" },
        { type: "refusal", refusal: "no" },
      ],
      tool_calls: [
        { id: "c1", type: "function", function: { name: "read", arguments: '{"path":"a"}' } },
        { id: "c2", type: "custom", custom: { name: "patch", input: "words" } },
      ],
    },
    { role: "tool", tool_call_id: "c1", content: "one" },
    { role: "tool", tool_call_id: "c2", content: [{ type: "text", text: "two" }] },
    { role: "assistant", content: "done", refusal: null },
    { role: "user", content: "go on" },
  ],
  "openai-responses": [
    { type: "message", role: "developer", content: [{ type: "input_text", text: "Be good." }] },
    {
      type: "message",
      role: "user",
      content: [
        { type: "input_text", text: "hello" },
        { type: "input_image", image_url: URL_OF },
        { type: "input_audio", data: "AAAA" },
        { type: "input_file", file_data: "data:application/pdf;base64,AAAA" },
        { type: "input_file", file_url: "https://example.org/a.pdf" },
      ],
    },
    { type: "reasoning", id: "rs1", summary: [{ type: "summary_text", text: "hm" }], encrypted_content: "sealed" },
    { type: "function_call", id: "fc1", call_id: "c1", name: "read", arguments: "{}", status: "completed" },
    { type: "custom_tool_call", id: "ct1", call_id: "c2", name: "patch", input: "words" },
    {
      type: "local_shell_call",
      id: "ls1",
      call_id: "c3",
      action: { type: "exec", command: ["ls"] },
      status: "completed",
    },
    { type: "tool_search_call", call_id: "c4", execution: "client", arguments: {} },
    { type: "computer_call", id: "cc1", call_id: "c5", action: { type: "screenshot" }, pending_safety_checks: [] },
    { type: "shell_call", id: "sc1", call_id: "c6", action: { commands: ["ls"] }, status: "completed" },
    { type: "apply_patch_call", id: "ap1", call_id: "c7", operation: { type: "update_file" }, status: "completed" },
    { type: "function_call_output", call_id: "c1", output: [{ type: "input_text", text: "one" }] },
    { type: "custom_tool_call_output", call_id: "c2", output: "two" },
    { type: "local_shell_call_output", id: "c3", output: "three" },
    { type: "tool_search_output", call_id: "c4", execution: "client", status: "completed", tools: [] },
    { type: "computer_call_output", call_id: "c5", output: { type: "computer_screenshot", image_url: URL_OF } },
    {
      type: "shell_call_output",
      call_id: "c6",
      output: [{ stdout: "out", stderr: "err", outcome: { type: "exit", exit_code: 0 } }],
    },
    { type: "apply_patch_call_output", call_id: "c7", status: "failed", output: "no" },
    { type: "mcp_approval_request", id: "ar1", name: "mail", arguments: "{}", server_label: "m" },
    { type: "mcp_approval_response", approval_request_id: "ar1", approve: true },
    { type: "web_search_call", id: "ws1", status: "completed" },
    { type: "item_reference", id: "ir1" },
    {
      type: "message",
      id: "m1",
      role: "assistant",
      phase: "final",
      content: [
        { type: "output_text", text: "done" },
        { type: "refusal", refusal: "no" },
      ],
    },
    { role: "user", content: "go on" },
  ],
  anthropic: [
    {
      role: "user",
      content: [
        { type: "text", text: "hello" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
        { type: "document", source: { type: "url", url: "https://example.org/a.pdf" } },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: "sealed" },
        { type: "redacted_thinking", data: "sealed" },
        { type: "text", text: "well" },
        { type: "server_tool_use", id: "s1", name: "web_search", input: { query: "a" } },
        {
          type: "web_search_tool_result",
          tool_use_id: "s1",
          content: [{ type: "web_search_result", url: "https://a" }],
        },
        { type: "tool_use", id: "c1", name: "read", input: { path: "a" } },
        { type: "tool_use", id: "c2", name: "list", input: {} },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "c1", content: "one", is_error: true },
        {
          type: "tool_result",
          tool_use_id: "c2",
          content: [
            { type: "text", text: "two" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
          ],
        },
        { type: "text", text: "go on" },
      ],
    },
    { role: "assistant", content: "done" },
    { role: "user", content: "bye" },
  ],
  gemini: [
    {
      role: "user",
      parts: [
        { text: "hello" },
        { inlineData: { mimeType: "image/png", data: PNG } },
        { inlineData: { mimeType: "audio/wav", data: "AAAA" } },
        { fileData: { mimeType: "application/pdf", fileUri: "https://example.org/a.pdf" } },
      ],
    },
    {
      role: "model",
      parts: [
        { text: "hm", thought: true, thoughtSignature: "sealed" },
        { text: "", thoughtSignature: "sealed" },
        { text: "well" },
        { functionCall: { id: "c1", name: "read", args: { path: "a" } }, thoughtSignature: "sealed" },
        { functionCall: { name: "list", args: {} } },
      ],
    },
    {
      role: "user",
      parts: [
        { functionResponse: { id: "c1", name: "read", response: { output: "one" } } },
        { functionResponse: { name: "list", response: { error: "no" } } },
      ],
    },
    { role: "model", parts: [{ text: "done" }, { executableCode: { code: "1" } }] },
    { role: "user", parts: [{ text: "bye" }] },
  ],
  "ai-sdk": [
    { role: "system", content: "Be good." },
    {
      role: "user",
      content: [
        { type: "text", text: "hello" },
        { type: "image", image: PNG, mediaType: "image/png" },
        { type: "file", data: "https://example.org/a.wav", mediaType: "audio/wav" },
        { type: "file", data: "AAAA", mediaType: "application/pdf" },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "well" },
        { type: "tool-call", toolCallId: "s1", toolName: "search", input: {}, providerExecuted: true },
        { type: "tool-result", toolCallId: "s1", toolName: "search", output: { type: "json", value: [1] } },
        { type: "tool-call", toolCallId: "c1", toolName: "read", input: { path: "a" } },
        { type: "tool-call", toolCallId: "c2", toolName: "list", args: "{}" },
        { type: "tool-approval-request", approvalId: "a1", toolCallId: "c2" },
      ],
    },
    {
      role: "tool",
      content: [
        { type: "tool-approval-response", approvalId: "a1", approved: true },
        { type: "tool-result", toolCallId: "c1", toolName: "read", output: { type: "text", value: "one" } },
        {
          type: "tool-result",
          toolCallId: "c2",
          toolName: "list",
          output: {
            type: "content",
            value: [
              { type: "text", text: "two" },
              { type: "media", data: PNG, mediaType: "image/png" },
            ],
          },
        },
      ],
    },
    { role: "assistant", content: "done" },
    { role: "user", content: "bye" },
  ],
};

describe.each(Object.values(PROFILES))("$id", (profile) => {
  const { format } = profile;

  test("[WIRE-22] whatever field is missing or something else, messages are read, left as they were, and repaired once", () => {
    for (const { where, odd } of everyField(WHOLE[format])) {
      const before = JSON.stringify(odd);
      const { messages, report } = repairMessages(odd, { format, profile });
      expect([where, JSON.stringify(odd)]).toEqual([where, before]);
      if (report.inFlight.length > 0) continue;
      const again = repairMessages(messages, { format, profile });
      expect([where, again.report.faults]).toEqual([where, []]);
      checkWire(odd, profile);
      checkWire(messages, profile);
    }
  });

  test("[WIRE-22] and in strict mode the same messages come back, or a typed refusal", () => {
    for (const { where, odd } of everyField(WHOLE[format])) {
      try {
        expect(Array.isArray(repairMessages(odd, { format, profile, mode: "strict", continues: true }).messages)).toBe(
          true,
        );
      } catch (error) {
        expect([where, HoldfastError.is(error), error]).toEqual([where, true, error]);
      }
    }
  });
});
