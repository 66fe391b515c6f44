import { expect, test } from "vitest";
import { ago, bytes, durationOf, harmless, lasted, oneLine, sizeOf } from "./words.ts";

const NOW = Date.parse("2026-11-15T12:00:00.000Z");
const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];

test.each([
  [0, "just now"],
  [42 * SECOND, "42 s ago"],
  [5 * MINUTE, "5 min ago"],
  [3 * HOUR, "3 h ago"],
  [44 * DAY, "44 d ago"],
  [400 * DAY, "2025-10-11"],
])("[CLI-12] %d ms ago is said as people say it: %s", (ms, said) => {
  expect(ago(new Date(NOW - ms).toISOString(), NOW)).toBe(said);
});

test("[CLI-12] a time that is none is told as it stands", () => {
  expect(ago("long ago", NOW)).toBe("long ago");
});

test.each([
  [999, "999 B"],
  [1_234, "1.2 kB"],
  [56_000_000, "56 MB"],
  [7.5e9, "7.5 GB"],
  [3e15, "3000 TB"],
])("[CLI-12] %d bytes are %s", (number, said) => {
  expect(bytes(number)).toBe(said);
});

test.each([
  [12, "12 ms"],
  [3_400, "3.4 s"],
  [2 * MINUTE, "2 min"],
  [36 * HOUR, "36 h"],
  [30 * DAY, "30 d"],
])("[CLI-12] %d ms last %s", (ms, said) => {
  expect(lasted(ms)).toBe(said);
});

test("[CLI-12] sizes and times are read as they are written, and nothing else is", () => {
  expect([sizeOf("4096"), sizeOf("500 MB"), sizeOf("2 kib"), sizeOf("much")]).toEqual([4096, 5e8, 2048, undefined]);
  expect([durationOf("30d"), durationOf("1.5 h"), durationOf("7"), durationOf("3 moons")]).toEqual([
    30 * DAY,
    1.5 * HOUR,
    undefined,
    undefined,
  ]);
});

test("[CLI-12] what would move the cursor is shown as a sign, a tab as space, and a long text as one line", () => {
  expect(harmless("a\tb\nc\u001b[31m\u202etxt")).toBe("a  b\nc�[31m�txt");
  expect(oneLine("one\n  two   three", 9)).toBe("one two…");
});
