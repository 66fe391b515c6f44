import { expect, test } from "vitest";
import { StreamReader } from "../../src/adapters/ai-sdk/stream.ts";
import { MessagesReader } from "../../src/adapters/anthropic/stream.ts";
import { ChatReader } from "../../src/adapters/openai/chat/stream.ts";
import { ResponsesReader } from "../../src/adapters/openai/responses/stream.ts";
import { everyField } from "../support/every-field.ts";

const call = { type: "function_call", id: "fc1", call_id: "c1", name: "read", arguments: '{"a":1}' };
const said = {
  type: "message",
  id: "m1",
  role: "assistant",
  content: [
    { type: "output_text", text: "hi" },
    { type: "refusal", refusal: "no" },
  ],
};
const usage = {
  input_tokens: 10,
  output_tokens: 5,
  input_tokens_details: { cached_tokens: 2 },
  output_tokens_details: { reasoning_tokens: 1 },
};
const response = { id: "r1", object: "response", model: "m", status: "completed", output: [said, call], usage };

/** Answers as they arrive, with everything in them that a provider sends. */
const STREAMS = {
  "openai-responses": {
    reader: () => new ResponsesReader(),
    pieces: [
      { type: "response.created", response: { id: "r1", model: "m", status: "in_progress", output: [] } },
      { type: "response.output_item.added", output_index: 0, item: { ...said, content: [] } },
      { type: "response.output_text.delta", output_index: 0, delta: "hi" },
      { type: "response.refusal.delta", output_index: 0, delta: "no" },
      { type: "response.reasoning_summary_part.added", output_index: 0, summary_index: 1 },
      { type: "response.reasoning_summary_text.delta", output_index: 0, delta: "hm" },
      { type: "response.output_item.done", output_index: 0, item: said },
      { type: "response.output_item.added", output_index: 1, item: { ...call, arguments: "" } },
      { type: "response.function_call_arguments.delta", output_index: 1, delta: '{"a":1}' },
      { type: "response.output_item.done", output_index: 1, item: call },
      {
        type: "response.output_item.added",
        output_index: 2,
        item: { type: "custom_tool_call", id: "ct", call_id: "c2", name: "patch", input: "" },
      },
      { type: "response.custom_tool_call_input.delta", output_index: 2, delta: "half" },
      { type: "response.output_item.added", output_index: 3, item: { type: "web_search_call", id: "ws" } },
      {
        type: "response.incomplete",
        response: { ...response, status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
      },
    ],
  },
  "openai-responses, whole": { reader: () => new ResponsesReader(), pieces: [response] },
  "openai-responses, failed": {
    reader: () => new ResponsesReader(),
    pieces: [{ ...response, status: "failed", error: { code: "server_error", message: "no" } }],
  },
  "openai-chat": {
    reader: () => new ChatReader(),
    pieces: [
      {
        id: "x",
        model: "m",
        choices: [{ index: 0, delta: { role: "assistant", reasoning_content: "hm", content: "" } }],
      },
      { choices: [{ index: 0, delta: { content: "hi", refusal: "no" } }] },
      {
        choices: [
          {
            index: 0,
            delta: {
              tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "read", arguments: "" } }],
            },
          },
        ],
      },
      { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] } }] },
      { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
      {
        choices: [],
        usage: {
          prompt_tokens: 10,
          completion_tokens: 5,
          prompt_tokens_details: { cached_tokens: 2 },
          completion_tokens_details: { reasoning_tokens: 1 },
        },
      },
    ],
  },
  anthropic: {
    reader: () => new MessagesReader(),
    pieces: [
      {
        type: "message_start",
        message: {
          id: "m1",
          model: "m",
          role: "assistant",
          content: [],
          usage: { input_tokens: 10, cache_read_input_tokens: 2, cache_creation_input_tokens: 1 },
        },
      },
      { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "hm" } },
      { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "sealed" } },
      { type: "content_block_stop", index: 0 },
      { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "hi" } },
      { type: "content_block_delta", index: 1, delta: { type: "citations_delta", citation: { url: "https://a" } } },
      { type: "content_block_stop", index: 1 },
      { type: "content_block_start", index: 2, content_block: { type: "tool_use", id: "c1", name: "read", input: {} } },
      { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: '{"a":1}' } },
      { type: "content_block_stop", index: 2 },
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 5 } },
      { type: "message_stop" },
    ],
  },
  "ai-sdk": {
    reader: () => new StreamReader(),
    pieces: [
      { type: "stream-start", warnings: [] },
      { type: "response-metadata", id: "x", modelId: "m" },
      { type: "reasoning-start", id: "0" },
      { type: "reasoning-delta", id: "0", delta: "hm" },
      { type: "reasoning-end", id: "0", providerMetadata: { anthropic: { signature: "sealed" } } },
      { type: "text-delta", id: "1", delta: "hi" },
      { type: "text-end", id: "1" },
      { type: "tool-input-start", id: "c1", toolName: "read" },
      { type: "tool-input-delta", id: "c1", delta: '{"a":1}' },
      { type: "tool-input-end", id: "c1" },
      { type: "tool-call", toolCallId: "c1", toolName: "read", input: '{"a":1}' },
      { type: "tool-input-start", id: "w1", toolName: "web", providerExecuted: true },
      { type: "tool-input-delta", id: "w1", delta: "{}" },
      { type: "tool-call", toolCallId: "w1", toolName: "web", input: "{}", providerExecuted: true },
      { type: "tool-call", toolCallId: "c2", toolName: "read", input: { b: 2 } },
      { type: "tool-result", toolCallId: "w1", toolName: "web", result: "ok" },
      { type: "custom", kind: "anthropic.message_start" },
      { type: "custom", kind: "openai.item", item: {} },
      {
        type: "finish",
        finishReason: { unified: "tool-calls", raw: "tool_use" },
        usage: { inputTokens: 10, outputTokens: 5 },
      },
    ],
  },
  "ai-sdk, whole": {
    reader: () => new StreamReader(),
    pieces: [
      {
        type: "whole",
        answer: {
          response: { id: "x", modelId: "m" },
          content: [
            { type: "reasoning", text: "hm" },
            { type: "text", text: "hi" },
            { type: "tool-call", toolCallId: "c1", toolName: "read", input: '{"a":1}' },
          ],
          finishReason: "tool-calls",
          usage: { inputTokens: 10, outputTokens: 5 },
        },
      },
    ],
  },
} as const;

test.each(Object.entries(STREAMS))(
  "[ADAPT-19] %s: whatever a server leaves out or sends instead, its answer is read or refused in words, and nothing breaks",
  (_, { reader, pieces }) => {
    for (const { where, odd } of everyField<readonly unknown[]>(pieces)) {
      const reading = reader();
      try {
        for (const piece of odd) for (const event of reading.read(piece)) expect(typeof event.kind).toBe("string");
        const { items, usage: used } = reading.draft();
        expect([where, Array.isArray(items)]).toEqual([where, true]);
        expect([where, Number.isFinite(used?.input ?? 0)]).toEqual([where, true]);
      } catch (error) {
        expect([where, error instanceof Error && !(error instanceof TypeError), error]).toEqual([where, true, error]);
      }
    }
  },
);
