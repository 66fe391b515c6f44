import { describe, expect, test } from "vitest";
import { counter, quiet, steps, writes } from "../../test/support/calls.ts";
import { kernel, look, OPTIONS, opened, run, step } from "../../test/support/durable.ts";
import { between, collect, ioError, MemoryDisk, memoryDeps, said } from "../../test/support/stores.ts";
import { FixedClock } from "../base/clock.ts";
import type { KernelEvent } from "../contracts/event-sink.ts";
import { ToolInvoked } from "../state/default-slices.ts";
import { defineTool } from "../transaction/tool.ts";
import { Holdfast } from "./holdfast.ts";

describe("a durable session", () => {
  test("[TURN-4] is the same in a fresh process, after a close and after a crash", async () => {
    for (const crash of [false, true]) {
      const { disk, deps, session } = await opened();
      await run(session, "a");
      await run(session, "b", true);
      await session.state.session.dispatch(steps.added("by hand"));
      await session.files.writeText("hand.txt", "by hand");
      await run(session, "c");
      const before = await look(session);
      expect(before).toMatchObject({ steps: ["a", "by hand", "c"], counter: 2, diary: ["a", "b", "c"] });
      if (!crash) await session.close();
      await deps.store.close();
      const again = await opened(disk);
      expect(await look(again.session)).toEqual(before);
      expect(await again.session.files.readText("c.txt")).toBe("file c");
      expect(again.session.state.session.all(ToolInvoked)).toHaveLength(3);
      expect(again.session.recovered).toEqual({ closedCalls: [], damaged: [] });
      expect(again.session.state.root).toEqual(session.state.root);
    }
  });

  test("[TURN-4] [T08] [T12] is the same through checkpoints, and opens from the newest", async () => {
    const { disk, deps, session } = await opened();
    await session.files.writeText("old.txt", "from before the checkpoint");
    for (let n = 0; n < 300; n += 1) await run(session, `${n}`, n % 3 === 0);
    await session.rewind({ before: await run(session, "gone") });
    const before = await look(session);
    await deps.store.close();
    const again = await opened(disk);
    expect(again.session.journal.opened.tail.length).toBeLessThan(600);
    expect(again.session.journal.opened.tail[0]?.kind).toBe("checkpoint-kept");
    expect(await look(again.session)).toEqual(before);
    expect(await again.session.files.readText("old.txt")).toBe("from before the checkpoint");
    expect((await again.holdfast.verify()).ok).toBe(true);
  });

  test("[TURN-5] a part that has not changed is not written again by the next checkpoint", async () => {
    const { session, deps } = await opened();
    await session.state.session.seed(
      steps,
      Array.from({ length: 1000 }, (_, n) => `step ${n}`),
    );
    await session.checkpoint();
    let bytes = 0;
    const original = session.journal.stageBlob.bind(session.journal);
    session.journal.stageBlob = async (source) => {
      const blob = await original(source);
      bytes += blob.ref.size;
      return blob;
    };
    await session.state.session.dispatch(counter.added(1));
    await session.checkpoint({ tag: "second" });
    expect(bytes).toBeLessThan(20);
    const entries = await collect(session.read());
    const kept = entries.filter((entry) => entry.kind === "checkpoint-kept");
    expect(kept).toHaveLength(2);
    expect(kept[1]).toMatchObject({ tag: "second" });
    const names = kept.map(
      (entry) => (entry.state as { parts: Record<string, { name: string }> }).parts["steps"]?.name,
    );
    expect(names[0]).toBe(names[1]);
    await deps.store.close();
  });

  test("[TURN-5] a checkpoint of a state that has not changed joins the append that made it due, and opens the same", async () => {
    const { disk, deps, session } = await opened();
    await run(session, "a");
    await session.checkpoint();
    let commits = 0;
    const original = deps.store.commit.bind(deps.store);
    deps.store.commit = (batch) => {
      commits += 1;
      return original(batch);
    };
    for (let n = 0; n < 1_200; n += 1) await session.append(said(`${n}`));
    expect(commits).toBe(1_200);
    const entries = await collect(session.read());
    expect(entries.filter(({ kind }) => kind === "checkpoint-kept")).toHaveLength(3);
    const before = await look(session);
    await deps.store.close();
    const again = await opened(disk);
    expect(again.session.journal.opened.tail.length).toBeLessThan(512);
    expect(await look(again.session)).toEqual(before);
    expect(again.session.checkpoints.list()).toEqual(session.checkpoints.list());
    expect((await again.holdfast.verify()).ok).toBe(true);
  });

  test("[TURN-4] survives the loss of the newest checkpoint's content: the one before it and the changes since are enough", async () => {
    const { disk, deps, session } = await opened();
    await run(session, "a");
    await session.checkpoint();
    await run(session, "b");
    const { last } = await session.checkpoint();
    await run(session, "c");
    const before = await look(session);
    const [newest] = await collect(session.read({ from: last, to: last }));
    await deps.store.close();
    const { name = "" } =
      (newest as unknown as { state: { parts: Record<string, { name: string }> } }).state.parts["steps"] ?? {};
    const { store, ...rest } = memoryDeps(disk);
    const lossy = between(store, { smallBlob: (wanted, bytes) => (wanted === name ? undefined : bytes) });
    const survivor = await new Holdfast({ ...rest, store: lossy }, OPTIONS).open("s");
    expect(await look(survivor)).toEqual(before);
  });

  test("[TURN-6] [K42] a call that a crash cut off changed nothing, and is closed with what it had done outside", async () => {
    const pay = defineTool<{ key: string }>({
      name: "pay",
      access: "external",
      effects: {
        payment: {
          run: async (_args: unknown, { key }) => (key === "hangs" ? new Promise<never>(() => {}) : "paid"),
          undo: () => {},
        },
      },
      async run({ key }, call) {
        call.dispatch(counter.added(100));
        await call.effect("payment", {}, { key: "done" });
        await call.effect("payment", {}, { key });
      },
    });
    const { disk, deps, session } = await opened(new MemoryDisk(), { tools: [pay] });
    void session.runTool({ name: "pay", input: { key: "hangs" } }).catch(() => {});
    await quiet();
    await deps.store.close();
    const again = await opened(disk, { tools: [pay] });
    const [cut] = again.session.recovered.closedCalls;
    expect(again.session.recovered.effects?.map(({ key, is }) => [key, is])).toEqual([
      ["done", "happened"],
      ["hangs", "unknown"],
    ]);
    expect(again.session.state.session.get(counter)).toBe(0);
    const closing = (await collect(again.session.read())).find((entry) => entry.kind === "call-closed");
    expect(closing).toMatchObject({
      callId: cut,
      status: "canceled",
      effects: "unknown",
      output: expect.stringContaining("payment (done) happened; payment (hangs) may have happened"),
    });
    const retry = await again.session.runTool({ name: "pay", input: { key: "hangs" } });
    expect(retry).toMatchObject({ reason: "EFFECT_UNKNOWN" });
    expect((await collect(again.session.read())).filter(({ kind }) => kind === "effect-opened")).toHaveLength(2);
  });

  test("[TURN-7] a slice that this process does not know is carried, not lost", async () => {
    const { disk, session } = await opened();
    await run(session, "a");
    await session.checkpoint();
    await run(session, "b");
    await session.close();
    const stranger = await opened(disk, { slices: [], tools: [] });
    expect(stranger.session.state.root.get("steps")).toEqual(["a", "b"]);
    await stranger.session.checkpoint();
    await stranger.session.close();
    const again = await opened(disk);
    expect(await look(again.session)).toMatchObject({ steps: ["a", "b"], diary: ["a", "b"] });
  });

  test("[TURN-8] a call whose commit the store refuses leaves the state as it was, and the next process agrees", async () => {
    const disk = new MemoryDisk();
    const deps = memoryDeps(disk);
    let full = false;
    const store = between(deps.store, {
      before: (batch) => {
        if (full && batch.kind === "append") throw ioError();
        return undefined;
      },
    });
    const session = await new Holdfast({ ...deps, store }, OPTIONS).open("s");
    await run(session, "a");
    const before = await look(session);
    const pending = await session.begin({ name: "theirs", input: {} });
    pending.call.dispatch(steps.added("lost"));
    full = true;
    await expect(pending.commit("fine")).rejects.toMatchObject({ code: "STORE_IO" });
    expect(await look(session)).toEqual(before);
    full = false;
    await expect(run(session, "b")).rejects.toMatchObject({ code: "STATE_POISONED" });
    await deps.store.close();
    expect(await look((await opened(disk)).session)).toEqual(before);
  });

  test("[TX-9] a call whose content alone could not be kept is closed as failed, and harms nobody", async () => {
    const disk = new MemoryDisk();
    const deps = memoryDeps(disk);
    let full = false;
    const { blobs } = deps.store;
    const put = blobs.put.bind(blobs);
    blobs.put = async (source, signal) => {
      if (full) throw ioError();
      return put(source, signal);
    };
    const large = writes("large", async (_, call) => {
      await call.files.writeText("large.txt", "x".repeat(100_000));
      call.dispatch(steps.added("lost"));
    });
    const session = await new Holdfast(deps, { ...OPTIONS, tools: [step, large] }).open("s");
    await run(session, "a");
    const before = await look(session);
    full = true;
    expect(await session.runTool({ name: "large", input: {} })).toMatchObject({ ok: false, reason: "STORE_IO" });
    expect([await look(session), session.openCalls, session.state.poisoned]).toEqual([before, [], false]);
    expect(session.state.session.all(ToolInvoked).map(({ success }) => success)).toEqual([true, false]);
    full = false;
    expect(await session.runTool({ name: "large", input: {} })).toMatchObject({ ok: true });
    await deps.store.close();
    expect(await look((await opened(disk)).session)).toMatchObject({
      steps: ["a", "lost"],
      files: ["a.txt", "large.txt"],
    });
  });

  test("[TURN-8] a call whose changes are too deep or too large to be kept fails, and harms nobody", async () => {
    const nested = (depth: number) => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`) as string;
    const big = writes<{ how: string }>("big", ({ how }, call) => {
      if (how === "deep slice") call.dispatch(steps.added(nested(100)));
      if (how === "large slice") call.dispatch(steps.added("x".repeat(5000)));
      if (how === "deep result") return nested(100);
      return how === "deep payload" ? call.fail("no", "no", nested(110)) : "fine";
    });
    const { holdfast } = kernel(new MemoryDisk(), { tools: [big, step] });
    const session = await holdfast.open("s", { limits: { depth: 128, characters: 4000 } });
    const reasons: string[] = [];
    for (const how of ["deep slice", "deep result", "deep payload"])
      reasons.push((await session.runTool({ name: "big", input: { how } })).reason);
    expect(reasons).toEqual(["SLICE_NOT_JSON", "result-not-json", "no"]);
    expect((await session.runTool({ name: "big", input: nested(120) })).reason).toBe("bad-arguments");
    expect(await session.runTool({ name: "big", input: { how: "large slice" } })).toMatchObject({
      reason: "VALUE_TOO_LARGE",
    });
    await run(session, "a");
    expect((await look(session)).steps).toEqual(["a"]);
  });

  test("[TURN-8] [K46] a writer that lost its lease commits nothing", async () => {
    const { disk, session } = await opened();
    await run(session, "a");
    const started = Promise.withResolvers<void>();
    const slow = writes("slow", async (_, call) => {
      call.dispatch(steps.added("zombie"));
      started.resolve();
      await new Promise((resolve) => call.signal.addEventListener("abort", resolve));
      return "too late";
    });
    session.transactions.add([slow]);
    const clock = new FixedClock();
    clock.advance(3_600_000);
    const zombie = session.runTool({ name: "slow", input: {} });
    const failed = zombie.catch((error: { code: string }) => error.code);
    await started.promise;
    const thief = await new Holdfast(memoryDeps(disk, clock), OPTIONS).open("s");
    expect(thief.recovered.closedCalls).toHaveLength(1);
    await expect(session.append(said("still me"))).rejects.toMatchObject({ code: "LEASE_LOST" });
    expect(await failed).toBe("LEASE_LOST");
    expect((await look(thief)).steps).toEqual(["a"]);
  });

  test("[TURN-9] two runs with the same script, clock, randomness and ids write the same journal, byte for byte", async () => {
    const jobs = [3, 1, 2, 0, 2].map((wait, n) => ({ name: "wait", input: { wait, n } }));
    const wait = writes<{ wait: number; n: number }>("wait", async ({ wait, n }, call) => {
      const now = call.get(counter);
      for (let turn = 0; turn < wait * 5; turn += 1) await Promise.resolve();
      call.dispatch(counter.set(now + n));
      await call.files.writeText(`${n}`, call.random.hex(8));
      return call.random.hex(4);
    });
    const texts: string[] = [];
    for (let round = 0; round < 2; round += 1) {
      const { session, deps } = await opened(new MemoryDisk(), { tools: [wait], commitOrder: "call" });
      await session.runTools(jobs);
      await session.checkpoint();
      const row = await deps.store.reading((read) => read.session(session.id));
      const records = await deps.store.reading((read) => read.records(row!, { from: 1, to: 1000, limit: 1000 }));
      texts.push(JSON.stringify([records, session.state.toJson(await session.state.snapshot({ includeAll: true }))]));
    }
    expect(texts[0]).toBe(texts[1]);
  });
});

test("[TELEMETRY-9] what could not be forgotten is told; the call stands, and it is tried again later", async () => {
  const { store, ...deps } = memoryDeps();
  let full = true;
  const flaky = between(store, {
    before: (batch) => {
      if (full && batch.kind === "sweep") throw ioError();
      return undefined;
    },
  });
  const heard: unknown[] = [];
  const emit = ({ kind, facts }: KernelEvent) => {
    if (kind === "upkeep-failed") heard.push(facts["code"]);
  };
  const options = { ...OPTIONS, telemetry: { sinks: [{ emit }] }, retention: { records: 10 } };
  const holdfast = new Holdfast({ ...deps, store: flaky }, options);
  const session = await holdfast.open("s");
  for (let nth = 0; nth < 180; nth += 1) await run(session, `n${nth}`);
  expect(heard).toEqual(["STORE_IO"]);
  full = false;
  for (let nth = 0; nth < 180; nth += 1) await run(session, `m${nth}`);
  expect(heard).toEqual(["STORE_IO"]);
  expect((await collect(session.read())).length).toBeLessThan(700);
});

test("[TELEMETRY-9] a checkpoint that could not be kept is told; what was appended stands, and the next append tries again", async () => {
  const { store, ...deps } = memoryDeps();
  let full = true;
  const flaky = between(store, {
    before: (batch) => {
      if (full && batch.kind === "append" && batch.checkpoint !== undefined) throw ioError();
      return undefined;
    },
  });
  const heard: unknown[] = [];
  const emit = ({ kind, facts }: KernelEvent) => {
    if (kind.startsWith("checkpoint-")) heard.push([kind, facts["code"]]);
  };
  const holdfast = new Holdfast({ ...deps, store: flaky }, { telemetry: { sinks: [{ emit }] } });
  const session = await holdfast.open("s");
  await session.append(Array.from({ length: 512 }, () => said("x")));
  expect([heard, session.journal.head.seq]).toEqual([[["checkpoint-failed", "STORE_IO"]], 513]);
  full = false;
  await session.append(said("y"));
  expect(heard.slice(1)).toEqual([["checkpoint-kept", undefined]]);
});
