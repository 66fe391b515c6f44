import { expect, test } from "vitest";
import { repairMessages } from "../../src/index.ts";

/** The message types of the official clients, as far as they matter here: unions of exact shapes, in mutable lists. */

interface TextBlockParam {
  type: "text";
  text: string;
}
interface ToolUseBlockParam {
  type: "tool_use";
  id: string;
  name: string;
  input: unknown;
}
interface ToolResultBlockParam {
  type: "tool_result";
  tool_use_id: string;
  content?: string | Array<TextBlockParam>;
  is_error?: boolean;
}
interface MessageParam {
  role: "user" | "assistant";
  content: string | Array<TextBlockParam | ToolUseBlockParam | ToolResultBlockParam>;
}

interface ChatToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}
type ChatCompletionMessageParam =
  | { role: "system" | "developer" | "user"; content: string; name?: string }
  | { role: "assistant"; content?: string | null; tool_calls?: Array<ChatToolCall> }
  | { role: "tool"; tool_call_id: string; content: string };

type ResponseInputItem =
  | { role: "user" | "assistant"; content: string; type?: "message" }
  | { type: "function_call"; call_id: string; name: string; arguments: string; id?: string }
  | { type: "function_call_output"; call_id: string; output: string };

interface Content {
  role?: string;
  parts?: Array<{ text?: string; functionCall?: { name?: string; args?: Record<string, unknown> } }>;
}

type ModelMessage =
  | { role: "user" | "system"; content: string }
  | { role: "assistant"; content: string | Array<{ type: "text"; text: string }> };

/** What each client's method takes. */
const create = (body: { messages: Array<MessageParam> }) => body.messages.length;
const chat = (body: { messages: Array<ChatCompletionMessageParam> }) => body.messages.length;
const respond = (body: { input: Array<ResponseInputItem> }) => body.input.length;
const generate = (body: { contents: Content[] }) => body.contents.length;
const stream = (body: { messages: ModelMessage[] }) => body.messages.length;

test("[PAIR-31] a client's own list goes in and comes out as what its method takes, without a cast", () => {
  const anthropic: MessageParam[] = [{ role: "user", content: "hi" }];
  expect(create({ messages: repairMessages(anthropic, { format: "anthropic" }).messages })).toBe(1);
  const openai: ChatCompletionMessageParam[] = [{ role: "user", content: "hi" }];
  expect(chat({ messages: repairMessages(openai, { format: "openai-chat" }).messages })).toBe(1);
  const input: ResponseInputItem[] = [{ role: "user", content: "hi" }];
  expect(respond({ input: repairMessages(input, { format: "openai-responses" }).messages })).toBe(1);
  const contents: Content[] = [{ role: "user", parts: [{ text: "hi" }] }];
  expect(generate({ contents: repairMessages(contents, { format: "gemini" }).messages })).toBe(1);
  const model: ModelMessage[] = [{ role: "user", content: "hi" }];
  expect(stream({ messages: repairMessages(model, { format: "ai-sdk" }).messages })).toBe(1);
});

test("[PAIR-31] a readonly list stays readonly: the same array may come back", () => {
  const frozen: readonly MessageParam[] = Object.freeze([{ role: "user", content: "hi" }] satisfies MessageParam[]);
  const { messages } = repairMessages(frozen, { format: "anthropic" });
  // @ts-expect-error It may be the caller's frozen array.
  expect(() => messages.push({ role: "user", content: "more" })).toThrow(TypeError);
});

test("[PAIR-31] a fault is found again in the caller's own list, and a renamed call too", () => {
  const use = { type: "tool_use", id: "A", name: "f", input: {} } as const;
  const result = { type: "tool_result", tool_use_id: "A", content: "text" } as const;
  const messages: MessageParam[] = [
    { role: "user", content: "go" },
    { role: "assistant", content: [{ type: "text", text: "so" }, use] },
    { role: "user", content: [result, { type: "text", text: "again" }] },
    { role: "assistant", content: [use] },
    { role: "user", content: [result] },
  ];
  const { repairs, renamed, messageAt } = repairMessages(messages, { format: "anthropic" });
  expect(repairs.map(({ fault }) => [fault.kind, messageAt(fault.at)])).toEqual([["duplicate-call-id", 3]]);
  expect([...renamed.keys()].map(messageAt)).toEqual([3]);
});
