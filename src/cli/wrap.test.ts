import fc from "fast-check";
import { expect, test } from "vitest";
import { wrapped } from "./wrap.ts";

test("[DOC-30] a long line is cut at spaces, says the same words, and fits where its words do", () => {
  const words = fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(words, fc.integer({ min: 24, max: 100 }), (all, columns) => {
      const lines = wrapped(`  ${all.join(" ")}`, columns);
      expect(lines.flatMap((line) => line.trim().split(" "))).toEqual(all);
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
    }),
  );
});

test("[DOC-30] a word that is longer than the line is left whole", () => {
  expect(wrapped(`see ${"x".repeat(90)} there`, 80)).toEqual(["see", `  ${"x".repeat(90)}`, "  there"]);
  expect(wrapped("short", 80)).toEqual(["short"]);
  expect(wrapped("x ".repeat(90), undefined)).toHaveLength(1);
});
