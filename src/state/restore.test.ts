import { describe, expect, test } from "vitest";
import { ExecutionState } from "./execution-state.ts";
import { reducers } from "./reducers.ts";
import { lazily, resourceKey, ResourceRegistry, type Snapshotable } from "./resources.ts";
import { defineSlice } from "./slice.ts";

const steps = defineSlice("steps", { initial: [] as readonly string[], on: { added: reducers.append<string> } });

class Box implements Snapshotable<number> {
  value = 0;
  refuses = 0;

  snapshot(): number {
    return this.value;
  }

  restore(to: number): void {
    if (this.refuses > 0) {
      this.refuses -= 1;
      throw new Error("the box is stuck");
    }
    this.value = to;
  }
}

function setUp() {
  const [a, b] = [new Box(), new Box()];
  const state = ExecutionState.create({
    slices: [steps],
    resources: [
      [resourceKey("a"), a],
      [resourceKey("b"), b],
    ],
  });
  return { a, b, state };
}

describe("a restore with a resource that refuses", () => {
  test("[SNAP-7] [K09] returns the others to where they were, and leaves the slices", async () => {
    const { a, b, state } = setUp();
    const before = await state.snapshot();
    await state.session.dispatch(steps.added("kept"));
    a.value = b.value = 5;
    b.refuses = 1;
    await expect(state.restore(before)).rejects.toMatchObject({
      name: "RestoreFailedError",
      code: "RESTORE_FAILED",
      details: { refused: "b", halfRestored: [] },
      cause: new Error("the box is stuck"),
    });
    expect([a.value, b.value, state.session.get(steps), state.poisoned]).toEqual([5, 5, ["kept"], false]);
    await state.restore(before);
    expect([a.value, b.value, state.session.get(steps)]).toEqual([0, 0, []]);
  });

  test("[SNAP-7] [K09] poisons the state when it cannot be returned either, and tells both causes", async () => {
    const { b, state } = setUp();
    const before = await state.snapshot();
    b.value = 5;
    b.refuses = 2;
    const error = (await state.restore(before).catch((thrown: unknown) => thrown)) as Error;
    expect(error).toMatchObject({ details: { refused: "b", halfRestored: ["b"] } });
    expect((error.cause as AggregateError).errors).toHaveLength(2);
    expect(state.poisoned).toBe(true);
    expect(() => state.branch()).toThrowError(
      expect.objectContaining({ name: "ExecutionStateError", code: "STATE_POISONED" }),
    );
    await expect(state.session.dispatch(steps.added("x"))).rejects.toMatchObject({ code: "STATE_POISONED" });
    await expect(state.restore(before)).rejects.toMatchObject({ code: "STATE_POISONED" });
  });

  test("[SNAP-7] a restore that cannot be made durable is taken back", async () => {
    const { a, state } = setUp();
    const before = await state.snapshot();
    a.value = 5;
    const decide = () => Promise.reject(new Error("disk full"));
    await expect(state.restore(before, { decide })).rejects.toMatchObject({
      code: "RESTORE_FAILED",
      cause: new Error("disk full"),
    });
    expect([a.value, state.poisoned]).toEqual([5, false]);
  });
});

/** A resource of somebody's that does, when it is asked for this, something to its neighbour. */
class Meddler extends Box {
  onSnapshot = () => {};
  onRestore = () => {};

  override snapshot(): number {
    this.onSnapshot();
    return super.snapshot();
  }

  override restore(to: number): void {
    this.onRestore();
    super.restore(to);
  }
}

test("[SNAP-14] a restore of what is no snapshot is refused by name", async () => {
  const { state } = setUp();
  await state.session.dispatch(steps.added("one"));
  const text = state.toJson(await state.snapshot());
  for (const wrong of [state.snapshot(), text, undefined, {}])
    await expect(state.restore(wrong as never)).rejects.toMatchObject({
      code: "BAD_OPTION",
      details: { option: "snapshot" },
    });
  expect(state.session.get(steps)).toEqual(["one"]);
});

test("[SNAP-14] so is going back to it, writing it down, comparing it and reading it", async () => {
  const { state } = setUp();
  const whole = await state.snapshot();
  const slices = state.session.snapshot();
  const refused = { code: "BAD_OPTION", details: expect.objectContaining({ option: "snapshot" }) };
  for (const wrong of [state.snapshot(), state.toJson(whole), undefined, {}, { resources: new Map(), session: {} }]) {
    await expect(state.session.rollback(wrong as never)).rejects.toMatchObject(refused);
    await expect(state.restore(wrong as never)).rejects.toMatchObject(refused);
    for (const misused of [() => state.toJson(wrong as never), () => state.diff(whole, wrong as never)])
      expect(misused).toThrowError(expect.objectContaining(refused));
  }
  // Each where the other belongs.
  await expect(state.session.rollback(whole as never)).rejects.toMatchObject(refused);
  await expect(state.restore(slices as never)).rejects.toMatchObject(refused);
  for (const wrong of [undefined, whole, state.snapshot()])
    expect(() => state.fromJson(wrong as never)).toThrowError(
      expect.objectContaining({ code: "BAD_OPTION", details: expect.objectContaining({ option: "text" }) }),
    );
});

describe("a restore during which a resource ceases to be one", () => {
  const setUpMeddler = () => {
    const [a, b] = [new Meddler(), new Box()];
    const resources = [[resourceKey("a"), a] as const, [resourceKey("b"), b] as const];
    const cease = () => Object.assign(b, { restore: undefined });
    return { a, b, cease, state: ExecutionState.create({ slices: [steps], resources }) };
  };

  test("[SNAP-7] [K09] is refused by its name, with nothing put back, when that was noticed in time", async () => {
    const { a, b, cease, state } = setUpMeddler();
    const before = await state.snapshot();
    await state.session.dispatch(steps.added("kept"));
    a.value = b.value = 5;
    a.onSnapshot = cease;
    await expect(state.restore(before)).rejects.toMatchObject({
      code: "SNAPSHOT_MISMATCH",
      details: { unknownResources: ["b"] },
    });
    expect([a.value, b.value, state.session.get(steps), state.poisoned]).toEqual([5, 5, ["kept"], false]);
  });

  test("[SNAP-7] [K09] returns the others, and gives the state up: nobody can say what that one is now", async () => {
    const { a, b, cease, state } = setUpMeddler();
    const before = await state.snapshot();
    a.value = b.value = 5;
    a.onRestore = cease;
    await expect(state.restore(before)).rejects.toMatchObject({
      code: "RESTORE_FAILED",
      details: { refused: "b", halfRestored: ["b"] },
    });
    expect([a.value, b.value, state.poisoned]).toEqual([5, 5, true]);
  });
});

describe("the registry", () => {
  const key = resourceKey<Box>("box");

  test("[SNAP-13] gives a resource by its typed key, a default, or a typed error", () => {
    const box = new Box();
    const registry = ResourceRegistry.build([
      [key, box],
      [resourceKey("plain"), { not: "snapshotable" }],
    ]);
    expect(registry.get(key)).toBe(box);
    expect(registry.get(resourceKey("none"), 7)).toBe(7);
    expect(() => registry.get(resourceKey("none"))).toThrowError(expect.objectContaining({ code: "RESOURCE_UNKNOWN" }));
    expect([...registry.snapshotableResources().keys()]).toEqual(["box"]);
    expect(() =>
      ResourceRegistry.build([
        [key, 1],
        [key, 2],
      ]),
    ).toThrowError(expect.objectContaining({ code: "SLICE_EXISTS" }));
  });

  test("[SNAP-13] makes a lazy resource once, when it is first asked for", async () => {
    let made = 0;
    const state = ExecutionState.create({
      resources: [
        [
          key,
          lazily(() => {
            made += 1;
            return new Box();
          }),
        ],
      ],
    });
    expect((await state.snapshot()).resources.size).toBe(0);
    expect(state.resources.get(key)).toBe(state.resources.get(key));
    expect(made).toBe(1);
  });

  test("[SNAP-8] [SNAP-13] a dry run makes no lazy resource, and names what it can tell only when that is made", async () => {
    const made: string[] = [];
    const lazy = <T>(name: string, make: () => T) =>
      [
        resourceKey<T>(name),
        lazily(() => {
          made.push(name);
          return make();
        }),
      ] as const;
    const shared = Object.assign(new Box(), { shared: true });
    const first = ExecutionState.create({ resources: [[key, new Box()]] });
    const snapshot = first.fromJson(first.toJson(await first.snapshot()));
    const state = ExecutionState.create({
      resources: [lazy("box", () => new Box()), lazy("plain", () => 1), lazy("spent", () => shared)],
    });
    const dry = await state.restore(snapshot, { dryRun: true });
    expect(made).toEqual([]);
    expect([dry.resources, dry.unmade]).toEqual([snapshot.resources, ["box"]]);
    expect(state.planRestore(snapshot)).toEqual(dry);
    const done = await state.restore(snapshot);
    expect([made, done.resources, done.unmade]).toEqual([["box"], snapshot.resources, []]);
    expect(state.planRestore(snapshot).unmade).toEqual([]);
    // Whether one can be put back at all is known when it is made, and the restore is refused before it touches anything.
    for (const name of ["plain", "spent"]) {
      const other = { ...snapshot, resources: new Map([[name, 1]]) };
      expect(state.planRestore(other, { resources: [name] }).unmade).toEqual([name]);
    }
    expect(made).toEqual(["box"]);
    await expect(state.restore({ ...snapshot, resources: new Map([["plain", 1]]) })).rejects.toMatchObject({
      details: { unknownResources: ["plain"] },
    });
    const left = await state.restore({ ...snapshot, resources: new Map([["spent", 1]]) });
    expect(left.resources.has("spent")).toBe(false);
  });
});
