import { expect, test } from "vitest";
import { countConversation } from "./counts.ts";
import type { Piece, Reading } from "./format.ts";
import { called, returned } from "./skeleton.ts";

const piece = (item: Piece["item"]): Piece => ({ item, path: [], ids: [] });
const says = (speaks: "user" | "assistant", turn?: string): Reading => ({
  message: true,
  speaks,
  pieces: [],
  ...(turn === undefined ? {} : { turn }),
});
const asks = (id: string | undefined, turn: string): Reading => ({
  message: true,
  speaks: "assistant",
  turn,
  pieces: [piece(called({ id, name: "f" }))],
});
const gives = (id: string): Reading => ({ message: true, pieces: [piece(returned({ id }))] });

test("[DOC-15] missing are distinct ids without an output; those nobody spoke after stand at the tail", () => {
  const { counts } = countConversation([
    asks("a", "1"),
    asks("a", "2"),
    says("user"),
    asks("b", "3"),
    asks(undefined, "3"),
  ]);
  expect(counts).toMatchObject({ missing: 3, missingAtTail: 2, duplicateCallIds: 1 });
});

test("[DOC-15] orphans are outputs of no call; surplus outputs are duplicates of their id", () => {
  const { counts, outputs } = countConversation([asks("a", "1"), gives("a"), gives("a"), gives("x"), gives("")]);
  expect(outputs).toBe(4);
  expect(counts).toMatchObject({ orphan: 2, duplicateOutputs: 1, missing: 0 });
});

test("[DOC-15] an output before the first call of its id is early; one behind another turn is displaced", () => {
  const early = countConversation([gives("a"), asks("a", "1")]);
  expect(early.counts).toMatchObject({ outputBeforeCall: 1, displaced: 0, missing: 0 });
  const late = countConversation([asks("a", "1"), says("user"), gives("a")]);
  expect(late.counts).toMatchObject({ displaced: 1, outputBeforeCall: 0 });
});

test("[DOC-15] pieces of the same answer, and outputs of its other calls, are not in between", () => {
  const { counts } = countConversation([
    asks("a", "1"),
    asks("b", "1"),
    gives("b"),
    says("assistant", "1"),
    gives("a"),
  ]);
  expect(counts.displaced).toBe(0);
});

test("[DOC-15] what a provider ran itself is no call of ours", () => {
  const server = piece({ ...called({ id: "s", name: "search", server: true }) });
  const { calls, counts } = countConversation([{ message: true, speaks: "assistant", pieces: [server] }]);
  expect(calls).toBe(0);
  expect(counts.missing).toBe(0);
});
