import { describe, expect, test } from "vitest";
import { Box, counter, diary, quiet, type Rig, rig, steps, writes } from "../../test/support/calls.ts";
import { filesOf } from "../files/access.ts";
import { ToolInvoked } from "../state/default-slices.ts";
import { ExecutionState } from "../state/execution-state.ts";
import { resourceKey } from "../state/resources.ts";
import type { JsonObject } from "../base/json.ts";
import type { Call } from "./call.ts";
import { defineTool } from "./tool.ts";
import { Transactions } from "./transactions.ts";

describe("a handle after its call has ended", () => {
  test("[TX-19] refuses every use, and each attempt is told", async () => {
    let kept: Call | undefined;
    const { state, transactions, ledger } = rig([
      writes("keep", (_, call) => {
        kept = call;
      }),
    ]);
    await transactions.run({ id: "c1", name: "keep", input: {} });
    const call = kept!;
    const root = state.root;
    expect(() => call.dispatch(counter.added(1))).toThrowError(expect.objectContaining({ code: "CALL_CLOSED" }));
    expect(() => call.get(counter)).toThrowError(expect.objectContaining({ code: "CALL_CLOSED" }));
    expect(() => call.savepoint()).toThrowError(expect.objectContaining({ code: "CALL_CLOSED" }));
    const uses = [
      () => call.files.writeText("a", "b"),
      () => call.files.readText("a"),
      () => call.effect("e", {}, { key: "k" }),
      () => call.run({ name: "keep", input: {} }),
      () => call.resource({ key: "r" }),
      () => call.transaction(() => 1),
      () => call.child({ mark: async () => async () => {} }),
    ];
    for (const use of uses) await expect(use()).rejects.toMatchObject({ code: "CALL_CLOSED" });
    expect(call.signal.aborted).toBe(true);
    expect(state.root).toBe(root);
    expect(ledger.lines.filter(({ kind }) => kind === "late")).toHaveLength(10);
  });

  test("[TX-19] a tool that ignores its signal writes nothing, and its late result is told, never applied", async () => {
    const { state, transactions, ledger, clock } = rig([
      writes(
        "zombie",
        async (_, call) => {
          await call.clock.sleep(1000);
          try {
            call.dispatch(counter.added(1));
          } catch {
            return "late anyway";
          }
          return "written";
        },
        { deadlineMs: 10 },
      ),
    ]);
    const running = transactions.run({ id: "c1", name: "zombie", input: {} });
    await quiet();
    clock.advance(10);
    expect(await running).toMatchObject({ status: "timeout" });
    clock.advance(1000);
    await quiet();
    expect(state.session.get(counter)).toBe(0);
    expect(ledger.lines.filter(({ kind }) => kind === "late").map(({ detail }) => detail)).toEqual([
      "dispatch",
      "late anyway",
    ]);
    expect(state.session.all(ToolInvoked)).toHaveLength(1);
  });

  test("[TX-19] a zombie cannot write around its handle either", async () => {
    const world = rig([
      writes("zombie", async () => {
        void (async () => {
          await quiet();
          await world.state.session
            .dispatch(counter.added(1))
            .catch((error: { code: string }) => codes.push(error.code));
          await world.transactions
            .run({ id: "other", name: "zombie", input: {} })
            .catch((error: { code: string }) => codes.push(error.code));
        })();
      }),
    ]);
    const codes: string[] = [];
    await world.transactions.run({ id: "c1", name: "zombie", input: {} });
    await quiet();
    await quiet();
    expect(codes).toEqual(["STATE_INSIDE_CALL", "STATE_INSIDE_CALL"]);
    expect(world.state.session.get(counter)).toBe(0);
  });
});

describe("inside a call", () => {
  test("[TX-20] [K18] a nested transaction that fails takes only its own changes with it", async () => {
    const { state, transactions } = rig([
      writes("outer", async (_, call) => {
        call.dispatch(steps.added("outer"));
        await call.files.writeText("outer.txt", "kept");
        await call
          .transaction(async () => {
            call.dispatch(steps.added("inner"));
            call.dispatch(diary.said("tried"));
            await call.files.writeText("inner.txt", "gone");
            throw new Error("inner failed");
          })
          .catch(() => {});
        const savepoint = call.savepoint();
        call.dispatch(steps.added("after the savepoint"));
        savepoint.rollback();
        const kept = await call.transaction(() => {
          call.dispatch(steps.added("second"));
          return "kept";
        });
        return [kept, call.get(steps)];
      }),
    ]);
    const outcome = await transactions.run({ id: "c1", name: "outer", input: {} });
    expect(outcome.output).toEqual(["kept", ["outer", "second"]]);
    expect(state.session.get(steps)).toEqual(["outer", "second"]);
    expect(state.session.get(diary)).toEqual(["tried"]);
    expect((await filesOf(state).list()).map(({ name }) => name)).toEqual(["outer.txt"]);
  });

  test("[TX-21] a call inside a call shares its branch, fails alone, and goes with it", async () => {
    const inner = writes<{ fail?: boolean }>("inner", (input, call) => {
      call.dispatch(steps.added(call.id));
      return input.fail === true ? call.fail("no", "no") : call.get(steps).length;
    });
    const outer = writes<{ fail?: boolean }>("outer", async (input, call) => {
      call.dispatch(steps.added("outer"));
      const good = await call.run({ name: "inner", input: {} });
      const bad = await call.run({ name: "inner", input: { fail: true } });
      return input.fail === true ? call.fail("no", "no") : [good.output, bad.reason];
    });
    const { state, transactions, ledger } = rig([inner, outer]);
    expect((await transactions.run({ id: "a", name: "outer", input: {} })).output).toEqual([2, "no"]);
    expect(state.session.get(steps)).toEqual(["outer", "a.1"]);
    await transactions.run({ id: "b", name: "outer", input: { fail: true } });
    expect(state.session.get(steps)).toEqual(["outer", "a.1"]);
    expect(ledger.closings().map(({ callId, status, reason }) => [callId, status, reason])).toEqual([
      ["a.1", "success", undefined],
      ["a.2", "failed", "no"],
      ["a", "success", undefined],
      ["b.1", "canceled", "parent-discarded"],
      ["b.2", "failed", "no"],
      ["b", "failed", "no"],
    ]);
    expect(ledger.lines.find(({ id }) => id === "a.1")?.detail).toMatchObject({ parent: "a" });
    expect(state.session.all(ToolInvoked).map(({ toolCallId }) => toolCallId)).toEqual([
      "a.1",
      "a.2",
      "a",
      "b.1",
      "b.2",
      "b",
    ]);
  });

  test("[TX-21] calls inside a call run one after the other, and one that fails takes those inside it", async () => {
    const leaf = writes<{ n: string; wait?: number; fail?: boolean }>("leaf", async ({ n, wait = 0, fail }, call) => {
      for (let turn = 0; turn < wait; turn += 1) await Promise.resolve();
      call.dispatch(steps.added(n));
      return fail === true ? call.fail("no", "no") : n;
    });
    const middle = writes("middle", async (_, call) => {
      await call.run({ name: "leaf", input: { n: "inside the middle" } });
      return call.fail("no", "no");
    });
    const outer = writes("outer", async (_, call) => {
      const inner = ["a", "b", "c"].map((n, at) =>
        call.run({ name: "leaf", input: { n, wait: 30 - 10 * at, fail: n === "b" } }),
      );
      await Promise.all([...inner, call.run({ name: "middle", input: {} })]);
    });
    const { state, transactions, ledger } = rig([leaf, middle, outer]);
    await transactions.run({ id: "x", name: "outer", input: {} });
    expect(state.session.get(steps)).toEqual(["a", "c"]);
    expect(ledger.closings().map(({ callId, reason }) => [callId, reason])).toEqual([
      ["x.1", undefined],
      ["x.2", "no"],
      ["x.3", undefined],
      ["x.4", "no"],
      ["x.5", "parent-discarded"],
      ["x", undefined],
    ]);
    expect(ledger.lines.find(({ id }) => id === "x.5")?.detail).toMatchObject({ parent: "x.4" });
  });

  test("[TX-21] a call that ends while one inside it still runs commits nothing of either", async () => {
    const slow = writes("slow", async (_, call) => {
      call.dispatch(steps.added("half"));
      await quiet();
      call.dispatch(steps.added("done"));
    });
    const hasty = writes("hasty", async (_, call) => {
      void call.run({ name: "slow", input: {} }).catch(() => {});
      for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
    });
    const { state, transactions, ledger } = rig([slow, hasty]);
    expect(await transactions.run({ id: "x", name: "hasty", input: {} })).toMatchObject({
      reason: "inner-call-running",
    });
    await quiet();
    await quiet();
    expect(state.session.get(steps)).toEqual([]);
    expect(ledger.closings().map(({ callId, status }) => [callId, status])).toEqual([
      ["x.1", "canceled"],
      ["x", "failed"],
    ]);
  });

  const halves = writes("halves", async (_, call) => {
    call.dispatch(steps.added("half"));
    await quiet();
    call.dispatch(steps.added("done"));
  });
  const begun: Readonly<Record<string, (call: Call) => Promise<unknown>>> = {
    "transaction-running": (call) =>
      call.transaction(async () => {
        call.dispatch(steps.added("half"));
        await quiet();
        call.dispatch(steps.added("done"));
      }),
    "inner-call-running": (call) => call.run({ name: "halves", input: {} }),
  };
  const soon = async () => {
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  };

  test.each(Object.entries(begun))(
    "[TX-20] [TX-21] half of what a call has begun is kept by nobody: %s",
    async (reason, begin) => {
      const hasty = writes("hasty", async (_, call) => {
        void begin(call).catch(() => {});
        await soon();
      });
      const around = writes("around", async (_, call) => (await call.run({ name: "hasty", input: {} })).reason);
      const { state, transactions } = rig([halves, hasty, around]);
      expect(await transactions.run({ id: "a", name: "hasty", input: {} })).toMatchObject({ ok: false, reason });
      const hosted = await transactions.begin({ id: "b", name: "hosted", input: {} });
      void begin(hosted.call).catch(() => {});
      await soon();
      expect(state.session.get(steps)).toEqual([]);
      expect(await hosted.commit("done")).toMatchObject({ ok: false, reason });
      const { output, reason: why } = await transactions.run({ id: "c", name: "around", input: {} });
      expect([output, why]).toContain(reason);
      await quiet();
      await quiet();
      expect(state.session.get(steps)).toEqual([]);
    },
  );

  test("[TX-19] [TX-21] a call inside one that ends while it is about to begin does not begin", async () => {
    const ran: string[] = [];
    const marked = Promise.withResolvers<void>();
    const box = resourceKey<Box>("box");
    class SlowBox extends Box {
      override snapshot(): number {
        return marks > 0 ? (marked.promise.then(() => 0) as never) : super.snapshot();
      }
    }
    let marks = 0;
    const inner = writes("inner", () => {
      ran.push("inner");
    });
    const outer = writes("outer", async (_, call) => {
      await call.resource(box);
      marks += 1; // its next snapshot, which marks where the inner call begins, takes a while
      void call.run({ name: "inner", input: {} }).catch(() => {});
      for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
      marks = 0;
    });
    const { transactions, ledger } = rig([inner, outer], { state: { resources: [[box, new SlowBox()]] } });
    expect(await transactions.run({ id: "x", name: "outer", input: {} })).toMatchObject({
      reason: "inner-call-running",
    });
    marked.resolve();
    await quiet();
    expect([ran, ledger.kinds("x.1")]).toEqual([[], ["opened", "closed"]]);
  });

  test("[TX-21] what reaches outside cannot run inside another call, and an unknown tool is an outcome", async () => {
    const out = defineTool({ name: "out", access: "external", run: () => "sent" });
    const { transactions } = rig([
      out,
      writes("outer", async (_, call) => [
        (await call.run({ name: "out", input: {} })).reason,
        (await call.run({ name: "none", input: {} })).reason,
      ]),
    ]);
    expect((await transactions.run({ id: "a", name: "outer", input: {} })).output).toEqual(["denied", "bad-arguments"]);
  });

  test("[TX-21] a call inside an attempt that was given up is closed too", async () => {
    let first = true;
    const inner = writes("inner", (_, call) => call.dispatch(steps.added(call.id)));
    const outer = writes("outer", async (_, call) => {
      call.get(counter);
      await call.run({ name: "inner", input: {} });
      if (first) await quiet();
      first = false;
    });
    const { state, transactions, ledger } = rig([
      inner,
      outer,
      writes("add", (_, call) => call.dispatch(counter.added(1))),
    ]);
    await transactions.runAll([
      { id: "a", name: "outer", input: {} },
      { id: "b", name: "add", input: {} },
    ]);
    expect(state.session.get(steps)).toEqual(["a.2"]);
    expect(ledger.closings().map(({ callId, reason }) => [callId, reason])).toEqual([
      ["b", undefined],
      ["a.1", "superseded"],
      ["a.2", undefined],
      ["a", undefined],
    ]);
  });

  test("[TX-32] [TX-22] no state works for its own call, nor for one of a call that it runs itself: neighbours would be taken back", async () => {
    const child = rig([writes("back", async (_, call) => call.child(outer.state))]);
    const gate = Promise.withResolvers<void>();
    const refused: unknown[] = [];
    const work = writes<{ readonly way: string }>("work", async ({ way }, call) => {
      if (way === "itself") await call.child(outer.state).catch((error: unknown) => refused.push(error));
      else {
        await call.child(child.state);
        refused.push(await child.transactions.run({ id: way, name: "back", input: {} }));
      }
      await gate.promise;
      return call.fail("no", "no");
    });
    const outer: Rig = rig([work, writes("add", (_, call) => call.dispatch(counter.added(1)))]);
    const working = ["itself", "round about"].map((way) =>
      outer.transactions.run({ id: way, name: "work", input: { way } }),
    );
    await quiet();
    await outer.transactions.run({ id: "neighbour", name: "add", input: {} });
    gate.resolve();
    await Promise.all(working);
    expect(outer.state.session.get(counter)).toBe(1);
    expect(refused).toMatchObject([{ code: "STATE_INSIDE_CALL" }, { reason: "STATE_INSIDE_CALL" }]);
  });

  test("[TX-22] [K17] a child's work goes with the call that is discarded, and stays with one that is not", async () => {
    const child = ExecutionState.create({ slices: [steps] });
    const work = writes<{ fail: boolean }>("work", async ({ fail }, call) => {
      await call.child(child);
      await child.session.dispatch(steps.added("child"));
      if (fail) throw new Error("boom");
    });
    const { transactions } = rig([work]);
    await transactions.run({ id: "a", name: "work", input: { fail: false } });
    await transactions.run({ id: "b", name: "work", input: { fail: true } });
    expect(child.session.get(steps)).toEqual(["child"]);
    const stuck = writes("stuck", async (_, call) => {
      await call.child({ mark: async () => () => Promise.reject(new Error("gone for good")) });
      throw new Error("boom");
    });
    transactions.add([stuck]);
    expect((await transactions.run({ id: "c", name: "stuck", input: {} })).output).toContain(
      "Not taken back: a child: gone for good",
    );
  });

  test("[TX-22] what still runs in a child that is a bare state is stopped before it is taken back, and nothing begins there", async () => {
    const child = ExecutionState.create({ slices: [steps] });
    const hears = Promise.withResolvers<unknown>();
    const slow = writes("slow", async (_, call) => {
      call.signal.addEventListener("abort", () => hears.resolve((call.signal.reason as Error).message), { once: true });
      await quiet();
      await quiet();
      call.dispatch(steps.added("late"));
    });
    const inChild = new Transactions(child, { tools: [slow] });
    const running: Promise<unknown>[] = [];
    const late = Promise.withResolvers<void>();
    const work = writes("work", async (_, call) => {
      await call.child(child);
      running.push(inChild.run({ id: "c1", name: "slow", input: {} }));
      running.push(late.promise.then(() => inChild.run({ id: "c2", name: "slow", input: {} })));
      throw new Error("boom");
    });
    const { transactions } = rig([work]);
    expect(await transactions.run({ id: "a", name: "work", input: {} })).toMatchObject({ reason: "threw" });
    late.resolve();
    const [first, second] = await Promise.allSettled(running);
    expect(first).toMatchObject({ value: { status: "canceled" } });
    expect(second).toMatchObject({ reason: { code: "CALL_CLOSED" } });
    expect([child.session.get(steps), child.poisoned, typeof (await hears.promise)]).toEqual([[], false, "string"]);
    // Others may still use it.
    expect(await inChild.run({ id: "c3", name: "slow", input: {} })).toMatchObject({ ok: true });
  });

  test("[TX-22] [TX-14] a call is not run again over a child that cannot be taken back: it would do its work twice", async () => {
    let runs = 0;
    const outer = writes("outer", async (_, call) => {
      runs += 1;
      call.get(counter);
      await call.child({ mark: async () => () => Promise.reject(new Error("gone for good")) });
      await quiet();
    });
    const { state, transactions } = rig([outer, writes("add", (_, call) => call.dispatch(counter.added(1)))]);
    const [outcome] = await transactions.runAll([
      { id: "a", name: "outer", input: {} },
      { id: "b", name: "add", input: {} },
    ]);
    expect(outcome).toMatchObject({ ok: false, reason: "conflict", attempts: 1 });
    expect(outcome?.output).toContain("Not taken back: a child: gone for good");
    expect([runs, state.poisoned]).toEqual([1, false]);
  });

  test.each<{ readonly how: string; readonly release: () => Promise<void> }>([
    { how: "by its promise", release: () => Promise.reject(new Error("stuck")) },
    {
      how: "at once",
      release: () => {
        throw new Error("stuck");
      },
    },
  ])(
    "[TX-22] [K17] what a call has done stands, whether or not its child refuses, $how, to be let go of",
    async ({ release }) => {
      const rewound: string[] = [];
      const work = writes<{ fail: boolean }>("work", async ({ fail }, call) => {
        call.dispatch(counter.added(1));
        await call.child({ mark: async () => async () => void rewound.push(call.id), release });
        if (fail) throw new Error("boom");
      });
      const { state, transactions } = rig([work]);
      expect(await transactions.run({ id: "a", name: "work", input: { fail: false } })).toMatchObject({ ok: true });
      expect(await transactions.run({ id: "b", name: "work", input: { fail: true } })).toMatchObject({
        reason: "threw",
      });
      expect([state.session.get(counter), rewound, state.poisoned]).toEqual([1, ["b"], false]);
    },
  );

  test("[TX-23] the same call draws the same numbers in every run", async () => {
    const draw = writes("draw", (_, call) => [call.random.hex(4), call.random.fraction()]);
    const once = await rig([draw]).transactions.run({ id: "c1", name: "draw", input: {} });
    const again = await rig([draw]).transactions.run({ id: "c1", name: "draw", input: {} });
    const other = await rig([draw]).transactions.run({ id: "c2", name: "draw", input: {} });
    expect(once.output).toEqual(again.output);
    expect(once.output).not.toEqual(other.output);
  });

  test("[TX-21] a call inside that could not be opened is not closed either", async () => {
    const outer = writes("outer", async (_, call) => {
      ledger.failOn = "opened";
      await call.run({ name: "inner", input: {} }).catch(() => {});
      ledger.failOn = undefined;
      return "went on";
    });
    const { transactions, ledger } = rig([outer, writes("inner", () => "fine")]);
    expect(await transactions.run({ id: "c", name: "outer", input: {} })).toMatchObject({ ok: true });
    expect(ledger.closings().map(({ callId }) => callId)).toEqual(["c"]);
  });

  test("[TX-19] [TX-21] a call inside that was being opened when the one around it ended never begins", async () => {
    let began = 0;
    const inner = writes("inner", () => void (began += 1));
    const outer = writes("outer", (_, call) => call.run({ name: "inner", input: {} }));
    const { transactions, ledger } = rig([outer, inner]);
    const open = Promise.withResolvers<void>();
    const write = ledger.opened.bind(ledger);
    ledger.opened = async (call) => {
      if (call.tool === "inner") await open.promise;
      return write(call);
    };
    const stop = new AbortController();
    const running = transactions.run({ id: "c", name: "outer", input: {} }, { signal: stop.signal });
    await quiet();
    stop.abort();
    await quiet();
    open.resolve();
    expect(await running).toMatchObject({ status: "canceled" });
    await quiet();
    expect(began).toBe(0);
    expect(ledger.closings().map(({ callId, status }) => [callId, status])).toEqual([
      ["c.1", "canceled"],
      ["c", "canceled"],
    ]);
  });
});

test("[TX-21] a call inside whose opening fails after the one around it was stopped is not closed either", async () => {
  const inner = writes("inner", () => 1);
  const outer = writes("outer", (_, call) => call.run({ name: "inner", input: {} }));
  const { transactions, ledger } = rig([outer, inner]);
  const open = Promise.withResolvers<never>();
  const write = ledger.opened.bind(ledger);
  ledger.opened = (call) => (call.tool === "inner" ? open.promise : write(call));
  const stop = new AbortController();
  const running = transactions.run({ id: "c", name: "outer", input: {} }, { signal: stop.signal });
  await quiet();
  stop.abort();
  await quiet();
  open.reject(new Error("cannot write opened"));
  expect(await running).toMatchObject({ status: "canceled" });
  expect(ledger.closings().map(({ callId }) => callId)).toEqual(["c"]);
});

describe("what a tool notes of its call", () => {
  const noting = (name: string, fields: JsonObject, more: (call: Call) => Promise<unknown>) =>
    writes(name, async (_input, call) => {
      call.note(fields);
      return more(call);
    });

  test("[RECORD-10] is closed with it, however it ends, each call with its own", async () => {
    const inner = noting("inner", { inner: 1 }, async () => "in");
    const outer = noting("outer", { a: 1, b: 1 }, async (call) => {
      await call.run({ name: "inner", input: {} });
      call.note({ b: 2 });
      return call.fail("no", "no");
    });
    const { transactions, ledger } = rig([inner, outer]);
    await transactions.run({ id: "c", name: "outer", input: {} });
    expect(ledger.closings().map(({ tool, notes }) => [tool, notes])).toEqual([
      ["inner", { inner: 1 }],
      ["outer", { a: 1, b: 2 }],
    ]);
  });

  test("[RECORD-10] must be plain and short, or the call fails", async () => {
    const loop: Record<string, unknown> = {};
    loop["self"] = loop;
    const tools = [
      noting("odd", loop as JsonObject, async () => 1),
      noting("long", { text: "x".repeat(20_000) }, async () => 1),
    ];
    const { transactions } = rig(tools);
    for (const name of ["odd", "long"])
      expect(await transactions.run({ id: name, name, input: {} })).toMatchObject({
        ok: false,
        reason: "VALUE_NOT_JSON",
      });
  });

  test("[RECORD-10] in an attempt that is run again is forgotten with it", async () => {
    let tries = 0;
    const picky = writes(
      "picky",
      async (_input, call) => {
        tries += 1;
        call.note({ [`try${tries}`]: true });
        return tries;
      },
      { validators: [(output) => (output === 1 ? "again" : undefined)] },
    );
    const { transactions, ledger } = rig([picky]);
    await transactions.run({ id: "c", name: "picky", input: {} });
    expect(ledger.closings()[0]?.notes).toEqual({ try2: true });
  });
});
