import fc from "fast-check";
import { expect, test } from "vitest";
import { mendText, textFlaws } from "./flaws.ts";

test("[DOC-7] lone surrogates and NUL are found in every text, pairs are left alone", () =>
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" }), { maxLength: 4 }), (texts) => {
      const json = JSON.stringify({ texts });
      const mended = JSON.parse(mendText(json)) as { texts: string[] };
      const sendable = texts.map((text) => text.toWellFormed().replaceAll("\0", "\uFFFD"));
      expect(mended.texts).toEqual(sendable);
      const bad = texts.some((text) => !text.isWellFormed() || text.includes("\0"));
      expect(textFlaws(json).includes("unsendable-text")).toBe(bad);
    }),
    { numRuns: 500 },
  ));

test("[DOC-7] a text that only speaks of an escape is not one", () => {
  const json = JSON.stringify({ code: "write \\ud83d or \\u0000" });
  expect(textFlaws(json)).toEqual([]);
  expect(mendText(json)).toBe(json);
});

test("[DOC-7] raw line separators become escapes of the same character", () => {
  const json = JSON.stringify({ text: "a\u2028b\u2029c" });
  expect(textFlaws(json)).toEqual(["line-separator"]);
  expect(textFlaws(mendText(json))).toEqual([]);
  expect(JSON.parse(mendText(json))).toEqual({ text: "a\u2028b\u2029c" });
});

test("[DOC-7] a high surrogate before anything but its other half stands alone", () => {
  expect(mendText('"\\ud83d\\ud83d\\ude00"')).toBe('"\\ufffd\\ud83d\\ude00"');
  expect(mendText('"\\ud83d\\n"')).toBe('"\\ufffd\\n"');
  expect(mendText('"\\ud83dx\\ude00"')).toBe('"\\ufffdx\\ufffd"');
});
