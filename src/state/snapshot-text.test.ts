import { expect, test } from "vitest";
import { steps } from "../../test/support/calls.ts";
import { ExecutionState } from "./execution-state.ts";
import { type SnapshotLadder, snapshotFromText, snapshotToText } from "./snapshot-text.ts";

test("[SNAP-4] that reads the same and is written otherwise, or says another version, is refused", async () => {
  const state = ExecutionState.create({ slices: [steps] });
  await state.session.dispatch(steps.added("one"));
  const text = state.toJson(await state.snapshot());
  const whole = JSON.parse(text) as object;
  for (const other of [
    JSON.stringify(whole),
    JSON.stringify(whole, undefined, 2),
    ` ${text}`,
    `${text}\n`,
    text.replace('"version":1', '"version":0'),
    text.replace('"version":1', '"version":1.0'),
    text.replace('{"version"', '{"also":1,"version"'),
  ])
    expect(() => state.fromJson(other)).toThrowError(
      expect.objectContaining({ code: "SNAPSHOT_CORRUPT", details: { entry: "list of entries" } }),
    );
  expect(() => state.fromJson(text.replace('["slices/steps",', '["slices/steps", '))).toThrowError(
    expect.objectContaining({ code: "SNAPSHOT_CORRUPT", details: { entry: "slices/steps" } }),
  );
  const { parts } = state.truth;
  const ladder = (version: number): SnapshotLadder => ({ version, lifts: [] });
  const second = snapshotToText(await state.snapshot(), parts, ladder(2));
  for (const version of [1, 0]) {
    const older = second.replace('"version":2', `"version":${version}`);
    expect(() => snapshotFromText(older, parts, ladder(2))).toThrowError(
      expect.objectContaining({ code: "SNAPSHOT_CORRUPT" }),
    );
  }
});

test("[SNAP-1] whoever changes the tags they gave changes no state and no snapshot", () => {
  const tags = { who: "me" };
  const state = ExecutionState.create({ tags });
  const taken = state.session.snapshot();
  tags.who = "you";
  expect([taken.tags, state.session.snapshot().tags]).toEqual([{ who: "me" }, { who: "me" }]);
  expect(() => Object.assign(taken.tags, { who: "you" })).toThrow(TypeError);
});
