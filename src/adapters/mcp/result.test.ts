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

test("[MCP-4] data that looks like a failure of ours is data, and reads the same as text", () => {
  for (const structuredContent of [{ ok: false, message: "no" }, { success: false }])
    expect(returned(resultOf({ content: [], structuredContent }))).toBe(JSON.stringify(structuredContent));
});

test("[MCP-3] data is not lost beside a text that is empty, nor where it is too deep to be kept", () => {
  const blank = { type: "text", text: "" };
  expect(returned(resultOf({ content: [blank], structuredContent: { n: 1 } }))).toEqual({ n: 1 });
  let deep: unknown = "end";
  for (let level = 0; level < 200; level += 1) deep = [deep];
  expect(returned(resultOf({ content: [], structuredContent: { deep } }))).toBe(JSON.stringify({ deep }));
});

test("[MCP-3] a resource is named by the end of its address, in one line, without the keys that may stand there", () => {
  const named = (uri: string) =>
    resultOf({ content: [{ type: "resource", resource: { uri, blob: "AAAA" } }] }).parts[0];
  expect(named("https://example.org/a/b.png?signature=x#y")).toMatchObject({ name: "b.png" });
  expect(named("file:///a/b\nc.png")).toMatchObject({ name: "b c.png" });
  expect(named(`file:///${"x".repeat(1_000)}.png`)).toMatchObject({ name: expect.stringMatching(/^x{196}\.png$/) });
  expect(named("file:///a/?b")).not.toHaveProperty("name");
});
