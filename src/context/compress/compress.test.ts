import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { longText } from "../../../test/support/pages.ts";
import { contentCompressor, roomFor } from "./compress.ts";
import { contentOf } from "./content.ts";
import { head, middleCut, sizeWords } from "./cut.ts";
import { jsonShape } from "./json-shape.ts";
import { weightOf } from "./weigh.ts";

const compressed = (text: string) => contentCompressor.compress({ text, room: roomFor(text.length) });

const LOG = Array.from(
  { length: 400 },
  (_, at) => `2026-01-01T10:00:${String(at % 60).padStart(2, "0")}Z INFO request ${at} took ${at * 3} ms`,
);
const DIFF = ["diff --git a/x.ts b/x.ts", "--- a/x.ts", "+++ b/x.ts"]
  .concat(Array.from({ length: 90 }, (_, at) => (at % 9 === 0 ? `@@ -${at},9 +${at},9 @@` : ` same ${at}`)))
  .concat(["-old line", "+new line"]);
const CODE = Array.from({ length: 200 }, (_, at) =>
  at % 20 === 0
    ? `export function name${at}(a: number): number {`
    : `  const value${at} = compute(${at}, "${"x".repeat(at % 7)}");`,
);

describe("content", () => {
  test.each([
    ["json", JSON.stringify({ a: 1 })],
    ["text", "{ not json at all"],
    ["diff", DIFF.join("\n")],
    ["log", LOG.join("\n")],
    ["code", CODE.join("\n")],
    ["trace", `Error: no\n${"    at run (/app/src/x.ts:1:2)\n".repeat(9)}`],
    ["matches", "src/a.ts:12: const a\nsrc/a.ts:14: const b\nsrc/b.ts:1: c"],
    ["table", "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |"],
    ["text", longText(20)],
  ])("[PAGE-6] is known as %s by its form", (content, text) => {
    expect(contentOf(text)).toBe(content);
  });
});

describe("compressed", () => {
  test("[PAGE-6] a log is folded with counts, and its error stays", () => {
    const text = LOG.with(200, "2026-01-01T10:03:00Z ERROR disk is full").join("\n");
    const { text: short, leftOut } = compressed(text);
    expect(short).toContain("ERROR disk is full");
    expect(short).toMatch(/\[×\d+\]/);
    expect(short.length).toBeLessThan(text.length / 5);
    expect(leftOut).toMatch(/of 400 lines/);
  });

  test("[PAGE-6] JSON keeps its keys, the sizes of its lists and the beginnings of its strings", () => {
    const rows = Array.from({ length: 300 }, (_, at) => ({ id: at, name: `person ${at}`, bio: longText(3) }));
    const { text: short } = compressed(JSON.stringify({ total: 300, rows }));
    for (const part of ["total: 300", "rows:", "name:", "300 in all"]) expect(short).toContain(part);
  });

  test("[PAGE-6] a diff keeps its files, code its declarations, both their ends", () => {
    expect(compressed(DIFF.join("\n")).text).toContain("+++ b/x.ts");
    const code = compressed(CODE.join("\n")).text;
    expect(code).toContain("export function name0(");
    expect(code).toContain("export function name180(");
  });

  test("[PAGE-6] a trace keeps the message and the frames of the program itself", () => {
    const frames = Array.from({ length: 60 }, (_, at) => `    at step (/app/node_modules/lib/x.js:${at}:1)`);
    const text = ["TypeError: x is undefined", "    at mine (/app/src/mine.ts:3:1)", ...frames].join("\n");
    const { text: short } = compressed(text);
    expect(short).toContain("TypeError: x is undefined");
    expect(short).toContain("/app/src/mine.ts");
  });

  test("[PAGE-6] one endless line keeps both ends", () => {
    const { text: short, leftOut } = compressed(`start ${"x".repeat(9_000)} end`);
    expect(short.startsWith("start ")).toBe(true);
    expect(short.endsWith(" end")).toBe(true);
    expect(leftOut).toContain("9,010 characters");
  });

  test("[PAGE-6] the same text gives the same bytes, valid ones, and not many", () => {
    const anyText = fc.oneof(
      fc.string({ unit: "binary", minLength: 0, maxLength: 4_000 }),
      fc.array(fc.string({ unit: "grapheme", maxLength: 300 }), { maxLength: 120 }).map((lines) => lines.join("\n")),
      fc.json({ maxDepth: 6 }).map((json) => `${json}`),
      fc.nat(20_000).map((length) => "é".repeat(length)),
    );
    fc.assert(
      fc.property(anyText, (text) => {
        const short = compressed(text);
        expect(compressed(text)).toEqual(short);
        expect(short.text.isWellFormed()).toBe(true);
        expect(short.text.length).toBeLessThanOrEqual(Math.max(512, roomFor(text.length) + 300));
        if (short.leftOut === "") expect(short.text).toBe(text.toWellFormed());
      }),
      { numRuns: 300 },
    );
  });
});

describe("what is cut", () => {
  test("[PAGE-6] never parts a character, from the front or from the back, and says how much lies between", () => {
    const faces = "\u{1F600}".repeat(40);
    for (let most = 0; most < 90; most += 1) {
      expect(head(faces, most).isWellFormed()).toBe(true);
      const cut = middleCut(faces, most);
      expect(cut.isWellFormed()).toBe(true);
      const between = Number(/…(\d+)…/.exec(cut)?.[1] ?? 0);
      expect(cut.replace(/ …\d+… /, "").length + between).toBe(80);
    }
    expect(middleCut("short", 5)).toBe("short");
    expect([999, 1_500, 2_500_000].map(sizeWords)).toEqual(["999 B", "1.5 KB", "2.5 MB"]);
  });

  test("[PAGE-6] the shape of JSON has the widest detail that fits, and an end where nothing does", () => {
    const wide = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`key${at}`, at]));
    const value = { name: "a  b", list: [1, 2, 3], none: null, long: "y".repeat(300), wide };
    expect(jsonShape(value, 10_000)).toContain("name: 'a b',\n list: [1, 2, 3],\n none: null");
    expect(jsonShape(value, 10_000)).toContain("… 100 keys");
    expect(jsonShape(value, 10_000)).toContain("…' (300 characters)");
    expect(jsonShape(value, 20)).toHaveLength(20);
    expect(jsonShape({ a: { b: { c: { d: { e: { f: { g: 1 }, h: [1, 2] } } } } } }, 1_000)).toContain(
      "{f: {…}, h: [2]}",
    );
  });

  test("[PAGE-6] lines weigh by what they say in a text of their kind", () => {
    const code = ["export class A {", "import { a } from 'a';", "  run();", "  // note", "}"];
    expect(code.map((line) => weightOf(line, "code"))).toEqual([6, 2, 1, 0, 0]);
    expect(["|---|---|", "| a | b |"].map((line) => weightOf(line, "table"))).toEqual([1, 3]);
    expect(["", "it failed", '{"tool_calls": 1}'].map((line) => weightOf(line, "log"))).toEqual([0, 8, -1]);
  });
});
