import { expect, test } from "vitest";
import { addHistorySignals, factsOf, toldKind, wordsOf } from "./told-facts.ts";
import type { JournalEntry } from "../journal/prove.ts";
import { sessionFold } from "./fold.ts";

test("[TELEMETRY-2] [K63] a kind that only a later version knows is told, as of an unknown source and by nothing it says", () => {
  expect(["call-closed", "made-by-a-later-version", "toString"].map((kind) => toldKind(kind)[0])).toEqual([
    "tool",
    "unknown",
    "unknown",
  ]);
  const draft = { kind: "made-by-a-later-version", text: "words" } as never;
  expect([factsOf(draft), wordsOf(draft)]).toEqual([{}, { text: "words" }]);
});

test("[TELEMETRY-3] why a model did not answer is told by its kind, never by its words", () => {
  const failure = { kind: "overloaded", message: "words", retryable: true, reached: "no" };
  expect(factsOf({ kind: "model-failed", failure, attempt: 2 })).toEqual({ failure: "overloaded", attempt: 2 });
});

test("[USE-3] a checkpoint that says nothing of the history leaves its length unknown, and never wrong", () => {
  const fold = sessionFold(10);
  const said = (seq: number): JournalEntry => ({ kind: "user-said", text: "x", seq, at: "" });
  const kept = (seq: number, state?: object): JournalEntry =>
    ({
      kind: "checkpoint-kept",
      openCalls: [],
      seq,
      at: "",
      ...(state === undefined ? {} : { state }),
    }) as JournalEntry;
  const state = { parts: {}, boundaries: [], effects: [], epochs: [] };
  expect(fold.start([said(1), said(2)]).history).toBe(2);
  expect(fold.start([kept(5), said(6)]).history).toBeUndefined();
  expect(fold.start([kept(5, state), said(6)]).history).toBeUndefined();
  expect(fold.start([kept(5, { ...state, history: 4 }), said(6)]).history).toBe(5);
  expect(fold.checkpoint?.(fold.start([kept(5, state)]), {})).not.toHaveProperty("state.history");
  expect(fold.checkpoint?.(fold.start([said(1)]), {})).toHaveProperty("state.history", 1);
  const draft = { kind: "call-closed", callId: "c", tool: "t", status: "success" } as never;
  const facts = {};
  addHistorySignals(facts, draft, undefined);
  expect(facts).toMatchObject({ conversation_history_size: null, history_query_patterns: [] });
});
