import { expect, test } from "vitest";
import type { ModelEvent } from "../../contracts/model.ts";
import { MessagesReader } from "./stream.ts";

function read(...events: readonly object[]) {
  const reader = new MessagesReader();
  const told: ModelEvent[] = events.flatMap((event) => [...reader.read(event)]);
  return { draft: reader.draft(), told };
}

const start = { type: "message_start", message: { id: "msg_1", model: "m" } };
const end = { type: "message_delta", delta: { stop_reason: "end_turn" } };
const block = (index: number, content_block: object) => ({ type: "content_block_start", index, content_block });
const stop = (index: number) => ({ type: "content_block_stop", index });

test("[ADAPT-19] blocks that a server counts from one, or with gaps, leave no hole in the message", () => {
  const { draft } = read(
    start,
    block(1, { type: "text", text: "Well." }),
    block(4, { type: "text", text: "So." }),
    end,
  );
  expect(draft.items[0]?.origin?.message).toEqual({
    role: "assistant",
    content: [
      { type: "text", text: "Well." },
      { type: "text", text: "So." },
    ],
  });
  expect(JSON.stringify(draft.items[0]?.origin?.message)).not.toContain("null");
});

test("[ADAPT-2] thinking and arguments with which a block begins are told like those that come later", () => {
  const { told, draft } = read(
    start,
    block(0, { type: "thinking", thinking: "hm", signature: "s" }),
    stop(0),
    block(1, { type: "tool_use", id: "toolu_1", name: "grep", input: { q: 1 } }),
    stop(1),
    end,
  );
  expect(told).toEqual([
    { kind: "reasoning-delta", text: "hm" },
    { kind: "call-delta", index: 0, name: "grep", arguments: "" },
    { kind: "call-delta", index: 0, arguments: '{"q":1}' },
  ]);
  expect(draft.items).toMatchObject([{ text: "hm" }, { kind: "call", input: { q: 1 } }]);
});

test("[ADAPT-2] arguments that come in pieces are told as they come, and none at all are not told", () => {
  const grow = { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"q":1}' } };
  const call = (input: object) => block(0, { type: "tool_use", id: "toolu_1", name: "grep", input });
  const told = (...events: readonly object[]) =>
    read(start, ...events, stop(0), end).told.map((event) => (event.kind === "call-delta" ? event.arguments : event));
  expect(told(call({ q: 0 }), grow)).toEqual(["", '{"q":1}']);
  expect(told(call({}))).toEqual([""]);
});
