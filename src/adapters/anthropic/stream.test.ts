import { expect, test } from "vitest";
import { user } from "../../../test/histories/items.ts";
import type { ModelEvent } from "../../contracts/model.ts";
import { checkWire } from "../../wire/check.ts";
import { writeMessages } from "../../wire/project.ts";
import { MessagesReader } from "./stream.ts";

function read(...events: readonly object[]): {
  readonly reader: MessagesReader;
  readonly events: readonly ModelEvent[];
} {
  const reader = new MessagesReader();
  return { reader, events: events.flatMap((event) => [...reader.read(event)]) };
}

const start = {
  type: "message_start",
  message: { id: "msg_1", model: "m", usage: { input_tokens: 3, cache_read_input_tokens: 4 } },
};
const end = {
  type: "message_delta",
  delta: { stop_reason: "end_turn" },
  usage: { output_tokens: 5, input_tokens: null },
};
const block = (index: number, content_block: object) => ({ type: "content_block_start", index, content_block });
const grow = (index: number, delta: object) => ({ type: "content_block_delta", index, delta });

test("[ADAPT-19] redacted thinking, citations and unknown fields of a block are carried as they came", () => {
  const redacted = { type: "redacted_thinking", data: "opaque" };
  const { reader } = read(
    start,
    block(0, redacted),
    block(1, { type: "text", text: "", citations: null, novel: { kept: true } }),
    grow(1, { type: "text_delta", text: "As said" }),
    grow(1, { type: "citations_delta", citation: { cited_text: "said" } }),
    end,
  );
  const [thought, text] = reader.draft().items;
  expect(thought).toMatchObject({ kind: "reasoning", signature: "opaque" });
  expect(thought?.origin?.pieces[0]).toBe(redacted);
  expect(text?.origin?.pieces[0]).toEqual({
    type: "text",
    text: "As said",
    citations: [{ cited_text: "said" }],
    novel: { kept: true },
  });
});

test("[ADAPT-30] a compaction that is streamed holds what one that came whole holds: its summary and its seal", () => {
  const { reader } = read(
    start,
    block(0, { type: "compaction", content: null }),
    grow(0, { type: "compaction_delta", content: "What was said", encrypted_content: "opaque" }),
    block(1, { type: "text", text: "" }),
    grow(1, { type: "text_delta", text: "Go on" }),
    end,
  );
  const { items, unread } = reader.draft();
  expect(unread).toEqual([]);
  expect(items[0]?.origin?.message).toMatchObject({
    content: [{ type: "compaction", content: "What was said", encrypted_content: "opaque" }, { text: "Go on" }],
  });
});

test("[ADAPT-30] a compaction that failed stays without a summary", () => {
  const failed = { type: "compaction", content: null };
  const { reader } = read(start, block(0, failed), grow(0, { type: "compaction_delta", content: null }), end);
  expect(reader.draft().items[0]?.origin?.pieces[0]).toEqual(failed);
});

test("[ADAPT-19] events and deltas of a later version are named, not swallowed", () => {
  const { reader } = read(
    start,
    { type: "mood_swing" },
    block(0, { type: "text", text: "" }),
    grow(0, { type: "smell_delta" }),
    end,
  );
  expect(reader.draft().unread).toEqual(["mood_swing", "smell_delta"]);
});

test("[ADAPT-19] calls that the provider runs itself are not ours to run, and do not count among ours", () => {
  const { reader, events } = read(
    start,
    block(0, { type: "server_tool_use", id: "srv_1", name: "web_search", input: {} }),
    grow(0, { type: "input_json_delta", partial_json: '{"query": "x"}' }),
    block(1, { type: "web_search_tool_result", tool_use_id: "srv_1", content: [] }),
    block(2, { type: "tool_use", id: "toolu_1", name: "grep", input: {} }),
    end,
  );
  expect(events.filter((event) => event.kind === "call-delta")).toEqual([
    { kind: "call-delta", index: 0, name: "grep", arguments: "" },
  ]);
  const [search] = reader.draft().items;
  expect(search).toMatchObject({ kind: "call", server: true, input: { query: "x" } });
});

test("[ADAPT-1] usage counts what came from the cache, and a null does not undo a count", () => {
  expect(read(start, end).reader.draft().usage).toEqual({ input: 7, output: 5, cacheRead: 4 });
});

const sampling = (type: string, input_tokens: number, output_tokens: number, cache_read_input_tokens = 0) => ({
  type,
  input_tokens,
  output_tokens,
  cache_read_input_tokens,
  cache_creation_input_tokens: 0,
});
const message = (usage: object) => ({ type: "message", id: "m", content: [], stop_reason: "end_turn", usage });

test("[ADAPT-43] a compaction and an advisor are counted, and no sampling twice, streamed or whole", () => {
  const advised = {
    input_tokens: 412, // of the first sampling alone
    output_tokens: 531,
    cache_read_input_tokens: 0,
    iterations: [
      sampling("message", 412, 89),
      sampling("advisor_message", 823, 1_612),
      sampling("message", 1_348, 442, 412),
    ],
  };
  const compacted = {
    input_tokens: 23_000,
    output_tokens: 1_000,
    iterations: [sampling("compaction", 180_000, 3_500), sampling("message", 23_000, 1_000)],
  };
  for (const [usage, used] of [
    [
      advised,
      { input: 412 + 823 + 1_348 + 412, output: 89 + 1_612 + 442, cacheRead: 412, cacheWrite: 0, samplings: 3 },
    ],
    [compacted, { input: 203_000, output: 4_500, cacheRead: 0, cacheWrite: 0, samplings: 2 }],
  ] as const) {
    expect(read(message(usage)).reader.draft().usage).toEqual(used);
    const streamed = read(start, { ...end, usage });
    expect(streamed.events).toContainEqual({ kind: "usage", usage: expect.objectContaining({ output: used.output }) });
  }
});

test("[ADAPT-43] one sampling is the answer's own, and one that was told too early takes nothing from the sum", () => {
  const usage = { input_tokens: 7, output_tokens: 5, iterations: [sampling("message", 7, 5)] };
  expect(read(message(usage)).reader.draft().usage).toMatchObject({ input: 7, output: 5 });
  expect(read(message(usage)).reader.draft().usage).not.toHaveProperty("samplings");
  const early = {
    ...start,
    message: { ...start.message, usage: { input_tokens: 7, iterations: [sampling("message", 7, 1)] } },
  };
  expect(read(early, end).reader.draft().usage).toMatchObject({ input: 7, output: 5 });
});

test("[ADAPT-6] a pause, a stop sequence, a full window and a word of a later version have their stop", () => {
  const stop = (stop_reason: string) =>
    read(start, { type: "message_delta", delta: { stop_reason } }).reader.draft().stop;
  expect(
    ["pause_turn", "stop_sequence", "model_context_window_exceeded", "novel"].map((word) => stop(word)?.reason),
  ).toEqual(["paused", "stop", "length", "other"]);
  expect(stop("novel")?.text).toBe("novel");
});

test("[ADAPT-38] a pause after a compaction is a pause, and its block goes back as it came", () => {
  const { reader } = read(
    start,
    block(0, { type: "compaction", content: null }),
    grow(0, { type: "compaction_delta", content: "So far.", encrypted_content: "s" }),
    { type: "message_delta", delta: { stop_reason: "compaction" } },
  );
  const { stop, items } = reader.draft();
  expect(stop).toEqual({ reason: "paused", text: "compaction" });
  const messages = writeMessages([user(), ...items], "anthropic").messages;
  expect(checkWire(messages, "anthropic")).toEqual([]);
  expect(messages.at(-1)).toEqual({
    role: "assistant",
    content: [{ type: "compaction", content: "So far.", encrypted_content: "s" }],
  });
});

test("[ADAPT-6] a refusal is one, and a window that is full is a limit", () => {
  const stop = (stop_reason: string) =>
    read(start, { type: "message_delta", delta: { stop_reason } }).reader.draft().stop;
  expect(stop("refusal")).toEqual({ reason: "refusal", text: "refusal" });
  expect(stop("model_context_window_exceeded")?.reason).toBe("length");
});
