import { expect, test } from "vitest";
import { globOf } from "./glob.ts";

test.each<[string, readonly string[], readonly string[]]>([
  ["*.ts", ["a.ts"], ["a.js", "b/a.ts"]],
  ["**/*.ts", ["a.ts", "b/c/a.ts"], ["a.tsx"]],
  ["a**b", ["ab", "axxb"], ["a/b"]],
  ["?.txt", ["a.txt"], [".txt", "ab.txt"]],
  ["[a-c]x", ["ax", "cx"], ["dx", "-x"]],
  ["[!a-c]x", ["dx"], ["ax"]],
  ["[^ab]x", ["cx"], ["ax"]],
  ["[ab-]x", ["-x", "ax"], ["cx"]],
  ["\\*.ts", ["*.ts"], ["a.ts"]],
  ["a\\", ["a\\"], ["a"]],
  ["{a,b{c,d}}.ts", ["a.ts", "bc.ts", "bd.ts"], ["b.ts", "c.ts"]],
  ["{a,b", ["{a,b"], ["a"]],
  ["src/*/deep", ["src/x/deep"], ["src/deep", "src/x/y/deep"]],
])("[FILE-10] the pattern %s", (pattern, matching, others) => {
  const glob = globOf(pattern);
  expect(matching.filter((path) => !glob.matches(path.split("/")))).toEqual([]);
  expect(others.filter((path) => glob.matches(path.split("/")))).toEqual([]);
});

test.each<[string, readonly string[], readonly string[]]>([
  ["\\{a,b\\}.ts", ["{a,b}.ts"], ["a.ts", "\\a.ts"]],
  ["{a\\,b,c\\}}", ["a,b", "c}"], ["a", "b"]],
  ["\\{{a,b}", ["{a", "{b"], ["a"]],
  ["{a,b\\", ["{a,b\\"], ["a"]],
])("[FILE-18] a brace or comma behind a backslash is itself: %s", (pattern, matching, others) => {
  const glob = globOf(pattern);
  expect(matching.filter((path) => !glob.matches(path.split("/")))).toEqual([]);
  expect(others.filter((path) => glob.matches(path.split("/")))).toEqual([]);
});

test("[FILE-18] a pattern that is longer than any path is refused, and one that is as long is read", () => {
  expect(() => globOf("{a}".repeat(20_000))).toThrow(expect.objectContaining({ code: "BAD_OPTION" }));
  expect(globOf("{a}".repeat(1_365)).matches(["a".repeat(1_365)])).toBe(true);
});

test("[FILE-10] a pattern that would become hundreds is refused", () => {
  expect(() => globOf("{a,b}".repeat(10))).toThrow(expect.objectContaining({ code: "BAD_OPTION" }));
});
