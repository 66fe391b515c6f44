import { expect, test } from "vitest";
import { defineSlice } from "../../src/state/slice.ts";
import { writes } from "../support/calls.ts";
import { opened } from "../support/durable.ts";

const LENGTH = 200_000;
const rows = defineSlice("rows", {
  initial: [] as readonly number[],
  on: { read: (now: readonly number[], found: readonly number[]) => [...now, ...found], cleared: () => [] },
});
const read = writes("read", (_, call) => {
  call.dispatch(rows.read(Array.from({ length: LENGTH }, (_, nth) => nth)));
});
const clear = writes("clear", (_, call) => {
  call.dispatch(rows.cleared());
});
const OPTIONS = { tools: [read, clear], slices: [rows] };

test("[TURN-4] [SLICE-2] what a call added at once is all there in the next process, however much it is", async () => {
  const { disk, deps, session } = await opened(undefined, OPTIONS);
  await session.runTool({ name: "read", input: {} });
  await session.close();
  await deps.store.close();
  const again = await opened(disk, OPTIONS);
  expect(again.session.recovered).toEqual({ closedCalls: [], damaged: [] });
  expect(again.session.state.session.get(rows)).toHaveLength(LENGTH);
});

test("[TURN-4] [SLICE-2] what a rewind brought back at once is all there in the next process", async () => {
  const { disk, deps, session } = await opened(undefined, OPTIONS);
  await session.runTool({ name: "read", input: {} });
  const { callId } = await session.runTool({ name: "clear", input: {} });
  await session.rewind({ before: callId });
  await session.close();
  await deps.store.close();
  const again = await opened(disk, OPTIONS);
  expect(again.session.state.session.get(rows).at(-1)).toBe(LENGTH - 1);
});
