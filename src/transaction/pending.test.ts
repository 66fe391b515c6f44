import { describe, expect, test } from "vitest";
import { counter, quiet, rig, steps, writes } from "../../test/support/calls.ts";
import type { StandardSchema } from "../contracts/schema.ts";
import { ToolInvoked } from "../state/default-slices.ts";
import { Deadline } from "./deadline.ts";
import { beginCall, runTool, ToolRunner } from "./runner.ts";
import { VisibilityExpansionRequired } from "./ending.ts";
import { ExecutionState } from "../state/execution-state.ts";
import { resourceKey, type Snapshotable } from "../state/resources.ts";
import { Semaphore } from "./semaphore.ts";
import type { ToolPolicy } from "./policy.ts";
import { defineTool } from "./tool.ts";
import { Transactions } from "./transactions.ts";

describe("a call that a host begins and ends", () => {
  test("[TX-30] commits what it changed, and without a commit is rolled back", async () => {
    const { state, transactions } = rig([]);
    {
      await using pending = await beginCall(transactions, { id: "c1", name: "theirs" });
      pending.call.dispatch(counter.added(1));
      expect(transactions.pending).toEqual(["c1"]);
      expect(await pending.commit("done")).toMatchObject({ ok: true, output: "done" });
    }
    {
      await using pending = await beginCall(state, { id: "c2", name: "theirs" });
      pending.call.dispatch(counter.added(10));
    }
    expect(state.session.get(counter)).toBe(1);
    expect(state.session.all(ToolInvoked).map(({ toolCallId, status }) => [toolCallId, status])).toEqual([
      ["c1", "success"],
      ["c2", "canceled"],
    ]);
    expect(transactions.pending).toEqual([]);
  });

  test("[PARITY-1] one that its signal ends says why, as when we run the tool", async () => {
    const wait = writes("wait", () => new Promise(() => {}));
    for (const why of [new Error("The user said stop."), undefined]) {
      const { transactions, ledger } = rig([wait]);
      const stop = new AbortController();
      const run = transactions.run({ id: "a", name: "wait", input: {} }, { signal: stop.signal });
      await beginCall(transactions, { id: "b", name: "wait", input: {} }, { signal: stop.signal });
      stop.abort(why);
      await transactions.ended(["a", "b"]);
      const { output } = await run;
      const begun = ledger.closings().find(({ callId }) => callId === "b");
      expect(output).toContain(why?.message ?? "aborted");
      expect(begun?.output).toBe(output);
    }
  });

  test("[TX-31] what is committed before it was admitted waits for that, and is refused with it", async () => {
    const { promise, resolve } = Promise.withResolvers<{ readonly value: object }>();
    const input: StandardSchema<object> = { "~standard": { version: 1, vendor: "test", validate: () => promise } };
    const slow = defineTool({ name: "slow", access: "write", input, inputSchema: {}, run: () => "done" });
    const deny: ToolPolicy = { name: "deny", check: () => "Not now." };
    const { state, transactions } = rig([slow], { policies: [deny] });
    const refused = transactions.begin({ id: "c1", name: "slow", input: {} }).catch((error: unknown) => error);
    await quiet();
    const committed = transactions.commit("c1", "fine");
    await quiet();
    resolve({ value: {} });
    expect(await committed).toBe("not pending");
    expect(await refused).toMatchObject({ code: "CALL_REFUSED" });
    expect(state.session.all(ToolInvoked).map(({ reason }) => reason)).toEqual(["denied"]);
  });

  test("[TX-31] is ended while it is being written down, and the end waits for that", async () => {
    const { transactions, ledger } = rig([]);
    const written = Promise.withResolvers<void>();
    const opened = ledger.opened.bind(ledger);
    ledger.opened = async (call) => {
      await written.promise;
      await opened(call);
    };
    const committed = transactions.begin({ id: "a", name: "theirs", input: {} });
    const aborted = transactions.begin({ id: "b", name: "theirs", input: {} }).catch((error: unknown) => error);
    const ends = [transactions.commit("a", "fine"), transactions.abort("b", "not wanted")];
    await quiet();
    expect(transactions.pending).toEqual(["a", "b"]);
    written.resolve();
    expect(await Promise.all(ends)).toMatchObject([{ ok: true }, { status: "canceled" }]);
    expect(await (await committed).commit("again")).toBe("not pending");
    expect(await aborted).toMatchObject({ code: "CALL_REFUSED", details: { reason: "canceled" } });
    expect([transactions.pending, ledger.kinds("a"), ledger.kinds("b")]).toEqual([
      [],
      ["opened", "closed"],
      ["opened", "closed"],
    ]);
  });

  test("[TX-31] one that could not be written down has nothing to end, and its id is free", async () => {
    const { transactions, ledger } = rig([]);
    ledger.failOn = "opened";
    const begun = transactions.begin({ id: "a", name: "theirs", input: {} });
    const ends = Promise.all([transactions.commit("a", "fine"), transactions.abort("a")]);
    await expect(begun).rejects.toThrow("cannot write opened");
    expect(await ends).toEqual(["not pending", "not pending"]);
    ledger.failOn = undefined;
    expect(await (await transactions.begin({ id: "a", name: "theirs", input: {} })).commit(1)).toMatchObject({
      ok: true,
    });
  });

  test("[TX-31] aborted while it is admitted, it is refused to whoever began it, with the reason", async () => {
    const { promise, resolve } = Promise.withResolvers<{ readonly value: object }>();
    const input: StandardSchema<object> = { "~standard": { version: 1, vendor: "test", validate: () => promise } };
    const { transactions, ledger } = rig([
      defineTool({ name: "slow", access: "write", input, inputSchema: {}, run: () => "done" }),
    ]);
    const begun = transactions.begin({ id: "a", name: "slow", input: {} });
    await quiet();
    expect(await transactions.abort("a", "changed my mind")).toMatchObject({ status: "canceled" });
    resolve({ value: {} });
    await expect(begun).rejects.toMatchObject({
      code: "CALL_REFUSED",
      details: { call: "a", reason: "canceled", message: expect.stringContaining("changed my mind") },
    });
    expect(ledger.kinds("a")).toEqual(["opened", "closed"]);
  });

  test("[TX-31] [TX-36] committed twice at once, it is remembered once", async () => {
    const policy: ToolPolicy = { name: "p", check: () => undefined, onResult: () => [steps.added("remembered")] };
    const { state, transactions } = rig([writes("ours", () => 1)], { policies: [policy] });
    const pending = await transactions.begin({ id: "a", name: "ours", input: {} });
    const ends = await Promise.all([pending.commit(1), transactions.commit("a", 2)]);
    expect(ends).toMatchObject([{ ok: true, output: 1 }, "not pending"]);
    expect(state.session.get(steps)).toEqual(["remembered"]);
    let asked = 0;
    const validate = async () => {
      asked += 1;
      return "not good enough";
    };
    transactions.add([writes("judged", () => 1, { validators: [validate] })]);
    const judged = await transactions.begin({ id: "b", name: "judged", input: {} });
    const [first, second] = await Promise.all([judged.commit(1), judged.commit(2)]);
    expect([first, second]).toMatchObject([{ reason: "rejected", attemptFailures: [{ attempt: 1 }] }, "not pending"]);
    expect(asked).toBe(1);
  });

  test("[TX-31] [TX-36] aborted while its result is validated, it is canceled, and nothing is remembered", async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<undefined>();
    const validate = () => {
      asked.resolve();
      return answer.promise;
    };
    const told: unknown[] = [];
    const policy: ToolPolicy = { name: "p", check: () => undefined, onResult: (_, result) => (told.push(result), []) };
    const ours = writes("ours", () => 1, { validators: [validate] });
    const { transactions, ledger } = rig([ours], { policies: [policy] });
    const pending = await transactions.begin({ id: "a", name: "ours", input: {} });
    const committed = pending.commit(1);
    await asked.promise;
    expect(await pending.abort()).toMatchObject({ status: "canceled" });
    answer.resolve(undefined);
    expect(await committed).toBe("not pending");
    expect([told, ledger.kinds("a")]).toEqual([[], ["opened", "closed"]]);
  });

  test("[TX-33] whose arguments cannot even be checked is closed and refused, and cannot be committed past the policies", async () => {
    const validate = () => {
      throw new Error("the schema broke");
    };
    const input: StandardSchema<object> = { "~standard": { version: 1, vendor: "test", validate } };
    const deny: ToolPolicy = { name: "deny", check: () => "Never." };
    const broken = defineTool({ name: "broken", access: "write", input, inputSchema: {}, run: () => "done" });
    const { state, transactions, ledger } = rig([broken], { policies: [deny] });
    await expect(transactions.begin({ id: "c1", name: "broken", input: {} })).rejects.toMatchObject({
      code: "CALL_REFUSED",
      details: { call: "c1", tool: "broken", message: expect.stringContaining("the schema broke") },
    });
    expect(await transactions.commit("c1", "fine")).toBe("not pending");
    expect(ledger.kinds("c1")).toEqual(["opened", "closed"]);
    expect([transactions.pending, state.session.all(ToolInvoked).map(({ success }) => success)]).toEqual([[], [false]]);
  });

  test('[TX-31] [K07] ends once: a second end, and an end of what was never begun, answer "not pending"', async () => {
    const { state, transactions, ledger } = rig([]);
    const pending = await transactions.begin({ id: "c1", name: "theirs", input: {} });
    pending.call.dispatch(counter.added(1));
    expect(await transactions.commit("c1", "fine")).toMatchObject({ ok: true });
    expect(await transactions.commit("c1", { ok: false })).toBe("not pending");
    expect(await pending.abort()).toBe("not pending");
    expect(await pending.commit("again")).toBe("not pending");
    expect(await transactions.abort("nobody")).toBe("not pending");
    expect(state.session.get(counter)).toBe(1);
    expect(ledger.kinds("c1")).toEqual(["opened", "closed"]);
  });

  test("[TX-31] [K13] begun a second time is refused, and the first goes on as it was", async () => {
    const { state, transactions, ledger } = rig([]);
    const pending = await transactions.begin({ id: "c1", name: "theirs", input: {} });
    pending.call.dispatch(counter.added(1));
    await expect(transactions.begin({ id: "c1", name: "theirs", input: {} })).rejects.toMatchObject({
      code: "CALL_OPEN",
    });
    await expect(transactions.run({ id: "c1", name: "theirs", input: {} })).rejects.toMatchObject({
      code: "CALL_OPEN",
    });
    await transactions.abort("c1", "changed my mind");
    expect(state.session.get(counter)).toBe(0);
    expect(ledger.closings()).toMatchObject([
      { callId: "c1", status: "canceled", output: expect.stringContaining("changed my mind") },
    ]);
  });

  test("[TX-32] [K08] one that fails takes nothing of another that committed meanwhile", async () => {
    const { state, transactions } = rig([]);
    const a = await transactions.begin({ id: "a", name: "theirs", input: {} });
    const b = await transactions.begin({ id: "b", name: "theirs", input: {} });
    a.call.dispatch(steps.added("a"));
    await a.call.files.writeText("shared.txt", "a");
    b.call.dispatch(steps.added("b"));
    await b.call.files.writeText("shared.txt", "b");
    await b.commit("fine");
    await a.commit({ ok: false, code: "no", message: "no" });
    expect(state.session.get(steps)).toEqual(["b"]);
  });

  test("[TX-14] [TX-32] one that read what another changed is a conflict: its tool is not ours to run again", async () => {
    const { transactions } = rig([]);
    const a = await transactions.begin({ id: "a", name: "theirs", input: {} });
    a.call.get(counter);
    const b = await transactions.begin({ id: "b", name: "theirs", input: {} });
    b.call.dispatch(counter.added(1));
    await b.commit(1);
    expect(await a.commit(1)).toMatchObject({ status: "failed", reason: "conflict" });
  });

  test("[TX-33] that nobody consented to is closed as denied and refused", async () => {
    const { transactions, state } = rig([writes("pay", () => 1)]);
    const known = { kind: "denied", message: "Nobody consented." } as const;
    await expect(transactions.begin({ id: "c1", name: "pay", input: {}, known })).rejects.toMatchObject({
      code: "CALL_REFUSED",
      details: { reason: "denied", message: expect.stringContaining("Nobody consented.") },
    });
    expect(state.session.all(ToolInvoked).map(({ reason }) => reason)).toEqual(["denied"]);
    expect(transactions.pending).toEqual([]);
  });

  test("[TX-33] passes arguments, policies and deadlines like any other, is closed and refused with the reason", async () => {
    const policies = [
      { name: "never", check: ({ input }: { input: unknown }) => (input === "deny" ? "never" : undefined) },
    ];
    const { transactions, ledger, clock } = rig([writes("ours", () => 1, { deadlineMs: 100 })], { policies });
    await expect(transactions.begin({ id: "c1", name: "ours", input: "deny" })).rejects.toMatchObject({
      code: "CALL_REFUSED",
      details: { reason: "denied" },
    });
    await expect(
      transactions.begin({ id: "c2", name: "theirs", input: 1 }, { deadline: Deadline.after(clock, 0) }),
    ).rejects.toMatchObject({ code: "EVALUATION_ENDED" });
    const late = await transactions.begin({ id: "c3", name: "ours", input: 1 });
    clock.advance(100);
    expect(await late.commit("too late")).toMatchObject({ status: "timeout" });
    const abort = new AbortController();
    const stopped = await transactions.begin({ id: "c4", name: "theirs", input: 1 }, { signal: abort.signal });
    abort.abort();
    await quiet();
    expect(await stopped.commit("too late")).toBe("not pending");
    expect(ledger.closings().map(({ callId, status }) => [callId, status])).toEqual([
      ["c1", "failed"],
      ["c2", "timeout"],
      ["c3", "timeout"],
      ["c4", "canceled"],
    ]);
  });
});

describe("the runner", () => {
  test("[TX-34] runs one call on a state, and hands what is for the driver of the run to the driver", async () => {
    const state = ExecutionState.create({ slices: [counter] });
    const tools = [
      writes("add", (_, call) => {
        call.dispatch(counter.added(1));
        return "added";
      }),
      writes("peek", (_, call) => {
        call.dispatch(counter.added(100));
        throw new VisibilityExpansionRequired(["rules"]);
      }),
    ];
    expect(await runTool(state, { id: "c1", name: "add", input: {} }, { tools })).toMatchObject({ ok: true });
    await expect(runTool(state, { id: "c2", name: "peek", input: {} })).rejects.toMatchObject({ sections: ["rules"] });
    const runner = new ToolRunner({
      executionState: state,
      toolRegistry: new Map(tools.map((tool) => [tool.name, tool])),
      promptName: "main",
    });
    expect(await runner.execute({ id: "c3", name: "add", input: {} })).toEqual({
      success: true,
      value: "added",
      message: "added",
    });
    expect(await runner.execute({ id: "c4", name: "none", input: {} })).toMatchObject({ success: false, value: null });
    await expect(runner.execute({ id: "c5", name: "peek", input: {} })).rejects.toBeInstanceOf(
      VisibilityExpansionRequired,
    );
    expect(state.session.get(counter)).toBe(2);
    expect(Transactions.of(state).tool("add")).toBe(tools[0]);
    expect(() => new Transactions(state)).toThrowError(expect.objectContaining({ code: "TRANSACTIONS_EXIST" }));
  });

  test("[TX-4] aborted while it is being opened, it is closed as canceled and refused", async () => {
    const { state, transactions, ledger } = rig([]);
    const stop = new AbortController();
    const beginning = transactions.begin({ id: "c", name: "theirs", input: {} }, { signal: stop.signal });
    stop.abort();
    await expect(beginning).rejects.toMatchObject({ code: "CALL_REFUSED", details: { reason: "canceled" } });
    expect(ledger.closings()).toMatchObject([{ callId: "c", status: "canceled" }]);
    expect([transactions.pending, state.session.get(counter)]).toEqual([[], 0]);
  });
});

describe("what is odd about a call", () => {
  test("[TX-4] whoever cancels without an error is told that it was canceled, before it began and while it ran", async () => {
    const { transactions } = rig([writes("wait", () => new Promise(() => {}))]);
    const before = transactions.run({ id: "a", name: "wait", input: {} }, { signal: AbortSignal.abort("stop") });
    expect(await before).toMatchObject({
      status: "canceled",
      output: expect.stringContaining("The call was canceled."),
    });
    const stop = new AbortController();
    const during = transactions.run({ id: "b", name: "wait", input: {} }, { signal: stop.signal });
    await quiet();
    stop.abort("stop");
    expect(await during).toMatchObject({
      status: "canceled",
      output: expect.stringContaining("The call was canceled."),
    });
  });

  test("[TX-35] a policy that breaks with something that is no error denies with its words", async () => {
    const broken: ToolPolicy = {
      name: "broken",
      check: () => {
        throw "out of order"; // oxlint-disable-line typescript/only-throw-error
      },
    };
    const { transactions } = rig([writes("go", () => "gone")], { policies: [broken] });
    expect(await transactions.run({ id: "a", name: "go", input: {} })).toMatchObject({
      reason: "denied",
      output: expect.stringContaining("The policy broken could not be checked: out of order"),
    });
  });

  test("[TX-3] one without arguments reaches its schema without any, and every issue is told with its place", async () => {
    const issues = [{ message: "is missing", path: [{ key: "a" }, 0] }, { message: "is odd" }];
    const input: StandardSchema<object> = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value) => (value === undefined ? { issues } : { value: {} }),
        jsonSchema: { input: () => ({ type: "object", title: "described" }) },
      } as StandardSchema<object>["~standard"],
    };
    const tool = defineTool({ name: "strict", access: "read", input, run: () => ({ fine: true }) });
    expect(tool.inputSchema).toEqual({ type: "object", title: "described" });
    const { state, transactions } = rig([tool]);
    const bad = await transactions.run({ id: "a", name: "strict", input: undefined });
    expect(bad).toMatchObject({ reason: "bad-arguments", output: expect.stringContaining("a.0: is missing; is odd") });
    const runner = new ToolRunner({ executionState: state, toolRegistry: new Map(), promptName: "p" });
    expect(await runner.execute({ id: "b", name: "strict", input: {} })).toMatchObject({ message: '{"fine":true}' });
  });

  test("[TX-18] a resource that answers when its call is over is not handed out, and the next call has it", async () => {
    const slow = Promise.withResolvers<number>();
    const restored: number[] = [];
    const box = { snapshot: () => slow.promise, restore: (to: number) => void restored.push(to) };
    const key = resourceKey<typeof box>("box");
    let refused: unknown;
    const take = writes("take", async (_, call) => {
      await call.resource(key).catch((error: unknown) => (refused = error));
    });
    const { transactions } = rig([take], { state: { resources: [[key, box]] } });
    const stop = new AbortController();
    const first = transactions.run({ id: "a", name: "take", input: {} }, { signal: stop.signal });
    await quiet();
    stop.abort();
    expect(await first).toMatchObject({ status: "canceled" });
    slow.resolve(1);
    await quiet();
    expect([refused, restored]).toMatchObject([{ code: "CALL_CLOSED" }, []]);
    expect(await transactions.run({ id: "b", name: "take", input: {} })).toMatchObject({ ok: true });
  });

  test("[TX-18] nor while its end is being written down, when what it took has been put back already", async () => {
    const slow = Promise.withResolvers<number>();
    const key = resourceKey<Snapshotable<number>>("box");
    const box: Snapshotable<number> = { snapshot: () => slow.promise, restore: () => {} };
    let refused: unknown;
    const take = writes("take", async (_, call) => {
      await call.resource(key).catch((error: unknown) => (refused = error));
    });
    const { transactions, ledger } = rig([take], { state: { resources: [[key, box]] } });
    const written = Promise.withResolvers<void>();
    const write = ledger.closed.bind(ledger);
    ledger.closed = (calls) => written.promise.then(() => write(calls));
    const stop = new AbortController();
    const running = transactions.run({ id: "a", name: "take", input: {} }, { signal: stop.signal });
    await quiet();
    stop.abort();
    await quiet();
    slow.resolve(1);
    await quiet();
    expect(refused).toMatchObject({ code: "CALL_CLOSED" });
    written.resolve();
    expect(await running).toMatchObject({ status: "canceled" });
  });
});

test("[TX-15] whoever leaves twice frees one place, and whoever gives up while waiting takes none", async () => {
  const slots = new Semaphore(1);
  const never = new AbortController().signal;
  const leave = await slots.enter(never);
  const stop = new AbortController();
  const gaveUp = slots.enter(stop.signal);
  stop.abort();
  expect(await gaveUp).toBeUndefined();
  expect(await slots.enter(AbortSignal.abort())).toBeUndefined();
  const [second, third] = [slots.enter(never), slots.enter(never)];
  leave?.();
  leave?.();
  let entered = false;
  void Promise.resolve(third).then(() => (entered = true));
  const leaveSecond = await second;
  await quiet();
  expect(entered).toBe(false);
  leaveSecond?.();
  expect(await third).toBeTypeOf("function");
});
