import { expect, test } from "vitest";
import type { CallId } from "../records/ids.ts";
import { reachingTo, rewoundTo, type ToolBoundary, withClosed } from "./tool-boundaries.ts";

const id = (name: string) => name as CallId;
const closed = (boundaries: readonly ToolBoundary[], name: string, seq: number, inside: Record<string, string> = {}) =>
  withClosed(
    boundaries,
    new Map(Object.entries(inside).map(([inner, outermost]) => [inner, id(outermost)])),
    { callId: id(name), tool: "edit", status: "success" },
    seq,
  );
const ranges = (boundaries: readonly ToolBoundary[]) =>
  boundaries.map(({ callId, before, after }) => [callId, before, after]);

test("[TURN-10] calls that ended right before the call they ran inside have its boundary, and earlier ones their own", () => {
  const inside = { one: "outer", two: "outer" };
  const earlier = closed([], "earlier", 4);
  const both = closed(closed(earlier, "one", 8, inside), "two", 9, inside);
  expect(ranges(both)).toEqual([
    ["earlier", 3, 4],
    ["one", 7, 8],
    ["two", 8, 9],
  ]);
  const all = closed(both, "outer", 10, inside);
  expect(ranges(all)).toEqual([
    ["earlier", 3, 4],
    ["one", 7, 10],
    ["two", 7, 10],
    ["outer", 7, 10],
  ]);
  expect(ranges(reachingTo(all, new Map(), id("outer"), 11)).slice(1)).toEqual([
    ["one", 7, 11],
    ["two", 7, 11],
    ["outer", 7, 11],
  ]);
});

test("[TURN-10] a boundary that was taken back is reached by no later change of a call of its name", () => {
  const back = rewoundTo(closed(closed([], "kept", 2), "gone", 5), 2);
  expect(back.map(({ callId, rewound }) => [callId, rewound])).toEqual([
    ["kept", false],
    ["gone", true],
  ]);
  expect(reachingTo(back, new Map(), id("gone"), 9)).toBe(back);
});
