import { describe, expect, test } from "vitest";
import { quiet, steps, writes } from "../../test/support/calls.ts";
import { look, OPTIONS, opened, run, step } from "../../test/support/durable.ts";
import { between, collect, ioError, MemoryDisk, memoryDeps, said } from "../../test/support/stores.ts";
import type { Json } from "../base/json.ts";
import { ToolInvoked, WorkspaceDigest } from "../state/default-slices.ts";
import { resourceKey } from "../state/resources.ts";
import { defineSlice } from "../state/slice.ts";
import { defineTool, type Tool } from "../transaction/tool.ts";
import { Holdfast } from "./holdfast.ts";

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
    for (let n = 0; n < 36; n += 1) {
      ids.push(await run(session, `${n}`));
      if (n % 3 === 2) await session.checkpoint();
    }
    expect(session.checkpoints.list().map(({ callId }) => callId)).toEqual(ids.slice(-5));
    await expect(session.rewind({ before: ids[0]! })).rejects.toMatchObject({ code: "CHECKPOINT_UNKNOWN" });
    const entries = await collect(session.read());
    const dropped = entries.filter((entry) => entry.kind === "dropped");
    expect(new Set(dropped.map(({ was }) => was))).toEqual(new Set(["state-changed", "checkpoint-kept"]));
    expect(entries.filter(({ kind }) => kind === "call-closed")).toHaveLength(36);
    await holdfast.sweep({ graceMs: 0 });
    expect((await holdfast.verify()).ok).toBe(true);
    await deps.store.close();
    const again = await opened(disk, { checkpoints: { limit: 5 } });
    for (const [at, id] of ids.slice(-5).entries()) {
      const pre = await again.session.checkpoints.getPreSnapshot(id);
      expect(pre.session.slices.get("steps")).toHaveLength(31 + at);
      expect(pre.metadata).toMatchObject({ phase: "pre_tool", toolCallId: id, toolName: "step" });
      expect((await again.session.checkpoints.getPostSnapshot(id)).session.slices.get("counter")).toBe(32 + at);
    }
  });

  test("[TURN-10] [TURN-15] nobody returns to between the ends of a call and of those inside it: they happened together", async () => {
    const inner = writes<{ readonly n: string }>("inner", ({ n }, call) => call.dispatch(steps.added(n)));
    const outer = writes("outer", async (_, call) => {
      await call.run({ name: "inner", input: { n: "i" } });
      await call.run({ name: "inner", input: { n: "j" } });
      call.dispatch(steps.added("o"));
    });
    const { session, disk, deps } = await opened(new MemoryDisk(), { tools: [step, inner, outer] });
    await run(session, "a");
    const { callId } = await session.runTool({ name: "outer", input: {} });
    await run(session, "b");
    const all = ["a", "i", "j", "o"];
    for (const id of [`${callId}.1`, `${callId}.2`, callId]) {
      const after = await session.fork({ after: id, as: `after-${id}` });
      expect(after.state.session.get(steps)).toEqual(all);
      expect((await collect(after.read())).filter(({ kind }) => kind === "call-closed")).toHaveLength(4);
      const before = await session.fork({ before: id, as: `before-${id}` });
      expect(before.state.session.get(steps)).toEqual(["a"]);
      const ended = before.checkpoints.list().filter(({ status }) => status === "success");
      expect(ended.map(({ tool }) => tool)).toEqual(["step"]);
    }
    await deps.store.close();
    const again = (await opened(disk, { tools: [step, inner, outer] })).session;
    await again.rewind({ after: `${callId}.1` });
    expect(again.state.session.get(steps)).toEqual(all);
    const { calls } = await again.rewind({ before: `${callId}.2` });
    expect(calls).toEqual([`${callId}.1`, `${callId}.2`, callId]);
    expect(again.state.session.get(steps)).toEqual(["a"]);
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
      const why = undo ? undefined : "no way to undo it is declared here";
      expect(dry.effects.map(({ key, is, detail }) => [key, is, detail])).toEqual([
        ["two", "happened", why],
        ["one", "happened", why],
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

  test("[TURN-13] undoes nothing outside while the state that tells of it stays", async () => {
    const did: string[] = [];
    const mail = { run: () => did.push("sent"), undo: () => void did.push("undone") };
    const post = writes("post", async (_, call) => call.effect("mail", {}, { key: "k" }), { effects: { mail } });
    const { session } = await opened(new MemoryDisk(), { tools: [post, step] });
    const { callId } = await session.runTool({ name: "post", input: {} });
    for (const scope of [["conversation"], ["files"], ["conversation", "files"]] as const) {
      expect((await session.rewind({ before: callId, scope, dryRun: true })).effects).toEqual([]);
      expect((await session.rewind({ before: callId, scope })).effects).toEqual([]);
    }
    expect(did).toEqual(["sent"]);
    await session.rewind({ before: callId, scope: "state" });
    expect(did).toEqual(["sent", "undone"]);
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

  test("[TURN-14] [TURN-10] what only this process can keep of a resource is put back, too, before a call inside another", async () => {
    const MAP = resourceKey<{ size: number }>("map");
    const map = {
      size: 0,
      snapshot: () => new Map([["size", map.size]]),
      restore: (to: ReadonlyMap<string, number>) => void (map.size = to.get("size") ?? -1),
    };
    const inner = writes("inner", (_, call) => call.dispatch(steps.added("i")));
    const grow = writes("grow", async (_, call) => {
      (await call.resource(MAP)).size += 1;
      await call.run({ name: "inner", input: {} });
    });
    const { session } = await opened(new MemoryDisk(), { tools: [grow, inner], resources: () => [[MAP, map]] });
    const ids: string[] = [];
    for (let nth = 0; nth < 3; nth += 1) ids.push((await session.runTool({ name: "grow", input: {} })).callId);
    await session.rewind({ after: `${ids[1]}.1` });
    expect(map.size).toBe(2);
    await session.rewind({ before: `${ids[1]}.1` });
    expect([map.size, session.state.session.get(steps)]).toEqual([1, ["i"]]);
  });

  test("[REDACT-9] [REDACT-6] a secret that was registered later does not come back with what this process remembers", async () => {
    const { session, holdfast, disk, deps } = await opened();
    const secret = "hunter2-of-old-times";
    const first = await run(session, secret);
    await session.state.session.seed(steps, []);
    const kept = await session.state.snapshot();
    await session.rewind({ after: first, scope: "state" });
    await session.state.session.seed(steps, []);
    holdfast.registerSecret(secret);
    const { head } = session.journal;
    await session.rewind({ after: first, scope: "state" });
    const [shown] = session.state.session.get(steps);
    expect(shown).not.toContain("hunter2");
    expect(JSON.stringify(await collect(session.read({ from: head.seq + 1 })))).not.toContain("hunter2");
    await session.state.restore(kept);
    await deps.store.close();
    expect((await opened(disk)).session.state.session.get(steps)).toEqual([]);
  });

  test("[TURN-14] a resource that was first used after the boundary is what it was before, whether a call or a restore used it", async () => {
    const BOX = resourceKey<{ value: number }>("box");
    const box = { value: 0, snapshot: () => box.value, restore: (to: number) => void (box.value = to) };
    const use = writes("use", async (_, call) => {
      (await call.resource(BOX)).value += 1;
    });
    const { session } = await opened(new MemoryDisk(), { tools: [step, use], resources: () => [[BOX, box]] });
    const callId = await run(session, "a");
    await session.runTool({ name: "use", input: {} });
    await session.rewind({ after: callId });
    expect(box.value).toBe(0);
    const other = await opened(new MemoryDisk(), { tools: [step], resources: () => [[BOX, box]] });
    box.value = 7;
    const kept = await other.session.state.snapshot();
    box.value = 3;
    const first = await run(other.session, "b");
    await other.session.state.restore(kept);
    expect(box.value).toBe(7);
    await other.session.rewind({ before: first });
    expect(box.value).toBe(3);
  });

  test("[TURN-11] of two rewinds at once the second sees what the first took back", async () => {
    const { session } = await opened();
    const [a, b] = [await run(session, "a"), await run(session, "b")];
    const results = await Promise.allSettled([session.rewind({ before: a }), session.rewind({ after: b })]);
    expect(results[0]).toMatchObject({ status: "fulfilled", value: { calls: [a, b] } });
    expect(results[1]).toMatchObject({ status: "rejected", reason: { code: "CHECKPOINT_REWOUND" } });
    expect((await look(session)).steps).toEqual([]);
  });

  test("[TURN-13] before a call is before the calls inside it: what they did outside is undone too", async () => {
    const undone: string[] = [];
    const effects = {
      mail: { run: () => "sent", undo: (_: Json, __: Json, { key }: { key: string }) => void undone.push(key) },
    };
    const inner = writes("inner", async (_, call) => call.effect("mail", {}, { key: "m" }), { effects });
    const outer = writes("outer", async (_, call) => (await call.run({ name: "inner", input: {} })).ok);
    const { session } = await opened(new MemoryDisk(), { tools: [inner, outer] });
    const { callId } = await session.runTool({ name: "outer", input: {} });
    expect((await session.rewind({ before: callId })).calls).toEqual([`${callId}.1`, callId]);
    expect(undone).toEqual(["m"]);
  });
});

test("[SLICE-5] [FILE-17] what was remembered of files is emptied when only the files go back", async () => {
  const digest = writes<string>("digest", async (name, call) => {
    await call.files.writeText(name, "a");
    call.dispatch(WorkspaceDigest.set({ section: "ws", digest: name }));
    return 1;
  });
  const { session } = await opened(new MemoryDisk(), { tools: [digest] });
  const first = await session.runTool({ name: "digest", input: "a.txt" });
  await session.rewind({ before: first.callId, scope: "conversation" });
  expect(session.state.session.get(WorkspaceDigest)).toHaveLength(1);
  const second = await session.runTool({ name: "digest", input: "b.txt" });
  const plan = await session.rewind({ before: second.callId, scope: "files", dryRun: true });
  expect(Object.keys(plan.delta)).toContain("WorkspaceDigest");
  await session.rewind({ before: second.callId, scope: "files" });
  expect(session.state.session.get(WorkspaceDigest)).toEqual([]);
  expect((await session.files.list()).map(({ name }) => name)).toEqual(["a.txt"]);
});

test("[TURN-96] a rewind whose change is more than a record holds is refused, planned and done, and a fork goes on from there", async () => {
  const slices = ["one", "two", "three"].map((name) =>
    defineSlice(name, { initial: "", on: { set: (_: string, to: string) => to } }),
  );
  const fill = writes<{ readonly nth: number; readonly size: number }>("fill", ({ nth, size }, call) =>
    call.dispatch(slices[nth]!.set("x".repeat(size))),
  );
  const { session } = await opened(undefined, { slices, tools: [fill], development: false });
  const filled = async (nth: number, size: number) =>
    (await session.runTool({ name: "fill", input: { nth, size } })).callId;
  const sizes = (of: typeof session) => slices.map((slice) => of.state.session.get(slice).length);
  const calls: string[] = [];
  for (const size of [24 * 1024 * 1024, 1]) for (const nth of [0, 1, 2]) calls.push(await filled(nth, size));
  const then = calls[2] ?? "";
  for (const dryRun of [true, false])
    await expect(session.rewind({ after: then, dryRun })).rejects.toMatchObject({ code: "REWIND_TOO_LARGE" });
  expect(sizes(session)).toEqual([1, 1, 1]);
  const fork = await session.fork({ after: then, as: "fork" });
  expect(sizes(fork)).toEqual([24 * 1024 * 1024, 24 * 1024 * 1024, 24 * 1024 * 1024]);
  for (const step of [calls[3] ?? "", then])
    expect(await session.rewind({ after: step })).toMatchObject({ done: true });
  expect(sizes(session)).toEqual(sizes(fork));
});
