import { expect, test } from "vitest";
import { childrenOf, isTooDeep, mayBeJson } from "./scan.ts";
import { SpanIndex } from "./span-index.ts";

const filler = `"${"x".repeat(70_000)}"`;

test("[DOC-1] a text nested deeper than any session is known before it is parsed, and no other is", () => {
  const nested = (levels: number) => `[${filler},${"[".repeat(levels)}${"]".repeat(levels)}]`;
  expect(isTooDeep(nested(1_000))).toBe(false);
  expect(isTooDeep(nested(3_000))).toBe(true);
  expect(isTooDeep("[".repeat(3_000))).toBe(false); // short: it costs little to try
  expect(isTooDeep(`[${"1,".repeat(50_000)}"never closed`)).toBe(false);
  expect(isTooDeep(`[${"[],".repeat(50_000)}{"[[[[": "]]]]"}]`)).toBe(false);
});

test("[DOC-1] what is certainly no JSON is told by its ends", () => {
  const may = ["{}", " [1] ", '"a"', "12", "{]", '"a', "[}"].map(mayBeJson);
  expect(may).toEqual([true, true, true, true, false, false, false]);
});

test("[DOC-1] children are found where they stand, and a value that is cut off ends the list", () => {
  const text = '{ "a": [1, {"b": 2}] , "c":"x" }';
  expect(childrenOf(text, 0).map(({ key, start, end }) => [key, text.slice(start, end)])).toEqual([
    ["a", '[1, {"b": 2}]'],
    ["c", '"x"'],
  ]);
  expect(childrenOf("[1, [2", 0).map(({ key }) => key)).toEqual([0]);
  expect(childrenOf("[1,,2]", 0)).toHaveLength(1);
});

test("[DOC-1] what stands at a path is given as it is written, and nothing where the path leads nowhere", () => {
  const spans = new SpanIndex('{"a": [1, {"b" : 2}], "c": 3}');
  expect(spans.textOf(["a", 1])).toBe('{"b" : 2}');
  expect(spans.textOf(["a", 1, "b"])).toBe("2");
  expect(spans.textOf([])).toContain('"c": 3');
  for (const path of [["a", 7], ["x"], ["c", "d"], ["a", 1, "b", 0]]) expect(spans.textOf(path)).toBeUndefined();
});
