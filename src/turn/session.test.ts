import { describe, expect, test } from "vitest";
import { counter, diary, quiet, steps, writes } from "../../test/support/calls.ts";
import { between, collect, ioError, MemoryDisk, memoryDeps, said } from "../../test/support/stores.ts";
import { FixedClock } from "../base/clock.ts";
import { countingIds } from "../base/ids.ts";
import { ToolInvoked } from "../state/default-slices.ts";
import { resourceKey } from "../state/resources.ts";
import { defineTool, type Tool } from "../transaction/tool.ts";
import { Holdfast } from "./holdfast.ts";
import type { SessionOptions } from "./resume.ts";
import type { Session } from "./session.ts";

const step = writes<{ readonly n: string; readonly fail?: boolean }>("step", async ({ n, fail }, call) => {
  call.dispatch(steps.added(n));
  call.dispatch(counter.added(1));
  call.dispatch(diary.said(n));
  await call.files.writeText(`${n}.txt`, `file ${n}`);
  return fail === true ? call.fail("no", "no") : n;
});

const OPTIONS: SessionOptions = { tools: [step], slices: [counter, steps, diary], development: true };

function kernel(disk: MemoryDisk, options: SessionOptions = {}) {
  const deps = memoryDeps(disk);
  return { deps, holdfast: new Holdfast(deps, { ...OPTIONS, ids: countingIds(), ...options }) };
}

async function opened(disk = new MemoryDisk(), options: SessionOptions = {}) {
  const { deps, holdfast } = kernel(disk, options);
  return { disk, deps, holdfast, session: await holdfast.open("s") };
}

const run = async (session: Session, n: string, fail = false) =>
  (await session.runTool({ name: "step", input: { n, fail } })).callId;
const look = async (session: Session) => ({
  steps: session.state.session.get(steps),
  counter: session.state.session.get(counter),
  diary: session.state.session.get(diary),
  files: (await session.files.list()).map(({ name }) => name),
});

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
    for (let n = 0; n < 150; n += 1) await run(session, `${n}`, n % 3 === 0);
    await session.rewind({ before: await run(session, "gone") });
    const before = await look(session);
    await deps.store.close();
    const again = await opened(disk);
    expect(again.session.journal.opened.tail.length).toBeLessThan(300);
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
    expect((await session.runTool({ name: "big", input: nested(120) })).ok).toBe(true);
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

describe("checkpoints of a durable session", () => {
  test("[TURN-10] [K21] [K22] lead back before and after a call, here and in a fresh process; logs keep everything", async () => {
    for (const side of ["before", "after"] as const) {
      for (const fresh of [false, true]) {
        let { disk, deps, session } = await opened();
        const ids: string[] = [];
        const states = [await look(session)];
        for (const n of ["a", "b", "c"]) {
          ids.push(await run(session, n));
          states.push(await look(session));
        }
        if (fresh) {
          await deps.store.close();
          ({ disk, deps, session } = await opened(disk));
        }
        expect(session.checkpoints.list().map(({ callId }) => callId)).toEqual(ids);
        const target = ids[1]!;
        const options = side === "before" ? { before: target } : { after: target };
        const dry = await session.rewind({ ...options, dryRun: true });
        expect(dry).toMatchObject({ done: false, calls: side === "before" ? ids.slice(1) : ids.slice(2) });
        const head = session.journal.head.seq;
        const report = await session.rewind(options);
        expect(report).toEqual({ ...dry, done: true });
        const wanted = states[side === "before" ? 1 : 2];
        expect(await look(session)).toEqual({ ...wanted, diary: ["a", "b", "c"] });
        expect(session.state.session.all(ToolInvoked)).toHaveLength(3);
        expect((await collect(session.read({ from: head + 1 }))).map(({ kind }) => kind)).toEqual([
          "rewound",
          "state-changed",
        ]);
        await expect(session.rewind({ before: ids[2]! })).rejects.toMatchObject({ code: "CHECKPOINT_REWOUND" });
        await run(session, "d");
        const now = await look(session);
        await deps.store.close();
        expect(await look((await opened(disk)).session)).toEqual(now);
      }
    }
  });

  test("[TURN-10] [K23] are kept up to a bound; what they alone needed is reclaimed, and asking for one is a typed error", async () => {
    const { session, deps, holdfast, disk } = await opened(new MemoryDisk(), { checkpoints: { limit: 5 } });
    const ids: string[] = [];
    for (let n = 0; n < 12; n += 1) {
      ids.push(await run(session, `${n}`));
      if (n % 3 === 2) await session.checkpoint();
    }
    expect(session.checkpoints.list().map(({ callId }) => callId)).toEqual(ids.slice(-5));
    await expect(session.rewind({ before: ids[0]! })).rejects.toMatchObject({ code: "CHECKPOINT_UNKNOWN" });
    const entries = await collect(session.read());
    const dropped = entries.filter((entry) => entry.kind === "dropped");
    expect(new Set(dropped.map(({ was }) => was))).toEqual(new Set(["state-changed", "checkpoint-kept"]));
    expect(entries.filter(({ kind }) => kind === "call-closed")).toHaveLength(12);
    await holdfast.sweep({ graceMs: 0 });
    expect((await holdfast.verify()).ok).toBe(true);
    await deps.store.close();
    const again = await opened(disk, { checkpoints: { limit: 5 } });
    for (const [at, id] of ids.slice(-5).entries()) {
      const pre = await again.session.checkpoints.getPreSnapshot(id);
      expect(pre.session.slices.get("steps")).toHaveLength(7 + at);
      expect(pre.metadata).toMatchObject({ phase: "pre_tool", toolCallId: id, toolName: "step" });
      expect((await again.session.checkpoints.getPostSnapshot(id)).session.slices.get("counter")).toBe(8 + at);
    }
  });

  test("[TURN-11] a rewind may take the state, the files or the conversation alone", async () => {
    const { session } = await opened();
    const a = await run(session, "a");
    await run(session, "b");
    await session.rewind({ after: a, scope: "files" });
    expect(await look(session)).toMatchObject({ steps: ["a", "b"], files: ["a.txt"] });
    await session.rewind({ after: a, scope: ["state"] });
    expect(await look(session)).toMatchObject({ steps: ["a"], files: ["a.txt"] });
    const items = await session.conversation();
    expect(items.filter(({ kind }) => kind === "output")).toHaveLength(2);
    await session.rewind({ before: a, scope: "conversation" });
    expect(await session.conversation()).toEqual([]);
    expect(await look(session)).toMatchObject({ steps: ["a"], files: ["a.txt"] });
  });

  test("[TURN-11] [T10] is refused while calls run, and for calls that are not kept", async () => {
    const { session } = await opened();
    const a = await run(session, "a");
    const pending = await session.begin({ name: "theirs", input: {} });
    await expect(session.rewind({ before: a })).rejects.toMatchObject({ code: "CALLS_OPEN" });
    await pending.abort();
    await expect(session.rewind({ before: "nope" })).rejects.toMatchObject({ code: "CHECKPOINT_UNKNOWN" });
  });

  test("[TURN-11] [T09] that cannot be written down changes nothing", async () => {
    const deps = memoryDeps();
    let broken = false;
    const store = between(deps.store, {
      before: (batch) => {
        if (broken && batch.kind === "append") throw ioError();
        return undefined;
      },
    });
    const session = await new Holdfast({ ...deps, store }, OPTIONS).open("s");
    const a = await run(session, "a");
    const before = await look(session);
    broken = true;
    await expect(session.rewind({ before: a })).rejects.toMatchObject({ code: "STORE_IO" });
    expect(await look(session)).toEqual(before);
    broken = false;
    await session.rewind({ before: a });
    expect((await look(session)).steps).toEqual([]);
  });

  test("[TURN-12] [K57] after a rewind the conversation pairs up, whatever overlapped", async () => {
    const gates = new Map<string, PromiseWithResolvers<void>>();
    const slow = writes<{ n: string }>("slow", async ({ n }, call) => {
      const gate = Promise.withResolvers<void>();
      gates.set(n, gate);
      await gate.promise;
      call.dispatch(steps.added(n));
      return n;
    });
    const { session } = await opened(new MemoryDisk(), { tools: [slow, step] });
    await session.append(said("go"));
    const calls = session.runTools(["a", "b", "c"].map((n) => ({ name: "slow", input: { n } })));
    await quiet();
    for (const n of ["c", "a", "b"]) {
      gates.get(n)?.resolve();
      await quiet();
    }
    const [a, b, c] = (await calls).map(({ callId }) => callId);
    await session.append(said("more"));
    await session.rewind({ before: a! });
    expect(session.state.session.get(steps)).toEqual(["c"]);
    const items = await session.conversation();
    expect(items.map((item) => ("callId" in item ? `${item.kind} ${item.callId}` : item.kind))).toEqual([
      "user",
      `call ${c}`,
      `output ${c}`,
    ]);
    expect(
      session.checkpoints
        .list()
        .filter(({ rewound }) => rewound)
        .map(({ callId }) => callId),
    ).toEqual([a, b]);
  });

  test("[TURN-13] undoes effects newest first, and reports what it cannot undo, by another process too", async () => {
    const did: string[] = [];
    const pay = (undo: boolean): Tool =>
      defineTool<{ key: string }>({
        name: "pay",
        access: "external",
        effects: {
          payment: {
            run: (_args: unknown, { key }) => key,
            ...(undo
              ? { undo: (_args: unknown, _result: unknown, { key }: { key: string }) => void did.push(key) }
              : {}),
          },
        },
        run: ({ key }, call) => call.effect("payment", { key }, { key }),
      });
    for (const undo of [true, false]) {
      did.length = 0;
      const { disk, session } = await opened(new MemoryDisk(), { tools: [pay(undo), step] });
      const first = await run(session, "a");
      for (const key of ["one", "two"]) await session.runTool({ name: "pay", input: { key } });
      await session.close();
      const { session: again } = await opened(disk, { tools: [pay(undo), step] });
      const dry = await again.rewind({ after: first, dryRun: true });
      expect(dry.effects.map(({ key, is }) => [key, is])).toEqual([
        ["two", "happened"],
        ["one", "happened"],
      ]);
      expect(did).toEqual([]);
      const { effects } = await again.rewind({ after: first });
      expect(effects.map(({ key, is }) => [key, is])).toEqual([
        ["two", undo ? "undone" : "not-undone"],
        ["one", undo ? "undone" : "not-undone"],
      ]);
      expect(did).toEqual(undo ? ["two", "one"] : []);
    }
  });

  test("[TURN-13] a rewind that was cut off before it could undo is finished by the next process", async () => {
    const did: string[] = [];
    const pay = (undo: () => void | Promise<void>): Tool =>
      defineTool({
        name: "pay",
        access: "external",
        effects: { payment: { run: () => "paid", undo } },
        run: (_, call) => call.effect("payment", {}, { key: "k" }),
      });
    const hangs = pay(() => new Promise<void>(() => {}));
    const { disk, deps, session } = await opened(new MemoryDisk(), { tools: [hangs, step] });
    const first = await run(session, "a");
    await session.runTool({ name: "pay", input: {} });
    void session.rewind({ after: first }).catch(() => {});
    await quiet();
    await deps.store.close();
    const again = await opened(disk, { tools: [pay(() => void did.push("undone")), step] });
    expect(did).toEqual(["undone"]);
    await again.deps.store.close();
    await opened(disk, { tools: [pay(() => void did.push("twice")), step] });
    expect(did).toEqual(["undone"]);
  });

  test("[TURN-14] puts resources back too, when this process captured them", async () => {
    const BOX = resourceKey<{ value: number }>("box");
    const box = { value: 0, snapshot: () => box.value, restore: (to: number) => void (box.value = to) };
    const use = writes("use", async (_, call) => {
      (await call.resource(BOX)).value += 1;
    });
    const { session } = await opened(new MemoryDisk(), { tools: [use], resources: () => [[BOX, box]] });
    const first = (await session.runTool({ name: "use", input: {} })).callId;
    await session.runTool({ name: "use", input: {} });
    await session.rewind({ after: first });
    expect(box.value).toBe(1);
  });
});

describe("a fork of a durable session", () => {
  test("[TURN-15] [K24] [T13] goes on from a boundary, and neither sees the other's changes", async () => {
    const { session } = await opened();
    const a = await run(session, "a");
    const b = await run(session, "b");
    const fork = await session.fork({ before: b, as: "other" });
    await run(fork, "fork");
    await run(session, "trunk");
    expect((await look(fork)).steps).toEqual(["a", "fork"]);
    expect((await look(session)).steps).toEqual(["a", "b", "trunk"]);
    const after = await session.fork({ after: b, as: "third" });
    expect(await look(after)).toMatchObject({ steps: ["a", "b"], files: ["a.txt", "b.txt"] });
    await after.rewind({ after: a });
    expect((await look(after)).steps).toEqual(["a"]);
    expect((await look(session)).steps).toEqual(["a", "b", "trunk"]);
  });

  test("[TURN-15] [T13] at a running call is refused after it and allowed before it; at a rewound or unknown one refused", async () => {
    const { session } = await opened();
    await run(session, "a");
    const b = await run(session, "b");
    const pending = await session.begin({ name: "theirs", input: {} });
    await expect(session.fork({ after: pending.id, as: "x" })).rejects.toMatchObject({ code: "CALLS_OPEN" });
    const before = await session.fork({ before: pending.id, as: "y" });
    expect([(await look(before)).steps, before.openCalls]).toEqual([["a", "b"], []]);
    await pending.abort();
    await session.rewind({ before: b });
    await expect(session.fork({ after: b, as: "z" })).rejects.toMatchObject({ code: "CHECKPOINT_REWOUND" });
    await expect(session.fork({ after: "nope", as: "z" })).rejects.toMatchObject({ code: "CHECKPOINT_UNKNOWN" });
  });

  test("[TURN-16] inherits effects and never undoes them", async () => {
    const did: string[] = [];
    const pay = defineTool<{ key: string }>({
      name: "pay",
      access: "external",
      effects: {
        payment: {
          run: (_args: unknown, { key }) => did.push(key),
          undo: () => void did.push("undone"),
        },
      },
      run: ({ key }, call) => call.effect("payment", {}, { key }),
    });
    const { session } = await opened(new MemoryDisk(), { tools: [pay, step] });
    const first = await run(session, "a");
    const paid = (await session.runTool({ name: "pay", input: { key: "k" } })).callId;
    const fork = await session.fork({ after: paid, as: "fork" });
    await fork.rewind({ after: first });
    expect(did).toEqual(["k"]);
    await fork.runTool({ name: "pay", input: { key: "k" } });
    expect(did).toEqual(["k"]);
    await session.rewind({ after: first });
    expect(did).toEqual(["k", "undone"]);
  });
});

test("[TURN-17] [K17] a child session's span is rewound when the call it worked for is discarded", async () => {
  const { holdfast, session } = await opened();
  const child = await holdfast.open("child");
  await run(child, "before");
  const delegate = writes<{ fail: boolean }>("delegate", async ({ fail }, call) => {
    await call.child(child);
    await run(child, "work");
    if (fail) throw new Error("boom");
  });
  session.transactions.add([delegate]);
  await session.runTool({ name: "delegate", input: { fail: false } });
  await session.runTool({ name: "delegate", input: { fail: true } });
  expect((await look(child)).steps).toEqual(["before", "work"]);
  expect((await collect(child.read())).at(-2)).toMatchObject({ kind: "rewound" });
  expect(await child.conversation()).toHaveLength(4);
});
