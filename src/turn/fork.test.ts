import { describe, expect, test } from "vitest";
import { steps, writes } from "../../test/support/calls.ts";
import { look, opened, run, step } from "../../test/support/durable.ts";
import { scripted, watch } from "../../test/support/loop.ts";
import { collect, MemoryDisk } from "../../test/support/stores.ts";
import { defineTool } from "../transaction/tool.ts";

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

  test("[TURN-15] never begins between a call's end and what it changed, by whatever number it is asked for", async () => {
    const inner = writes("inner", (_, call) => call.dispatch(steps.added("i")));
    const outer = writes("outer", async (_, call) => void (await call.run({ name: "inner", input: {} })));
    const { session, holdfast } = await opened(new MemoryDisk(), { tools: [step, inner, outer] });
    await run(session, "a");
    await session.runTool({ name: "outer", input: {} });
    await session.append({ kind: "user-said", text: "hi" });
    for (const { seq, kind } of await collect(session.read())) {
      const fork = await holdfast.fork("s", { as: `at-${seq}`, after: seq }).catch((error: unknown) => error);
      if (kind === "call-closed") {
        expect(fork).toMatchObject({ code: "FORK_POINT_UNKNOWN" });
        await expect(holdfast.look(`at-${seq}`)).rejects.toMatchObject({ code: "SESSION_UNKNOWN" });
        continue;
      }
      const { state, checkpoints } = fork as typeof session;
      const ended = checkpoints.list().filter(({ status }) => status === "success");
      const made = ended.flatMap(({ tool }) => (tool === "step" ? ["a"] : tool === "inner" ? ["i"] : []));
      expect([seq, state.session.get(steps)]).toEqual([seq, made]);
    }
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

  test("[TURN-16] also not with a call that asked for them again and was discarded or taken back, in whichever process", async () => {
    const did: string[] = [];
    const pay = writes<{ readonly fail: boolean }>(
      "pay",
      async ({ fail }, call) => {
        await call.effect("payment", {}, { key: "k" });
        if (fail) throw new Error("no");
      },
      { effects: { payment: { run: () => did.push("paid"), undo: () => void did.push("undone") } } },
    );
    const options = { tools: [pay, step] };
    const { session, disk, deps } = await opened(new MemoryDisk(), options);
    const { callId } = await session.runTool({ name: "pay", input: { fail: false } });
    const fork = await session.fork({ after: callId, as: "fork" });
    await fork.runTool({ name: "pay", input: { fail: true } });
    const again = await fork.runTool({ name: "pay", input: { fail: false } });
    await fork.checkpoint();
    const last = await fork.runTool({ name: "pay", input: { fail: false } });
    await fork.rewind({ before: last.callId });
    expect(did).toEqual(["paid"]);
    await deps.store.close();
    const next = await opened(disk, options);
    const reopened = await next.holdfast.open("fork");
    expect((await reopened.rewind({ before: again.callId })).effects).toEqual([]);
    expect(did).toEqual(["paid"]);
    await next.session.rewind({ before: callId });
    expect(did).toEqual(["paid", "undone"]);
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

test("[TURN-17] what waits in a child session for a call that is discarded is asked of nobody; what waited before still is", async () => {
  const deployed: string[] = [];
  const deploy = writes<{ readonly to: string }>("deploy", ({ to }) => deployed.push(to), { approval: true });
  const tools = [step, deploy];
  const { holdfast, session, disk, deps } = await opened(new MemoryDisk(), { tools });
  const child = await holdfast.open("child");
  const asks = (to: string) =>
    watch(child.run("go", { model: scripted([{ calls: [{ name: "deploy", input: { to } }] }]) }));
  const delegate = writes<{ readonly to?: string }>("delegate", async ({ to }, call) => {
    await call.child(child);
    if (to !== undefined) await asks(to);
    throw new Error("boom");
  });
  session.transactions.add([delegate]);
  await session.runTool({ name: "delegate", input: { to: "production" } });
  expect([child.waiting, child.openCalls, await child.conversation()]).toEqual([[], [], []]);
  const closed = (await collect(child.read())).filter((entry) => entry.kind === "call-closed");
  expect(closed).toMatchObject([{ tool: "deploy", reason: "unanswered", effects: "none" }]);
  await asks("staging");
  await session.runTool({ name: "delegate", input: {} });
  await deps.store.close();
  const again = await (await opened(disk, { tools })).holdfast.open("child");
  expect(again.waiting).toMatchObject([{ input: { to: "staging" } }]);
  await again.reply(again.waiting[0]!.callId, { approve: true });
});
