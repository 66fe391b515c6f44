import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { call, output, system, think, user } from "../../../test/histories/items.ts";
import { longText, quarters } from "../../../test/support/pages.ts";
import type { Json } from "../../base/json.ts";
import type { Item } from "../../wire/item.ts";
import { budgetWithin, calibrate, reserveOf, UNCALIBRATED } from "./calibrate.ts";
import { itemTokens, MEDIA_COSTS } from "./count.ts";
import { estimateCounter } from "./estimate.ts";
import { countWithoutRuns } from "./runs.ts";

describe("runs", () => {
  test.each([
    ["letters", "a".repeat(100_000)],
    ["spaces", " ".repeat(100_000)],
    ["signs", "=".repeat(100_000)],
    ["base64", "QUJD".repeat(25_000)],
    ["a word without end", "abcdefghij".repeat(10_000)],
  ])("[TOKEN-2] no piece of %s that reaches a tokenizer is long", (_what, text) => {
    let longest = 0;
    const counter = {
      ...quarters,
      count: (piece: string) => ((longest = Math.max(longest, piece.length)), quarters.count(piece)),
    };
    const whole = `before\n${text}\nafter`;
    expect(Math.abs(countWithoutRuns(counter, whole) - quarters.count(whole))).toBeLessThan(100);
    expect(longest).toBeLessThanOrEqual(200);
  });

  test("[TOKEN-2] no run reaches a tokenizer uncut, wherever it stands and whatever is around it", () => {
    const piece = fc
      .tuple(
        fc.constantFrom("a", "é", "字", " ", "\u00a0", "\n", "-", "7", "ab", "x é", "𝒳"),
        fc.integer({ min: 1, max: 230 }),
      )
      .map(([text, times]) => text.repeat(times));
    const long = /\p{L}{201,}|\s{201,}|[^\p{L}\s\d]{201,}/u;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const text = pieces.join("");
        const seen: string[] = [];
        countWithoutRuns({ ...quarters, count: (one) => (seen.push(one), 1) }, text);
        expect(seen.filter((one) => long.test(one))).toEqual([]);
        if (!long.test(text)) expect(seen).toEqual([text]);
      }),
      { numRuns: 500 },
    );
  });

  test("[TOKEN-2] a text without runs goes to the tokenizer as it is", () => {
    const seen: string[] = [];
    const text = longText(300);
    countWithoutRuns({ ...quarters, count: (piece) => (seen.push(piece), 1) }, text);
    expect(seen).toEqual([text]);
  });

  test("[TOKEN-2] a text too long to count is sampled, and not below its length", () => {
    let counted = 0;
    const counter = { ...quarters, count: (piece: string) => ((counted += piece.length), quarters.count(piece)) };
    const text = longText(50_000);
    const tokens = countWithoutRuns(counter, text);
    expect(counted).toBeLessThan(300_000);
    expect(tokens).toBeGreaterThan(quarters.count(text));
    expect(tokens).toBeLessThan(quarters.count(text) * 1.2);
  });
});

describe("calibration", () => {
  const limit = 100_000;

  test("[TOKEN-3] [P23] an estimate that is 30 % too low still stays within the limit", () => {
    const budget = budgetWithin(limit, estimateCounter);
    expect(budget * 1.3).toBeLessThanOrEqual(limit);
    expect(reserveOf({ ...estimateCounter, exact: true })).toBeLessThan(reserveOf(estimateCounter));
  });

  test("[TOKEN-3] what a provider reports moves the budget, and the reserve shrinks with agreement", () => {
    let known = UNCALIBRATED;
    for (let at = 0; at < 10; at += 1) known = calibrate(known, { counted: 1_000, reported: 1_250 });
    expect(known.factor).toBeCloseTo(1.25);
    const budget = budgetWithin(limit, estimateCounter, known);
    expect(budget).toBe(Math.floor((limit / 1.25) * 0.95));
    expect(budget * known.factor).toBeLessThanOrEqual(limit);
  });

  test("[TOKEN-3] reports that disagree widen the reserve again", () => {
    let known = UNCALIBRATED;
    for (const reported of [1_000, 1_010, 1_000, 1_400]) known = calibrate(known, { counted: 1_000, reported });
    expect(reserveOf(estimateCounter, known)).toBeGreaterThan(0.2);
  });

  test("[TOKEN-3] nothing is learnt from nothing", () => {
    expect(calibrate(UNCALIBRATED, { counted: 0, reported: 5 })).toBe(UNCALIBRATED);
    expect(calibrate(UNCALIBRATED, { counted: 5, reported: 0 })).toBe(UNCALIBRATED);
  });
});

describe("an item", () => {
  test("[TOKEN-4] of pictures and files costs what they cost, whatever their text", () => {
    const image = user("", { parts: [{ type: "image", media: { base64: "A".repeat(4_000_000) } }] });
    expect(itemTokens(image, quarters)).toBe(4 + MEDIA_COSTS.image);
    const file = (length: number) => user("", { parts: [{ type: "file", media: { base64: "A".repeat(length) } }] });
    expect(itemTokens(file(10), quarters)).toBe(4 + MEDIA_COSTS.file.least);
    expect(itemTokens(file(1_000_000), quarters)).toBeGreaterThan(40_000);
  });

  test.each(["text/csv", "image/svg+xml", "application/json"])(
    "[TOKEN-4] of a file of words (%s) costs as much as the text it may be shown as",
    (mediaType) => {
      const base64 = Buffer.from("12,34;".repeat(10_000)).toString("base64");
      const type = mediaType.startsWith("image") ? "image" : "file";
      expect(itemTokens(user("", { parts: [{ type, media: { mediaType, base64 } }] }), quarters)).toBeGreaterThan(
        15_000,
      );
    },
  );

  test("[TOKEN-4] of every kind has a price", () => {
    const items = [
      user("hi"),
      system("hi"),
      think("", { signature: "x".repeat(400) }),
      call("c"),
      output("c"),
      output("d", { parts: [], value: { a: 1 } }),
    ];
    for (const item of items) expect(itemTokens(item, quarters)).toBeGreaterThan(4);
    expect(itemTokens({ kind: "approval-request", approvalId: "a" }, quarters)).toBeGreaterThan(0);
    expect(itemTokens({ kind: "other", by: "host" }, quarters)).toBeGreaterThan(0);
  });
});

describe("items that say little", () => {
  test("[TOKEN-1] are counted for what they carry: a seal, a value, a piece of somebody's format", () => {
    const tokens = (item: Item) => itemTokens(item, quarters);
    const bare = tokens(think(""));
    expect(tokens(think("", { signature: "x".repeat(400) })) - bare).toBe(100);
    const { input: _input, ...noInput } = call("c");
    expect(tokens(noInput)).toBe(tokens({ ...noInput, inputText: "null" }));
    const valued = (value: Json) => tokens(output("c", { parts: [], value }));
    expect(valued("x".repeat(400)) - valued("")).toBe(100);
    expect(valued({ a: "x".repeat(400) })).toBeGreaterThan(valued({ a: "" }) + 90);
    const foreign = (piece: unknown) =>
      tokens(user("", { parts: [{ type: "other", origin: { format: "gemini", piece } }] }));
    expect(foreign({ text: "x".repeat(400) })).toBeGreaterThan(foreign(undefined) + 90);
  });
});
