import { describe, expect, test } from "vitest";
import { Box, counter, steps, writes } from "../../test/support/calls.ts";
import { opened } from "../../test/support/durable.ts";
import { notesPart, textsOf, withNote } from "../../test/support/notes-part.ts";
import { MemoryDisk } from "../../test/support/stores.ts";
import { FixedClock } from "../base/clock.ts";
import { ToolInvoked } from "../state/default-slices.ts";
import { resourceKey } from "../state/resources.ts";
import { defineSlice } from "../state/slice.ts";
import { BUDGET, BudgetTracker } from "../transaction/budget.ts";
import type { Session } from "./session.ts";

const note = writes<{ readonly title: string; readonly fail?: boolean }>("note", async ({ title, fail }, call) => {
  call.change(notesPart, withNote(title, `about ${title}`));
  call.dispatch(steps.added(title));
  await call.files.writeText(`${title}.txt`, title);
  return fail === true ? call.fail("no", "no") : title;
});
const WITH_NOTES = { tools: [note], parts: [notesPart] };
const noted = (session: Session) => textsOf(session.state.root.get(notesPart.name));
const take = async (session: Session, title: string, fail = false) =>
  (await session.runTool({ name: "note", input: { title, fail } })).callId;

describe("a part that somebody else brings", () => {
  test("[TURN-61] [T20] is as before when the tool that wrote it, a file and a slice fails; the log says so", async () => {
    const { session } = await opened(new MemoryDisk(), WITH_NOTES);
    await take(session, "kept");
    const before = session.state.session.snapshot();
    await take(session, "lost", true);
    expect(noted(session)).toEqual({ kept: "about kept" });
    expect(session.state.session.snapshot().slices).toEqual(before.slices);
    expect(await session.files.exists("lost.txt")).toBe(false);
    expect(session.state.session.all(ToolInvoked).map(({ success }) => success)).toEqual([true, false]);
  });

  test("[TURN-4] [T12] a change for which there is no room here is no damage: the session is not opened without it", async () => {
    const { disk, deps, session } = await opened(new MemoryDisk(), WITH_NOTES);
    await take(session, "a");
    await deps.store.close();
    const fails = (error: Error) => ({
      ...notesPart,
      apply: () => {
        throw error;
      },
    });
    const opening = (error: Error) => opened(disk, { ...WITH_NOTES, parts: [fails(error)] });
    await expect(opening(new RangeError("no room"))).rejects.toThrow("no room");
    const { session: damaged } = await opening(new TypeError("what is this?"));
    expect(damaged.recovered.skippedChanges).toHaveLength(1);
  });

  test("[TURN-61] is there in a fresh process, from its changes and from a checkpoint, content and all", async () => {
    const { disk, deps, session } = await opened(new MemoryDisk(), WITH_NOTES);
    await take(session, "a");
    await session.checkpoint();
    await take(session, "b");
    await deps.store.close();
    const again = await opened(disk, WITH_NOTES);
    expect(noted(again.session)).toEqual({ a: "about a", b: "about b" });
    const text = again.session.state.toJson(await again.session.state.snapshot());
    expect(textsOf(again.session.state.fromJson(text).session.slices.get("notes"))).toEqual(noted(again.session));
    expect((await again.holdfast.verify()).ok).toBe(true);
  });

  test("[TURN-61] is rewound and forked with the rest, in a process that did not make the boundary", async () => {
    const { disk, deps, session } = await opened(new MemoryDisk(), WITH_NOTES);
    const first = await take(session, "a");
    const second = await take(session, "b");
    await deps.store.close();
    const again = await opened(disk, WITH_NOTES);
    const fork = await again.session.fork({ after: first, as: "other" });
    expect(noted(fork)).toEqual({ a: "about a" });
    await again.session.rewind({ before: second });
    expect(noted(again.session)).toEqual({ a: "about a" });
    expect(again.session.state.session.get(steps)).toEqual(["a"]);
  });

  test("[TURN-61] a call that read it runs again when another has changed it", async () => {
    const changed = Promise.withResolvers<void>();
    const copy = writes("copy", async (_, call) => {
      const titles = [...call.read(notesPart).keys()];
      await changed.promise;
      call.change(notesPart, withNote(`copy of ${titles.join("+")}`, "copied"));
    });
    const { session } = await opened(new MemoryDisk(), { ...WITH_NOTES, tools: [note, copy] });
    const copying = session.runTool({ name: "copy", input: {} });
    await take(session, "a");
    changed.resolve();
    expect(await copying).toMatchObject({ ok: true, attempts: 2 });
    expect(Object.keys(noted(session))).toEqual(["a", "copy of a"]);
  });
});

describe("resources of a durable session", () => {
  const BOX = resourceKey<Box>("box");
  const use = writes<{ readonly fail?: boolean }>("use", async ({ fail }, call) => {
    (await call.resource(BOX)).value += 1;
    call.dispatch(counter.added(1));
    return fail === true ? call.fail("no", "no") : "used";
  });
  const withBox = (box: Box) => ({ tools: [use], resources: () => [[BOX, box] as const] });
  const used = async (session: Session, fail = false) =>
    (await session.runTool({ name: "use", input: { fail } })).callId;

  test("[TURN-60] are put back by a rewind in a process that did not capture them", async () => {
    const { disk, deps, session } = await opened(new MemoryDisk(), withBox(new Box()));
    const first = await used(session);
    await used(session);
    await used(session, true);
    await deps.store.close();
    const box = new Box();
    const again = await opened(disk, withBox(box));
    expect(box.value).toBe(2);
    expect((await again.session.checkpoints.getPostSnapshot(first)).resources.get("box")).toBe(1);
    await again.session.rewind({ after: first });
    expect(box.value).toBe(1);
    await again.session.rewind({ before: first });
    expect(box.value).toBe(0);
    await used(again.session);
    await again.deps.store.close();
    const third = new Box();
    await opened(disk, withBox(third));
    expect(third.value).toBe(1);
  });

  test("[TURN-60] what a call made of one that could not commit after all is at no boundary, here or in another process", async () => {
    const OTHER = resourceKey<Box>("other");
    const [begun, others] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const once = defineSlice("once", {
      initial: 0,
      on: {
        taken: (now: number) => {
          if (now > 0) throw new Error("taken");
          return now + 1;
        },
      },
    });
    const take = writes<{ readonly slow?: boolean }>("take", async ({ slow }, call) => {
      call.dispatch(once.taken());
      if (slow !== true) return;
      (await call.resource(BOX)).value = 5;
      begun.resolve();
      await others.promise;
    });
    const other = writes("other", async (_, call) => void ((await call.resource(OTHER)).value = 1));
    const boxes = () => ({
      ...withBox(new Box()),
      tools: [use, take, other],
      slices: [counter, once],
    });
    const [box, more] = [new Box(), new Box()];
    const resources = (one: Box, two: Box) => () => [[BOX, one] as const, [OTHER, two] as const];
    const { session, disk, deps } = await opened(new MemoryDisk(), { ...boxes(), resources: resources(box, more) });
    const first = await used(session);
    const slow = session.runTool({ name: "take", input: { slow: true } });
    await begun.promise;
    await session.runTool({ name: "take", input: {} });
    others.resolve();
    const failed = await slow;
    expect([failed.reason, box.value]).toEqual(["REDUCER_FAILED", 1]);
    expect((await session.checkpoints.getPostSnapshot(failed.callId)).resources.get("box")).toBe(1);
    await session.runTool({ name: "other", input: {} });
    await session.rewind({ after: failed.callId });
    expect(box.value).toBe(1);
    await session.runTool({ name: "other", input: {} });
    await deps.store.close();
    const later = new Box();
    const again = await opened(disk, { ...boxes(), resources: resources(later, new Box()) });
    expect(later.value).toBe(1);
    await again.session.rewind({ before: first });
    expect(later.value).toBe(0);
  });

  test("[TURN-60] are what was committed when a process died inside a call, also after a checkpoint", async () => {
    const disk = new MemoryDisk();
    const outside = new Box(); // it lives on when the process does not
    const stuck = writes("stuck", async (_, call) => {
      (await call.resource(BOX)).value += 100;
      await new Promise(() => {});
    });
    const { deps, session } = await opened(disk, { ...withBox(outside), tools: [use, stuck] });
    await used(session);
    await session.checkpoint();
    void session.runTool({ name: "stuck", input: {} }).catch(() => {});
    while (outside.value < 100) await new Promise((resolve) => setImmediate(resolve));
    await deps.store.close();
    const again = await opened(disk, withBox(outside));
    expect(outside.value).toBe(1);
    expect(again.session.recovered.closedCalls).toHaveLength(1);
  });

  test("[TURN-60] one that refuses when a session is opened poisons it: nothing goes on from a half", async () => {
    const { disk, deps, session } = await opened(new MemoryDisk(), withBox(new Box()));
    await used(session);
    await deps.store.close();
    const box = new Box();
    box.refuses = 1;
    const again = await opened(disk, withBox(box));
    expect(again.session.state.poisoned).toBe(true);
    await expect(used(again.session)).rejects.toMatchObject({ code: "STATE_POISONED" });
  });

  test("[TURN-60] a checkpoint that names one which is not here changes nothing and lists it", async () => {
    const { disk, deps, session } = await opened(new MemoryDisk(), withBox(new Box()));
    const first = await used(session);
    await used(session);
    await deps.store.close();
    const again = await opened(disk, { tools: [use] });
    await expect(again.session.rewind({ after: first })).rejects.toMatchObject({
      code: "SNAPSHOT_MISMATCH",
      details: { unknownResources: ["box"] },
    });
    expect(again.session.state.session.get(counter)).toBe(2);
  });

  test("[TURN-60] [K61] a budget is told with every checkpoint, goes on in a fresh process, and no rewind lowers it", async () => {
    const tracker = () => new BudgetTracker({ limits: { total: 100 }, clock: new FixedClock() });
    const withBudget = (budget: BudgetTracker) => ({ resources: () => [[BUDGET, budget] as const] });
    const budget = tracker();
    const { disk, deps, session } = await opened(new MemoryDisk(), withBudget(budget));
    const step = async (n: string) => (await session.runTool({ name: "step", input: { n } })).callId;
    budget.record("one", { input: 10, output: 5 });
    const first = await step("a");
    budget.record("two", { input: 20, output: 5 });
    await step("b");
    const told = (await session.checkpoints.getPostSnapshot(first)).resources.get("budget");
    expect(told).toMatchObject({ evaluations: { one: { input: 10, output: 5 } } });
    await deps.store.close();
    const fresh = tracker();
    const again = await opened(disk, withBudget(fresh));
    expect(fresh.spent.total).toBe(40);
    await again.session.rewind({ before: first });
    expect(fresh.spent.total).toBe(40);
    await again.deps.store.close();
    const without = await opened(disk);
    expect(without.session.checkpoints.list()).toHaveLength(2);
  });
});
