import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rig, writes } from "../../test/support/calls.ts";
import { canonicalJson } from "../base/canonical.ts";
import { FixedClock } from "../base/clock.ts";
import { canonicalHash, sha256 } from "../base/hash.ts";
import { countingIds } from "../base/ids.ts";
import type { Json } from "../base/json.ts";
import { CheckpointStore } from "./checkpoints.ts";
import { Plan } from "./default-slices.ts";
import { ExecutionState, rollbackToTool, type StateOptions } from "./execution-state.ts";
import { reducers } from "./reducers.ts";
import { resourceKey, ResourceRegistry, type Snapshotable } from "./resources.ts";
import { portable, resourcesPart } from "./resources-part.ts";
import { SessionSnapshotAdapter } from "./session-state.ts";
import { defineSlice } from "./slice.ts";
import { diffSnapshots } from "./snapshot.ts";
import { type SnapshotLadder, snapshotFromText, snapshotToText } from "./snapshot-text.ts";

const steps = defineSlice("steps", { initial: [] as readonly string[], on: { added: reducers.append<string> } });
const notes = defineSlice("notes", {
  initial: {} as Record<string, string>,
  on: { set: (now, [key, to]: [string, string]) => ({ ...now, [key]: to }) },
});
const diary = defineSlice("diary", {
  initial: [] as readonly string[],
  policy: "log",
  on: { said: reducers.append<string> },
});
const slices = [steps, notes, diary];

function fresh(options: StateOptions = {}): ExecutionState {
  return ExecutionState.create({ slices, clock: new FixedClock(), ids: countingIds(), ...options });
}

async function grown(): Promise<ExecutionState> {
  const state = fresh();
  await state.session.dispatch(steps.added("one"));
  await state.session.dispatch(notes.set(["a", "ä\ud83d\ude00"]));
  await state.session.dispatch(diary.said("began"));
  return state;
}

describe("a snapshot", () => {
  test("[SNAP-1] is taken by reference and never changes afterwards", async () => {
    const state = await grown();
    const before = await state.snapshot({ tag: "by-hand" });
    expect(before.session.slices.get("steps")).toBe(state.root.get("steps"));
    await state.session.dispatch(steps.added("two"));
    expect(before.session.slices.get("steps")).toEqual(["one"]);
    expect(before.metadata).toEqual({ tag: "by-hand", phase: "manual" });
    expect(before).toMatchObject({ snapshotId: "00000001", createdAt: "2026-01-01T00:00:00.000Z" });
  });

  test("[SNAP-2] [K28] holds state slices unless more is asked for", async () => {
    const { session } = await grown();
    expect([...session.snapshot().slices.keys()]).toEqual(["Plan", "VisibilityOverrides", "steps", "notes"]);
    expect([...session.snapshot({ policies: ["log"] }).slices.keys()]).toEqual([
      "ToolInvoked",
      "PromptRendered",
      "PromptExecuted",
      "diary",
    ]);
    expect(session.snapshot({ includeAll: true }).slices.get("diary")).toEqual(["began"]);
    expect(session.snapshot().policies.get("diary")).toBe("log");
  });

  test("[SNAP-3] [K30] is equal after JSON and restores into a state of another process", async () => {
    const state = await grown();
    const snapshot = await state.snapshot({
      includeAll: true,
      metadata: { phase: "checkpoint", toolCallId: "c", toolName: "t" },
    });
    const other = fresh({ ids: countingIds(500) });
    const loaded = other.fromJson(state.toJson(snapshot));
    expect(loaded).toEqual(snapshot);
    await other.restore(loaded, { preserveLogs: false });
    expect(other.root).toEqual(state.root);
    expect(other.toJson(loaded)).toBe(state.toJson(snapshot));
  });

  test("[SNAP-3] [K30] whatever is in the slices", async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string({ unit: "binary" }), fc.string({ unit: "binary" })), async (value) => {
        fc.pre(!Object.hasOwn(value, "__proto__") && Object.keys(value).every((key) => key.isWellFormed()));
        const state = fresh();
        await state.session.seed(notes, value);
        const other = fresh();
        await other.restore(other.fromJson(state.toJson(await state.snapshot())));
        expect(other.session.get(notes)).toEqual(state.session.get(notes));
      }),
      { numRuns: 50 },
    );
  });

  test("[SNAP-4] [K31] with any one byte changed is refused, and the entry is named", async () => {
    const state = await grown();
    const text = state.toJson(await state.snapshot());
    const bytes = Buffer.from(text);
    const named = new Set<string>();
    for (let at = 0; at < bytes.length; at += 1) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ 1;
      let refused: { readonly code?: string; readonly details?: { readonly entry?: string } } = {};
      try {
        state.fromJson(flipped.toString("utf8"));
      } catch (error) {
        refused = error as typeof refused;
      }
      // A flipped version digit may read as a newer version: then that is what is said.
      expect([at, ["SNAPSHOT_CORRUPT", "SNAPSHOT_TOO_NEW"].includes(refused.code ?? "")]).toEqual([at, true]);
      if (refused.details?.entry !== undefined) named.add(refused.details.entry);
    }
    expect([...named]).toEqual(expect.arrayContaining(["header", "slices/steps", "slices/notes", "list of entries"]));
    const at = bytes.indexOf("one");
    const one = Buffer.from(bytes).fill("x", at, at + 1);
    expect(() => state.fromJson(one.toString())).toThrowError(
      expect.objectContaining({ code: "SNAPSHOT_CORRUPT", details: { entry: "slices/steps" } }),
    );
  });

  test("[SNAP-4] with an entry taken out, moved or doubled is refused", async () => {
    const state = await grown();
    const text = state.toJson(await state.snapshot());
    const lines = text.split("\n");
    const [first = "", header = "", one = "", two = "", ...rest] = lines;
    for (const other of [
      [first, header, one, ...rest],
      [first, header, two, one, ...rest],
      [first, header, one, one, two, ...rest],
    ])
      expect(() => state.fromJson(other.join("\n"))).toThrowError(
        expect.objectContaining({ code: "SNAPSHOT_CORRUPT" }),
      );
    for (const junk of ["", "[]", "null", "{}", '{"entries":[]}', '{"entries":[1]}', "{", text.slice(0, -40)])
      expect(() => state.fromJson(junk)).toThrowError(expect.objectContaining({ code: "SNAPSHOT_CORRUPT" }));
  });

  test("[SNAP-5] [T18] of an older version is lifted one step at a time, and a newer one is refused", async () => {
    const state = await grown();
    const { parts } = state.truth;
    const old = snapshotToText(await state.snapshot(), parts, { version: 0, lifts: [] });
    const ladder: SnapshotLadder = {
      version: 2,
      lifts: [1, 2].map((to) => ({
        to,
        why: `step ${to}`,
        up: (entries) =>
          entries.map((entry) =>
            entry.name === "slices/steps" ? { ...entry, data: [...(entry.data as string[]), `v${to}`] } : entry,
          ),
      })),
    };
    expect(snapshotFromText(old, parts, ladder).session.slices.get("steps")).toEqual(["one", "v1", "v2"]);
    const now = snapshotToText(await state.snapshot(), parts, { version: 1, lifts: [] });
    expect(snapshotFromText(now, parts, ladder).session.slices.get("steps")).toEqual(["one", "v2"]);
    const newer = snapshotToText(await state.snapshot(), parts, { version: 3, lifts: [] });
    expect(() => state.fromJson(newer)).toThrowError(expect.objectContaining({ code: "SNAPSHOT_TOO_NEW" }));
  });

  test("[SNAP-6] [K25] [K32] that names what is unknown here changes nothing and lists the names", async () => {
    const state = await grown();
    const text = state.toJson(await state.snapshot());
    const stranger = ExecutionState.create();
    expect(() => stranger.fromJson(text)).toThrowError(
      expect.objectContaining({
        name: "SnapshotMismatchError",
        code: "SNAPSHOT_MISMATCH",
        details: expect.objectContaining({ unknownSlices: ["steps", "notes"] }),
      }),
    );
    const snapshot = await fresh({ resources: [[resourceKey("box"), box()]] }).snapshot();
    const before = state.root;
    await expect(state.restore(snapshot)).rejects.toMatchObject({ details: { unknownResources: ["box"] } });
    await expect(stranger.restore(await state.snapshot())).rejects.toMatchObject({ code: "SNAPSHOT_MISMATCH" });
    await expect(state.restore(await state.snapshot(), { slices: ["nope"] })).rejects.toMatchObject({
      details: { unknownSlices: ["nope"] },
    });
    expect(state.root).toBe(before);
  });

  test("[SNAP-9] differs from another by what changed, as data", async () => {
    const state = await grown();
    const before = await state.snapshot();
    await state.session.dispatch(steps.added("two"));
    const after = await state.snapshot({ includeAll: true });
    const loaded = state.fromJson(state.toJson(before));
    for (const then of [before, loaded])
      expect(state.diff(then, after)).toEqual({
        slices: { steps: [{ splice: [], at: 1, remove: 0, insert: ["two"] }] },
        onlyBefore: [],
        onlyAfter: ["WorkspaceDigest", "ToolInvoked", "PromptRendered", "PromptExecuted", "diary"],
        resources: [],
      });
  });
});

describe("a restore", () => {
  test("[SLICE-6] of a snapshot of another state lets nothing in that the slice here would refuse", async () => {
    const text = (value: unknown) => (typeof value === "string" ? { value } : { issues: [{ message: "no text" }] });
    const schema = { "~standard": { version: 1, vendor: "test", validate: text } } as const;
    const on = { set: (_: unknown, to: unknown) => to };
    const loose = ExecutionState.create({ slices: [defineSlice("name", { initial: 1 as unknown, on })] });
    const strict = defineSlice("name", { initial: "" as unknown, on, schema });
    const state = ExecutionState.create({ slices: [strict], resources: [[resourceKey("box"), box()]] });
    const root = state.root;
    const theirs = await loose.snapshot();
    await expect(state.restore(theirs)).rejects.toMatchObject({ code: "SLICE_INVALID", details: { slice: "name" } });
    await expect(state.session.rollback(theirs.session)).rejects.toMatchObject({ code: "SLICE_INVALID" });
    expect(state.root).toBe(root);
  });

  test("[SNAP-10] [K26] keeps logs unless told otherwise", async () => {
    const state = await grown();
    const all = await state.snapshot({ includeAll: true });
    await state.session.dispatch(diary.said("later"));
    await state.session.dispatch(steps.added("later"));
    await state.restore(all);
    expect([state.session.get(steps), state.session.get(diary)]).toEqual([["one"], ["began", "later"]]);
    await state.restore(all, { preserveLogs: false });
    expect(state.session.get(diary)).toEqual(["began"]);
  });

  test("[SNAP-10] [K26] of the slices alone does the same", async () => {
    const { session } = await grown();
    const all = session.snapshot({ includeAll: true });
    await session.dispatch(diary.said("later"));
    await session.dispatch(steps.added("later"));
    await new SessionSnapshotAdapter(session).restore(all);
    expect([session.get(steps), session.get(diary)]).toEqual([["one"], ["began", "later"]]);
    await session.rollback(all, { preserveLogs: false });
    expect(session.get(diary)).toEqual(["began"]);
    expect([...new SessionSnapshotAdapter(session).snapshot().slices.keys()]).toContain("steps");
  });

  test("[SNAP-11] [K27] empties a slice that did not exist at the time, and leaves one that was out of scope", async () => {
    const old = ExecutionState.create({ slices: [steps] });
    const text = old.toJson(await old.snapshot());
    const state = await grown();
    await state.restore(state.fromJson(text));
    expect([state.session.get(steps), state.session.get(notes)]).toEqual([[], {}]);
    const logsOnly = await state.snapshot({ policies: ["log"] });
    await state.session.dispatch(steps.added("stays"));
    await state.restore(logsOnly);
    expect(state.session.get(steps)).toEqual(["stays"]);
  });

  test("[SNAP-8] of chosen slices leaves the others, and a dry run leaves everything", async () => {
    const state = await grown();
    const before = await state.snapshot();
    await state.session.dispatch(steps.added("two"));
    await state.session.dispatch(notes.set(["b", "2"]));
    const root = state.root;
    const plan = await state.restore(before, { dryRun: true });
    expect(plan.slices).toEqual(["steps", "notes"]);
    expect(plan.change.delta["steps"]).toEqual([{ splice: [], at: 1, remove: 1, insert: [] }]);
    expect(state.root).toBe(root);
    await state.restore(before, { slices: ["steps"] });
    expect(state.session.get(steps)).toEqual(["one"]);
    expect(state.session.get(notes)).toHaveProperty("b");
  });

  test("[SNAP-8] of chosen resources leaves slices and other resources", async () => {
    const [a, b] = [box(), box()];
    const state = fresh({
      resources: [
        [resourceKey("a"), a],
        [resourceKey("b"), b],
      ],
    });
    const before = await state.snapshot();
    a.value = b.value = 5;
    await state.session.dispatch(steps.added("stays"));
    await state.restore(before, { resources: ["b"] });
    expect([a.value, b.value, state.session.get(steps)]).toEqual([5, 0, ["stays"]]);
    await state.restore(before, { slices: ["steps"] });
    expect([a.value, state.session.get(steps)]).toEqual([5, []]);
    await state.restore(before);
    expect(a.value).toBe(0);
  });

  test("[SNAP-12] goes back to a tool boundary by the call's id, or says that it is not kept", async () => {
    const checkpoints = new CheckpointStore({ limit: 2 });
    const state = fresh({ checkpoints });
    for (const id of ["a", "b", "c"]) {
      const pre = await state.snapshot();
      await state.session.dispatch(steps.added(id));
      checkpoints.record({ toolCallId: id, toolName: "t", preSnapshot: pre, success: true, recordedAt: pre.createdAt });
    }
    await rollbackToTool(state, checkpoints, "b");
    expect(state.session.get(steps)).toEqual(["a"]);
    await expect(rollbackToTool(state, checkpoints, "a")).rejects.toMatchObject({ code: "CHECKPOINT_UNKNOWN" });
    expect(() => checkpoints.getPostSnapshot("nope")).toThrowError(
      expect.objectContaining({ code: "CHECKPOINT_UNKNOWN" }),
    );
    expect(checkpoints.getPostSnapshot("c")).toBeUndefined();
    expect(checkpoints.listCheckpoints().map(({ toolCallId }) => toolCallId)).toEqual(["b", "c"]);
    expect(checkpoints.has("c")).toBe(true);
    expect(() => new CheckpointStore({ limit: 0 })).toThrowError(expect.objectContaining({ code: "BAD_OPTION" }));
  });
});

test("[SNAP-1] parents, children and tags stand in every snapshot", async () => {
  const state = fresh({ parentId: "p", tags: { who: "me" } });
  const before = state.session.snapshot();
  const kept = await state.snapshot();
  state.adopt("child");
  expect(state.session.snapshot()).toMatchObject({ parentId: "p", childrenIds: ["child"], tags: { who: "me" } });
  expect(before.parentId).toBe("p");
  expect(kept.session.childrenIds).toEqual([]);
  expect(state.fromJson(state.toJson(kept)).session).toMatchObject({ parentId: "p", tags: { who: "me" } });
  expect(state.session.get(Plan)).toEqual([]);
});

function box(): Snapshotable<number> & { value: number } {
  return {
    value: 0,
    snapshot() {
      return this.value;
    },
    restore(to: number) {
      this.value = to;
    },
  };
}

describe("a snapshot text that was signed anew", () => {
  type Entry = [name: string, data: Json, sum?: string];

  /** Somebody who can sign, and does not know what belongs in it. */
  const signed = (text: string, edit: (entries: Entry[]) => readonly Entry[]): string => {
    const whole = JSON.parse(text) as { readonly version: number; readonly entries: Entry[] };
    const entries = edit(whole.entries).map(([name, data]): Entry => [name, data, canonicalHash([name, data])]);
    const checksum = sha256(entries.map(([, , sum]) => sum).join("\n"));
    const lines = entries.map(([name, data, sum]) => `["${name}",${canonicalJson(data)},"${sum}"]`);
    return `{"version":${whole.version},"checksum":"${checksum}","entries":[\n${lines.join(",\n")}\n]}`;
  };
  const withFile = async () => {
    const { state, transactions } = rig([writes("write", (_, call) => call.files.writeText("a.txt", "kept"))]);
    await transactions.run({ id: "c", name: "write", input: {} });
    return { state, text: snapshotToText(await state.snapshot(), state.truth.parts) };
  };
  const read = (state: ExecutionState, text: string) => () => snapshotFromText(text, state.truth.parts);
  const corrupt = (entry: string) =>
    expect.objectContaining({
      code: "SNAPSHOT_CORRUPT",
      details: expect.objectContaining({ entry: expect.stringContaining(entry) }),
    });
  const content = ([name]: Entry) => name.startsWith("contents/");

  test("[SNAP-4] [K31] is refused where its header is no header, and where content is not what it is named", async () => {
    const { state, text } = await withFile();
    expect(
      read(
        state,
        signed(text, (all) => all),
      )().session.slices.get("files"),
    ).toBeDefined();
    const odd = (data: Json) => signed(text, (all) => all.map((one) => (content(one) ? [one[0], data] : one)));
    expect(
      read(
        state,
        signed(text, ([, ...rest]) => [["header", { snapshotId: 7 }], ...rest]),
      ),
    ).toThrow(corrupt("header"));
    expect(read(state, odd(Buffer.from("other").toString("base64")))).toThrow(corrupt("contents/"));
    expect(read(state, odd(7))).toThrow(corrupt("contents/"));
    expect(
      read(
        state,
        signed(text, (all) => all.filter((one) => !content(one))),
      ),
    ).toThrow(corrupt("contents/"));
  });

  test("[SNAP-6] is not written with a slice that is unknown, or a resource that is no data", async () => {
    const state = fresh({ resources: [[resourceKey("odd"), { snapshot: () => () => 1, restore: () => {} }]] });
    const taken = await state.snapshot();
    expect(() => snapshotToText(taken, state.truth.parts)).toThrow(
      expect.objectContaining({ code: "SLICE_NOT_JSON", details: expect.objectContaining({ entry: "resources/odd" }) }),
    );
    expect(() => snapshotToText(taken, new Map())).toThrow(expect.objectContaining({ code: "SNAPSHOT_MISMATCH" }));
  });
});

test("[SNAP-3] what resources say is kept as far as it is data, and read only as an object", () => {
  const registry = ResourceRegistry.build([
    [resourceKey("shared"), { snapshot: () => 1, restore: () => {}, shared: true }],
  ]);
  const said = new Map<string, unknown>([
    ["fine", 1],
    ["odd", () => 1],
    ["shared", 2],
  ]);
  expect(portable(said, new Map([["fine", 0]]), (name) => registry.peek(name))).toEqual({
    fine: { snapshot: 1, origin: 0 },
    shared: { snapshot: 2, shared: true },
  });
  for (const data of [[], "x", null])
    expect(() => resourcesPart.decode(data)).toThrow(expect.objectContaining({ code: "SNAPSHOT_CORRUPT" }));
});

test("[SNAP-12] a call that is recorded again has its newest boundary, and takes no other's place", async () => {
  const state = fresh();
  const at = async (toolCallId: string, n: number) => {
    const snapshot = await state.snapshot();
    return {
      toolCallId,
      toolName: "t",
      preSnapshot: snapshot,
      postSnapshot: snapshot,
      resultSummary: `${n}`,
      success: true,
      elapsed: n,
      recordedAt: snapshot.createdAt,
    };
  };
  const store = new CheckpointStore({ limit: 2 });
  store.record(await at("a", 1));
  store.record(await at("a", 2));
  expect(store.listCheckpoints().map(({ elapsed }) => elapsed)).toEqual([2]);
  store.record(await at("b", 3));
  expect([store.has("a"), store.has("b")]).toEqual([true, true]);
  const three = new CheckpointStore({ limit: 3 });
  for (const [n, id] of ["x", "a", "b", "c", "b"].entries()) three.record(await at(id, n));
  expect(three.listCheckpoints().map(({ toolCallId }) => toolCallId)).toEqual(["a", "c", "b"]);
  three.record(await at("d", 5));
  expect(three.listCheckpoints().map(({ elapsed }) => elapsed)).toEqual([3, 4, 5]);
  expect([three.has("a"), three.has("d")]).toEqual([false, true]);
});

test("[SNAP-9] resources whose snapshots are no plain data differ, too, when they do", async () => {
  const cases: readonly (readonly [unknown, unknown])[] = [
    [new Map([["a", 1]]), new Map([["a", 2]])],
    [new Set([1]), new Set([2])],
    [new Date(0), new Date(1)],
    [{ at: Number.NaN }, { at: null }],
    [new Uint8Array([1]), new Uint8Array([2])],
    [{ a: 1n }, { a: 2n }],
  ];
  for (const [then, now] of cases) {
    let value = then;
    const box = { snapshot: () => structuredClone(value), restore: () => {} };
    const state = ExecutionState.create({ slices, resources: [[resourceKey("box"), box]] });
    const [before, same] = [await state.snapshot(), await state.snapshot()];
    value = now;
    expect(state.diff(before, same).resources).toEqual([]);
    expect(state.diff(before, await state.snapshot()).resources).toEqual(["box"]);
  }
});

test("[SNAP-9] [SNAP-13] a registry that was built is used as it is, and a resource that only one of two snapshots has differs", async () => {
  const box = { value: 1, snapshot: () => box.value, restore: (to: number) => void (box.value = to) };
  const registry = ResourceRegistry.build([[resourceKey("box"), box]]);
  const state = ExecutionState.create({ slices, resources: registry });
  expect(state.resources).toBe(registry);
  const [bare, with1] = [await fresh().snapshot(), await state.snapshot({ tag: "t" })];
  expect(diffSnapshots(bare, with1, state.truth.parts)).toMatchObject({ resources: ["box"] });
  expect(diffSnapshots(with1, with1, state.truth.parts)).toMatchObject({ resources: [], slices: {} });
});
