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
