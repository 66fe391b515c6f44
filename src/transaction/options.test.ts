import { expect, test } from "vitest";
import { ExecutionState, type StateOptions } from "../state/execution-state.ts";
import { defineSlice } from "../state/slice.ts";
import { type TransactionOptions, Transactions } from "./transactions.ts";

const refused = (option: string) =>
  expect.objectContaining({ code: "BAD_OPTION", details: expect.objectContaining({ option }) });

test.each([
  [{ slice: [] }, "slice"],
  [{ slices: {} }, "slices"],
  [{ legder: {} }, "legder"],
  [{ development: "yes" }, "development"],
  [{ tags: "a" }, "tags"],
])("[ID-19] a state refuses %j", (options, option) => {
  expect(() => ExecutionState.create(options as unknown as StateOptions)).toThrow(refused(option));
});

test.each([
  [{ commitOrder: "cal" }, "commitOrder"],
  [{ paralel: 2 }, "paralel"],
  [{ parallel: 0 }, "parallel"],
  [{ observe: 3 }, "observe"],
  [{ tools: {} }, "tools"],
])("[ID-19] transactions refuse %j, and the state is left for others", (options, option) => {
  const state = ExecutionState.create();
  expect(() => new Transactions(state, options as unknown as TransactionOptions)).toThrow(refused(option));
  expect(new Transactions(state, { commitOrder: "call", parallel: 2 }).pending).toEqual([]);
});

test.each([
  [{ initial: 0, on: {}, policy: "logs" }, "policy"],
  [{ initial: 0, on: {}, recompte: () => 1 }, "recompte"],
  [{ initial: 0, on: "set" }, "on"],
  [{ initial: 0 }, "on"],
  [{ initial: 0, on: { set: 5 } }, "on"],
  [{ initial: 0, on: {}, schema: { type: "number" } }, "schema"],
])("[ID-19] a slice refuses %j", (spec, option) => {
  expect(() => defineSlice("x", spec as never)).toThrow(refused(option));
});
