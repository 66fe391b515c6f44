import { expect, test } from "vitest";
import type { CallId } from "../records/ids.ts";
import { isAtRest, sortedByNeed, withChange } from "./epochs.ts";

const epochs = Array.from({ length: 12 }, (_, nth) => ({ base: nth * 10, changes: [nth * 10 + 1] }));
const boundary = (before: number, rewound = false) =>
  ({ callId: "call" as CallId, tool: "edit", status: "success", before, after: before + 1, rewound }) as const;

test("[TURN-10] the state that the oldest boundary builds on is kept, and so are the two newest", () => {
  expect(sortedByNeed(epochs, [boundary(85)]).epochs[0]?.base).toBe(80);
  expect(sortedByNeed(epochs, [boundary(5, true), boundary(85)]).epochs[0]?.base).toBe(80);
  expect(sortedByNeed(epochs, []).epochs.map(({ base }) => base)).toEqual([100, 110]);
});

test("[TURN-10] little that is not needed stays until it is worth a commit", () => {
  expect(sortedByNeed(epochs, [boundary(75)])).toEqual({ epochs, stale: [] });
  expect(sortedByNeed(epochs, [boundary(85)]).stale).toHaveLength(8);
});

test("[TURN-10] nothing is to be kept anew while nothing changed and nothing could go", () => {
  const rest = epochs.with(-1, { base: 110, changes: [] });
  expect(isAtRest(rest, [boundary(5)])).toBe(true);
  expect(isAtRest(withChange(rest, 112), [boundary(5)])).toBe(false);
  expect(isAtRest(rest, [])).toBe(false);
});
