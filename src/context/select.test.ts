import { describe, expect, test } from "vitest";
import type { ResidencyLevel } from "./kind.ts";
import { type Candidate, selectLevels } from "./select.ts";

const page = (id: string, more: Partial<Candidate> = {}): Candidate => ({
  id,
  kind: "evidence",
  pin: "none",
  baseUtility: 5,
  recency: 1,
  recomputeCost: 6,
  tokens: { full: 100, compressed: 40, structured: 20, pointer: 5 },
  ...more,
});
const rule = (id: string, tokens: number, more: Partial<Candidate> = {}) =>
  page(id, { kind: "constraint", pin: "hard", tokens: { full: tokens * 2, structured: tokens }, ...more });
const levels = (selection: ReturnType<typeof selectLevels>) => Object.fromEntries(selection.levels);

describe("floors come first", () => {
  test("[VIEW-8] [P04] pins that fit exactly are all there at their minimum, and nothing is left", () => {
    const chosen = selectLevels([rule("a", 30), rule("b", 30)], { budget: 60 });
    expect(chosen).toMatchObject({ tokens: 60, unmet: [] });
    expect(levels(chosen)).toEqual({ a: "structured", b: "structured" });
  });

  test("[VIEW-8] [P05] pins that do not fit are listed, with what they need", () => {
    const chosen = selectLevels([rule("a", 30), rule("b", 30), page("c")], { budget: 40 });
    expect(chosen.unmet).toEqual([{ page: "b", level: "structured", needs: 30 }]);
    expect(chosen.levels.get("a")).toBe("structured");
  });

  test("[VIEW-8] instructions go before rules, rules before what somebody demanded", () => {
    const boot = page("z", { kind: "bootstrap", pin: "hard", tokens: { full: 50, structured: 30 } });
    const wanted = page("a", { demanded: "full" });
    expect(selectLevels([wanted, rule("b", 30), boot], { budget: 60 }).unmet.map(({ page: id }) => id)).toEqual(["a"]);
    expect(selectLevels([wanted, rule("b", 30), boot], { budget: 30 }).unmet.map(({ page: id }) => id)).toEqual([
      "b",
      "a",
    ]);
  });

  test("[VIEW-10] [P08] a page demanded at full is at full, or it is unmet", () => {
    const wanted = page("a", { demanded: "full" });
    expect(levels(selectLevels([page("b"), wanted], { budget: 100 }))).toMatchObject({ a: "full" });
    expect(selectLevels([wanted, page("b")], { budget: 99 }).unmet).toEqual([{ page: "a", level: "full", needs: 100 }]);
  });

  test("[VIEW-10] a page without a fresh representation is unmet, and the selector makes none", () => {
    expect(selectLevels([rule("a", 1, { tokens: {} })], { budget: 60 }).unmet).toEqual([
      { page: "a", level: "structured" },
    ]);
  });
});

describe("what is left", () => {
  test("[VIEW-10] [P09] goes to pointers by what they cost to get again, then to the best utility for each token", () => {
    const dear = page("dear", { recomputeCost: 12 });
    const cheap = page("cheap", { recomputeCost: 6 });
    expect(levels(selectLevels([cheap, dear], { budget: 5 }))).toEqual({ dear: "pointer" });
    const small = page("small", { tokens: { full: 10, pointer: 5 } });
    expect(levels(selectLevels([cheap, small], { budget: 15 }))).toEqual({ cheap: "pointer", small: "full" });
  });

  test("[VIEW-10] [P07] is spent step by step: no step before the one below it", () => {
    // Compressed is the better bargain; without structured it may not be had.
    const bargain = page("a", { tokens: { full: 100, compressed: 21, structured: 20, pointer: 5 } });
    const taken: (ResidencyLevel | undefined)[] = [5, 19, 20, 21, 99, 100].map((budget) =>
      selectLevels([bargain], { budget }).levels.get("a"),
    );
    expect(taken).toEqual(["pointer", "pointer", "structured", "compressed", "compressed", "full"]);
  });

  test("[VIEW-4] [P06] falls to the smaller id when scores are equal, a thousand times alike", () => {
    const equal = ["d", "a", "c", "b"].map((id) => page(id));
    const first = selectLevels(equal, { budget: 50 });
    expect(levels(first)).toEqual({ a: "structured", b: "structured", c: "pointer", d: "pointer" });
    for (let time = 0; time < 1_000; time += 1) {
      const mixed = equal.toSorted(
        (x, y) => ((x.id.charCodeAt(0) * (time + 3)) % 7) - ((y.id.charCodeAt(0) * (time + 3)) % 7),
      );
      expect(levels(selectLevels(mixed, { budget: 50 }))).toEqual(levels(first));
    }
  });

  test("[VIEW-18] goes by demand to come when the future is known", () => {
    const [old, next] = [page("old", { recency: 1 }), page("next", { recency: 0, coming: 2 })];
    const budget = 25;
    expect(levels(selectLevels([old, next], { budget }))).toEqual({ old: "pointer", next: "structured" });
    expect(levels(selectLevels([old, { ...next, coming: 0 }], { budget }))).toEqual({
      old: "structured",
      next: "pointer",
    });
  });
});
