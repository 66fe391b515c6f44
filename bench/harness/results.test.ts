import { describe, expect, test } from "vitest";
import { inUnit, judge } from "./bars.ts";
import type { Bar, Workload } from "./contract.ts";
import { type Narrow, narrowed } from "./narrow.ts";
import { type Measured, Results } from "./results.ts";
import { growthExponent, median } from "./statistics.ts";
import { defineTrial } from "./trial.ts";

const measured = (cell: string, size: number, totals: readonly number[]): readonly Measured[] =>
  totals.map((total, round) => ({
    task: { case: "work", cell, size, round },
    sample: { figures: { total }, proof: undefined, peakMegabytes: 1 },
  }));

describe("statistics", () => {
  test("the median of an even number of values lies between the middle two", () => {
    expect(median([4, 1, 3])).toBe(3);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(() => median([])).toThrow(RangeError);
  });

  test("the exponent tells flat, linear and quadratic apart", () => {
    const sizes = [10, 100, 1000];
    expect(growthExponent(sizes.map((size) => ({ size, cost: 7 })))).toBeCloseTo(0);
    expect(growthExponent(sizes.map((size) => ({ size, cost: 3 * size })))).toBeCloseTo(1);
    expect(growthExponent(sizes.map((size) => ({ size, cost: size ** 2 / 5 })))).toBeCloseTo(2);
    expect(() => growthExponent([{ size: 10, cost: 1 }])).toThrow(RangeError);
  });
});

describe("ratios", () => {
  test("are taken within a round, so a slow round does not tilt them", () => {
    const results = new Results([...measured("ours", 1, [150, 1500, 150]), ...measured("raw", 1, [100, 1000, 100])]);
    expect(results.ratio({ case: "work", cell: "ours" }, { case: "work", cell: "raw" })).toBe(1.5);
  });

  test("need a size where several were measured, and a place that was", () => {
    const results = new Results([...measured("ours", 1, [1]), ...measured("ours", 2, [1])]);
    expect(() => results.median({ case: "work", cell: "ours" })).toThrow("name one");
    expect(() => results.median({ case: "work", cell: "theirs" })).toThrow("nothing was measured");
    expect(() => results.median({ case: "work", cell: "ours", size: 1, figure: "end" })).toThrow("no such figure");
  });
});

describe("bars", () => {
  const of = { case: "work", cell: "ours" };
  const to = { case: "work", cell: "raw" };

  test("print both sides, and say ok or short", () => {
    const results = new Results([...measured("ours", 1, [160]), ...measured("raw", 1, [100])]);
    const at = (limit: { atMost: number } | { atLeast: number }): Bar => ({
      kind: "ratio",
      what: "ratio",
      of,
      to,
      ...limit,
    });
    expect(judge(at({ atMost: 1.5 }), results).line).toBe("ratio 1.60 × (bar 1.50 ×) short");
    expect(judge(at({ atLeast: 1.5 }), results).line).toBe("ratio 1.60 × (bar 1.50 ×) ok");
    const value: Bar = { kind: "value", what: "opening", of, unit: "ns", atMost: 3e8 };
    expect(judge(value, results).line).toBe("opening 160 ns (bar 300 ms) ok");
  });

  test("let growth exceed the reference's by so much and no more", () => {
    const linear = [10, 100, 1000].flatMap((size) => measured("raw", size, [size]));
    const worse = (exponent: number) =>
      new Results([...linear, ...[10, 100, 1000].flatMap((size) => measured("ours", size, [5 * size ** exponent]))]);
    const bar: Bar = { kind: "growth", what: "growth", of, to, within: 0.1 };
    expect(judge(bar, worse(1.05)).line).toBe("growth 1.05 (bar 1.10) ok");
    expect(judge(bar, worse(1.2)).ok).toBe(false);
  });

  test("show three digits in a fitting unit", () => {
    expect([0.5, 12, 1234, 5_678_000, 9e9].map((value) => inUnit(value, "ns"))).toEqual([
      "0.50",
      "12.0 ns",
      "1.23 µs",
      "5.68 ms",
      "9.00 s",
    ]);
  });
});

describe("a trial", () => {
  test("is timed without its preparation and without the others' turns", async () => {
    const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
    const trial = defineTrial({
      prepare: () => wait(30),
      run: async (_, turn) => turn.pass(),
      verify: () => "proof",
    });
    const sample = await trial.measure({} as never, () => wait(30));
    expect(sample.proof).toBe("proof");
    expect(sample.figures["total"]).toBeLessThan(10_000_000);
  });
});

describe("a part of a workload", () => {
  const cells = {};
  const bar = (name: string, size?: number): Bar => {
    const of = { case: name, cell: "ours", ...(size === undefined ? {} : { size }) };
    return { kind: "ratio", what: `${name} ${size}`, of, to: { ...of, cell: "raw" }, atMost: 2 };
  };
  const growth = (name: string): Bar => {
    const of = { case: name, cell: "ours" };
    return { kind: "growth", what: `growth of ${name}`, of, to: { ...of, cell: "raw" }, within: 0.1 };
  };
  const whole: Workload = {
    about: "work",
    cases: [
      { name: "write", sizes: [10, 100, 1000], quick: { sizes: [10] }, reference: "raw", cells },
      { name: "read", sizes: [10, 100], reference: "raw", cells },
    ],
    bars: [bar("write", 10), bar("write", 1000), growth("write"), bar("read", 100), growth("read")],
  };
  const judged = (narrow: Narrow) => narrowed(whole, narrow).bars.map(({ what }) => what);

  test("is judged by the bars that need no more than it", () => {
    expect(judged({})).toEqual(whole.bars.map(({ what }) => what));
    expect(judged({ quick: true })).toEqual(["write 10", "read 100", "growth of read"]);
    expect(judged({ case: "write" })).toEqual(["write 10", "write 1000", "growth of write"]);
    expect(judged({ case: "write", quick: true })).toEqual(["write 10"]);
  });

  test("has the cases that were asked for", () => {
    expect(narrowed(whole, { case: "rea" }).cases.map(({ name }) => name)).toEqual(["read"]);
    expect(narrowed(whole, { case: "sort" }).cases).toEqual([]);
  });
});
