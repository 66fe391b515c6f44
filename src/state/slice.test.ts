import { describe, expect, test } from "vitest";
import type { StandardSchema } from "../contracts/schema.ts";
import { DEFAULT_SLICES, Plan, ToolInvoked, VisibilityOverrides, WorkspaceDigest } from "./default-slices.ts";
import { ExecutionState } from "./execution-state.ts";
import { reducers } from "./reducers.ts";
import { type AnySlice, anyPartOf, defineSlice, partOf } from "./slice.ts";

const numbers: StandardSchema<readonly number[]> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) =>
      Array.isArray(value) && value.every((element) => typeof element === "number")
        ? { value: value as readonly number[] }
        : { issues: [{ message: "not a list of numbers" }] },
  },
};

const count = defineSlice("count", {
  initial: 0,
  on: { added: (now: number, by: number) => now + by, broken: () => Number.NaN, threw: () => thrown() },
});
const list = defineSlice("list", {
  initial: [] as readonly unknown[],
  on: { pushed: reducers.append<unknown>, replaced: (_: readonly unknown[], to: unknown) => to as readonly unknown[] },
});
const checked = defineSlice("checked", {
  initial: [] as readonly number[],
  schema: numbers,
  on: { all: (_, to: readonly number[]) => to },
});

function thrown(): never {
  throw new RangeError("no such number");
}

function stateWith(...slices: readonly AnySlice[]): ExecutionState {
  return ExecutionState.create({ slices });
}

describe("a slice", () => {
  test("[SLICE-1] has a JSON value from its definition on", () => {
    expect(() => defineSlice("bad", { initial: new Map(), on: {} })).toThrowError(
      expect.objectContaining({ code: "SLICE_NOT_JSON" }),
    );
    expect(() => defineSlice("bad", { initial: { at: new Date(0) }, on: {} })).toThrowError(
      expect.objectContaining({ code: "SLICE_NOT_JSON", details: expect.objectContaining({ path: "$.at" }) }),
    );
  });

  test.each([
    ["NaN", count, count.broken()],
    ["a date inside", list, list.pushed({ at: new Date(0) })],
    ["a date in place of an object", list, list.replaced([new Date(0)])],
    ["undefined in a list", list, list.pushed(undefined)],
    ["undefined in place of the value", list, list.replaced(undefined)],
    ["a big integer", list, list.pushed(10n)],
    ["a prototype key", list, list.pushed(JSON.parse('{"__proto__": 1}'))],
    ["a subclass of Array", list, list.replaced(new (class extends Array {})())],
    ["a list with a field", list, list.replaced(Object.assign([1], { extra: 1 }))],
  ])(
    "[SLICE-1] a reducer's result that JSON would change is refused and changes nothing: %s",
    async (_name, slice, event) => {
      const state = stateWith(slice);
      const before = state.root;
      await expect(state.session.dispatch(event)).rejects.toMatchObject({ code: "SLICE_NOT_JSON" });
      expect(state.root).toBe(before);
    },
  );

  test.each([
    ["a date in place of an object", { a: { b: new Date(0) } }],
    ["a prototype key beside a field", { a: JSON.parse('{"b": 1, "__proto__": 2}') as object }],
    ["a prototype under a constructor", { a: { b: 1, constructor: { prototype: 1 } } }],
    ["a symbol beside a field", { a: { b: 1, [Symbol("s")]: 1 } }],
    ["a function with an inherited name", { a: { b: 1, toString: Reflect.get({}, "toString") as unknown } }],
  ])("[SLICE-1] also in a value that shares the rest with the one before: %s", async (_name, bad) => {
    const deep = defineSlice("deep", {
      initial: { a: { b: 1, constructor: {} }, rest: [1, 2, 3] } as object,
      on: { set: (now: object, part: object) => ({ ...now, ...part }) },
    });
    const state = stateWith(deep);
    await expect(state.session.dispatch(deep.set(bad))).rejects.toMatchObject({ code: "SLICE_NOT_JSON" });
  });

  test("[SLICE-1] a value cannot grow deeper, step by step, than it could be read back", async () => {
    const nested = defineSlice("nested", { initial: [] as unknown, on: { wrapped: (now: unknown) => [now] } });
    const state = stateWith(nested);
    const deeper = async () => {
      for (let level = 0; level < 200; level += 1) await state.session.dispatch(nested.wrapped());
    };
    await expect(deeper()).rejects.toMatchObject({ code: "SLICE_NOT_JSON" });
    expect(state.fromJson(state.toJson(await state.snapshot())).session.slices.get("nested")).toEqual(
      state.session.get(nested),
    );
  });

  test("[SLICE-1] what JSON repairs is kept as it will be read back", async () => {
    const state = stateWith(list);
    await state.session.dispatch(list.pushed({ zero: -0, gone: undefined, text: "\ud800" }));
    expect(state.session.get(list)).toEqual([{ zero: 0, text: "\ufffd" }]);
    expect(Object.is((state.session.get(list)[0] as { zero: number }).zero, 0)).toBe(true);
  });

  test("[SLICE-1] a proxy is kept as what it answered, not as something that may answer otherwise", async () => {
    const state = stateWith(list);
    let answer = 1;
    await state.session.dispatch(
      list.pushed(new Proxy({ a: 0 }, { get: (target, key) => (key === "a" ? answer++ : Reflect.get(target, key)) })),
    );
    const kept = state.session.get(list);
    expect(kept).toEqual(kept);
    expect(JSON.stringify(state.session.get(list))).toBe(JSON.stringify(state.session.get(list)));
  });

  test("[SLICE-4] [K16] a reducer that throws is told and changes nothing", async () => {
    const state = stateWith(count);
    const before = state.root;
    await expect(state.session.dispatch(count.threw())).rejects.toMatchObject({
      code: "REDUCER_FAILED",
      cause: new RangeError("no such number"),
    });
    expect(state.root).toBe(before);
  });

  test("[SLICE-6] a whole value passes the schema, from a seed and from a snapshot alike", async () => {
    const state = stateWith(checked);
    await expect(state.session.seed(checked, ["one"] as never)).rejects.toMatchObject({ code: "SLICE_INVALID" });
    await state.session.seed(checked, [1, 2]);
    const lenient = defineSlice("checked", { initial: ["of another version"], on: {} });
    const other = stateWith(lenient);
    const text = other.toJson(await other.snapshot());
    expect(() => state.fromJson(text)).toThrowError(expect.objectContaining({ code: "SLICE_INVALID" }));
    const later = { "~standard": { ...numbers["~standard"], validate: async () => ({ value: [] }) } };
    const slow = () => defineSlice("slow", { initial: [] as readonly number[], schema: later, on: {} });
    expect(slow).toThrowError(expect.objectContaining({ code: "BAD_OPTION" }));
  });

  test("[SLICE-12] what does not pass is told with its place in the value", async () => {
    const schema: StandardSchema<{ readonly steps: readonly { readonly title: string }[] }> = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value) => {
          const { steps } = value as { readonly steps: readonly { readonly title: string }[] };
          const at = steps.findIndex(({ title }) => typeof title !== "string");
          return at < 0
            ? { value: { steps } }
            : { issues: [{ message: "no text", path: ["steps", { key: at }, "title"] }] };
        },
      },
    };
    const plan = defineSlice("plan", { initial: { steps: [] }, schema, on: {} });
    const wrong = stateWith(plan).session.seed(plan, { steps: [{ title: "one" }, { title: 2 as never }] });
    await expect(wrong).rejects.toMatchObject({
      code: "SLICE_INVALID",
      details: { slice: "plan", issue: "steps.1.title: no text" },
    });
  });

  test("[SLICE-13] a slice that the state has not is refused, read from outside as from a call", () => {
    const { session } = stateWith(count);
    for (const read of [() => session.get(list), () => session.all(list), () => session.latest(list)])
      expect(read).toThrowError(expect.objectContaining({ code: "SLICE_UNKNOWN", details: { slice: "list" } }));
  });

  test("names and events are checked", async () => {
    expect(() => defineSlice("no spaces", { initial: 0, on: {} })).toThrowError(
      expect.objectContaining({ code: "BAD_OPTION" }),
    );
    const state = stateWith(count);
    const foreign = { slice: "count", event: "toString", payload: undefined };
    await expect(state.session.dispatch(foreign)).rejects.toMatchObject({ code: "SLICE_EVENT_UNKNOWN" });
    await expect(state.session.dispatch(list.pushed(1))).rejects.toMatchObject({ code: "SLICE_UNKNOWN" });
    expect(() => stateWith(count, defineSlice("count", { initial: 1, on: {} }))).toThrowError(
      expect.objectContaining({ code: "SLICE_EXISTS" }),
    );
  });

  test("[SLICE-8] in development a reducer that changes its input in place throws where the mistake is", async () => {
    const sloppy = defineSlice("sloppy", {
      initial: [] as readonly { n: number }[],
      on: {
        added: reducers.append<{ n: number }>,
        bumped: (now: readonly { n: number }[]) => {
          for (const element of now) element.n += 1;
          return now;
        },
      },
    });
    const state = ExecutionState.create({ slices: [sloppy], development: true });
    await state.session.dispatch(sloppy.added({ n: 1 }));
    await expect(state.session.dispatch(sloppy.bumped())).rejects.toMatchObject({ code: "REDUCER_FAILED" });
    expect(state.session.get(sloppy)).toEqual([{ n: 1 }]);
  });
});

describe("the built-in reducers", () => {
  interface Item {
    readonly id: string;
    readonly n: number;
  }
  const a = { id: "a", n: 1 };
  const b = { id: "b", n: 2 };
  const a2 = { id: "a", n: 3 };
  const id = (item: Item) => item.id;

  test.each([
    ["append", reducers.append<Item>, [a, b, a2]],
    ["upsertBy", reducers.upsertBy(id), [a2, b]],
    ["replaceLatest", reducers.replaceLatest<Item>, [a2]],
    ["replaceLatestBy", reducers.replaceLatestBy(id), [b, a2]],
  ])("[SLICE-3] %s", (_name, reduce, expected) => {
    const step = reduce as (now: readonly Item[], item: Item) => readonly Item[];
    expect([a, b, a2].reduce<readonly Item[]>(step, [])).toEqual(expected);
  });

  test("[SLICE-3] appendNewest keeps at least the newest so many and never twice as many and one", () => {
    const step = reducers.appendNewest<number>(10);
    let now: readonly number[] = [];
    for (let n = 0; n < 1000; n += 1) {
      now = step(now, n);
      expect(now.at(-1)).toBe(n);
      expect(now.length).toBeLessThanOrEqual(20);
      expect(now.slice(-10)).toEqual(Array.from({ length: Math.min(10, n + 1) }, (_, i) => Math.max(0, n - 9) + i));
    }
  });
});

describe("the default slices", () => {
  test("[SLICE-9] are in every state, with the seed's policies", () => {
    const policies = Object.fromEntries(DEFAULT_SLICES.map(anyPartOf).map(({ name, policy }) => [name, policy]));
    expect(policies).toEqual({
      Plan: "state",
      VisibilityOverrides: "state",
      WorkspaceDigest: "cache",
      ToolInvoked: "log",
      PromptRendered: "log",
      PromptExecuted: "log",
    });
    const state = ExecutionState.create();
    expect([...state.root.keys()]).toEqual(Object.keys(policies));
    expect(partOf(count).policy).toBe("state");
    expect(ExecutionState.create({ slices: [Plan] }).root.has("Plan")).toBe(true);
  });

  test("[SLICE-9] work with the seed's verbs", async () => {
    const { session } = ExecutionState.create();
    await session.seed(Plan, [{ objective: "test", status: "active" }]);
    expect(session.latest(Plan)?.objective).toBe("test");
    await session.broadcast(Plan.set({ objective: "other", status: "done" }));
    expect(session.all(Plan)).toEqual([{ objective: "other", status: "done" }]);
    await session.dispatch(VisibilityOverrides.set({ section: "a", visibility: "full" }));
    await session.dispatch(VisibilityOverrides.set({ section: "a", visibility: "summary" }));
    expect(session.get(VisibilityOverrides)).toEqual([{ section: "a", visibility: "summary" }]);
    await session.dispatch(VisibilityOverrides.cleared("a"));
    await session.clear(Plan);
    expect([session.get(Plan), session.get(VisibilityOverrides), session.latest(ToolInvoked)]).toEqual([
      [],
      [],
      undefined,
    ]);
    await session.dispatch(WorkspaceDigest.set({ section: "w", digest: "1" }));
    expect(session.latest(WorkspaceDigest)?.digest).toBe("1");
  });
});

describe("a cache", () => {
  const source = defineSlice("source", { initial: 1, on: { set: (_: number, to: number) => to } });
  const doubled = defineSlice("doubled", {
    initial: null as number | null,
    policy: "cache",
    on: { kept: (_: number | null, to: number) => to },
    recompute: (read) => read(source) * 2,
  });

  test("[SLICE-5] is computed when it is empty, and emptied by a restore", async () => {
    const state = stateWith(source, doubled);
    expect(state.session.get(doubled)).toBe(2);
    const before = await state.snapshot();
    await state.session.dispatch(source.set(5));
    await state.session.dispatch(doubled.kept(10));
    expect(state.session.get(doubled)).toBe(10);
    await state.restore(before);
    expect(state.root.get("doubled")).toBe(null);
    expect(state.session.get(doubled)).toBe(2);
  });

  test("[SLICE-5] is emptied also when others were chosen, and not when nothing changes", async () => {
    const state = stateWith(source, doubled);
    const before = await state.snapshot();
    await state.session.dispatch(source.set(5));
    await state.session.dispatch(doubled.kept(10));
    expect((await state.restore(before, { slices: ["Plan"] })).slices).toEqual([]);
    expect(state.session.get(doubled)).toBe(10);
    expect(state.planRestore(before, { slices: ["source"] }).slices).toEqual(["source", "doubled"]);
    await state.restore(before, { slices: ["source"] });
    expect(state.session.get(doubled)).toBe(2);
    await state.session.dispatch(source.set(5));
    await state.session.dispatch(doubled.kept(10));
    const both = await state.snapshot({ includeAll: true });
    await state.session.dispatch(source.set(7));
    await state.session.dispatch(doubled.kept(14));
    await state.restore(both, { slices: ["source", "doubled"] });
    expect([state.root.get("source"), state.root.get("doubled")]).toEqual([5, 10]);
  });
});
