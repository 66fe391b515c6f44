import { expect, test } from "vitest";
import { everyField } from "../../../test/support/every-field.ts";
import { resultOf, returned, wordsIn } from "./result.ts";

const WHOLE = {
  content: [
    { type: "text", text: "hello" },
    { type: "image", data: "AAAA", mimeType: "image/png; q=1" },
    { type: "audio", data: "AAAA", mimeType: "audio/wav" },
    { type: "resource", resource: { uri: "file:///a/b.txt", text: "words" } },
    { type: "resource", resource: { uri: "file:///a/b.png", blob: "AAAA", mimeType: "image/png" } },
    { type: "resource_link", name: "b", uri: "file:///a/b.txt" },
    { type: "something-new", more: 1 },
  ],
  isError: false,
};

test("[MCP-4] whatever a server leaves out or sends instead, its answer is read, and is a failure only if it says so", () => {
  for (const { where, odd } of everyField(WHOLE)) {
    const result = resultOf(odd);
    expect([where, result.failed]).toEqual([where, (odd as { isError?: unknown }).isError === true]);
    expect([where, typeof wordsIn(result)]).toEqual([where, "string"]);
    expect([where, returned(result) === undefined]).toEqual([where, false]);
  }
});

test("[MCP-3] a failure is told in words: those of its content, a picture by its kind, its data, or that there are none", () => {
  expect(wordsIn(resultOf({ content: [{ type: "text", text: "no" }], isError: true }))).toBe("no");
  expect(wordsIn(resultOf({ content: [WHOLE.content[1]], isError: true }))).toBe("[image/png]");
  expect(wordsIn(resultOf({ content: [], structuredContent: { why: "no" } }))).toBe('{"why":"no"}');
  expect(wordsIn(resultOf({ content: [] }))).toBe("The server said nothing about it.");
  expect([returned(resultOf({ content: [] })), returned(resultOf({ structuredContent: { n: 1 } }))]).toEqual([
    "",
    { n: 1 },
  ]);
});
