import { expect, test } from "vitest";
import { type BranchCounts, merged, withoutProven } from "../../scripts/branches/branches.ts";
import { figures } from "../../scripts/branches/figures.ts";

/** One `if` with two arms, taken so often. */
const file = (line: number, ...taken: readonly number[]): BranchCounts => ({
  branchMap: { 0: { type: "if", locations: taken.map((_, nth) => ({ start: { line, column: nth } })) } },
  b: { 0: taken },
});

test("a branch counts when anybody took it: the tests, or a process that they started", () => {
  const own = { "/src/base/a.ts": file(3, 1, 0), "/src/base/b.ts": file(5, 0, 0) };
  const children = new Map([["/src/base/a.ts", file(3, 0, 2)]]);
  expect(figures(merged(own, new Map()), "/src").lines[0]).toBe("coverage:  25.0 % of 4 branches");
  expect(figures(merged(own, children), "/src").lines[0]).toBe("coverage:  50.0 % of 4 branches");
});

test("a branch of a critical file that nobody took is named by its line, and the floor is seen", () => {
  const { lines, ok } = figures(merged({ "/src/turn/recover.ts": file(37, 1, 0) }, new Map()), "/src");
  expect(lines).toContain("  turn/recover.ts: not taken at 37");
  expect(lines).toContain("  transaction/settle.ts: no test has loaded it");
  expect(ok).toBe(false);
});

test("the end of a switch over every case is no branch: only the types could take it", () => {
  const code = "switch (kind) {\n  case 1:\n    return;\n  default:\n    return unreachable(kind);\n}\n";
  const [arms = new Map()] = merged({ "/src/base/a.ts": file(4, 0) }, new Map()).values();
  expect([withoutProven(arms, code).size, withoutProven(arms, code.replace("unreachable", "other")).size]).toEqual([
    0, 1,
  ]);
});
