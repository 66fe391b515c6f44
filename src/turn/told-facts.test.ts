import { expect, test } from "vitest";
import { sourceOf, toldOf } from "./told-facts.ts";

test("[TELEMETRY-2] [K63] a kind that only a later version knows is told, as of an unknown source and by nothing it says", () => {
  expect([sourceOf("call-closed"), sourceOf("made-by-a-later-version"), sourceOf("toString")]).toEqual([
    "tool",
    "unknown",
    "unknown",
  ]);
  const draft = { kind: "made-by-a-later-version", text: "words" } as never;
  expect(toldOf(draft)).toEqual({ facts: {}, words: { text: "words" } });
});

test("[TELEMETRY-3] why a model did not answer is told by its kind, never by its words", () => {
  const failure = { kind: "overloaded", message: "words", retryable: true, reached: "no" };
  expect(toldOf({ kind: "model-failed", failure, attempt: 2 }).facts).toEqual({ failure: "overloaded", attempt: 2 });
});
