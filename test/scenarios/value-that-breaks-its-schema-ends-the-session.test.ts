import { describe, expect, test } from "vitest";
import type { StandardSchema } from "../../src/contracts/schema.ts";
import { defineSlice } from "../../src/state/slice.ts";
import { writes } from "../support/calls.ts";
import { kernel, opened } from "../support/durable.ts";
import { MemoryDisk } from "../support/stores.ts";

const schemaOf = <T>(what: string, fits: (value: unknown) => boolean): StandardSchema<T> => ({
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) => (fits(value) ? { value: value as T } : { issues: [{ message: what }] }),
  },
});

const whole = defineSlice("whole", {
  initial: [] as readonly number[],
  schema: schemaOf<readonly number[]>(
    "whole numbers only",
    (value) => Array.isArray(value) && value.every(Number.isInteger),
  ),
  on: { added: (now, number: number) => [...now, number] },
});
const credential = defineSlice("credential", {
  initial: "",
  schema: schemaOf<string>("a token of GitHub's", (value) => value === "" || String(value).startsWith("ghp_")),
  on: { given: (_, token: string) => token },
});
const add = writes<number>("add", async (number, call) => {
  call.dispatch(whole.added(number));
  return "added";
});
const keep = writes<string>("keep", async (token, call) => {
  call.dispatch(credential.given(token));
  return "kept";
});
const OPTIONS = { tools: [add, keep], slices: [whole, credential] };

describe("[SLICE-11] a value that does not pass its slice's schema", () => {
  test("is no initial one: it would be in the first checkpoint", () => {
    const schema = schemaOf<number | null>("a number", (value) => typeof value === "number");
    const make = () => defineSlice("unset", { initial: null as number | null, schema, on: {} });
    expect(make).toThrowError(expect.objectContaining({ code: "SLICE_INVALID" }));
  });

  test.each([
    ["because a reducer made it so", { name: "add", input: 1.5 }],
    ["because a secret was hidden in it", { name: "keep", input: `ghp_${"a7Z9".repeat(9)}` }],
  ])("%s fails its call, and the session can be opened after the next checkpoint", async (_, call) => {
    const disk = new MemoryDisk();
    const { session } = await opened(disk, OPTIONS);
    expect((await session.runTool({ name: "add", input: 1 })).status).toBe("success");
    expect(await session.runTool(call)).toMatchObject({ status: "failed", output: expect.stringContaining("schema") });
    await expect(session.state.session.dispatch(whole.added(0.1))).rejects.toMatchObject({ code: "SLICE_INVALID" });
    await session.checkpoint();
    await session.close();
    const again = await kernel(disk, OPTIONS).holdfast.open("s");
    expect(again.state.session.get(whole)).toEqual([1]);
    expect(again.state.session.get(credential)).toBe("");
    await again.close();
  });
});
