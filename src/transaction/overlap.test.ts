import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Box, counter, diary, quiet, rig, steps, writes } from "../../test/support/calls.ts";
import { filesOf } from "../files/access.ts";
import { resourceKey } from "../state/resources.ts";
import { defineTool } from "./tool.ts";

const BOX = resourceKey<Box>("box");

/** Reads, waits, writes what it read plus one: the classic way to lose an update. */
const increment = writes<{ readonly wait?: number; readonly fail?: boolean }>(
  "increment",
  async ({ wait = 1, fail }, call) => {
    const now = call.get(counter);
    for (let turn = 0; turn < wait; turn += 1) await Promise.resolve();
    call.dispatch(counter.set(now + 1));
    call.dispatch(diary.said(call.id));
    if (fail === true) throw new Error("boom");
    return now + 1;
  },
);

describe("calls that overlap", () => {
  test("[TX-12] four parallel increments, one throwing: exactly three", async () => {
    const { state, transactions } = rig([increment]);
    const outcomes = await transactions.runAll(
      [0, 1, 2, 3].map((n) => ({ id: `c${n}`, name: "increment", input: { fail: n === 1 } })),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(["success", "failed", "success", "success"]);
    expect(state.session.get(counter)).toBe(3);
    expect(state.session.get(diary).toSorted()).toEqual(["c0", "c1", "c2", "c3"]);
  });

  test("[TX-12] [K29] two hundred concurrent read-modify-writes: two hundred", async () => {
    const { state, transactions } = rig([increment], { parallel: 50 });
    const calls = Array.from({ length: 200 }, (_, n) => ({ id: `c${n}`, name: "increment", input: { wait: n % 7 } }));
    const outcomes = await transactions.runAll(calls);
    expect(state.session.get(counter)).toBe(200);
    expect(Math.max(...outcomes.map(({ attempts }) => attempts))).toBeLessThanOrEqual(2);
    expect(new Set(outcomes.map(({ output }) => output)).size).toBe(200);
  });

  test("[TX-12] any mix of waits and failures equals some serial order", async () => {
    const plan = fc.array(fc.record({ wait: fc.nat(12), fail: fc.boolean() }), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(
        plan,
        fc.integer({ min: 1, max: 6 }),
        fc.constantFrom("settle", "call" as const),
        async (inputs, parallel, commitOrder) => {
          const { state, transactions, ledger } = rig([increment], { parallel, commitOrder });
          const outcomes = await transactions.runAll(
            inputs.map((input, n) => ({ id: `c${n}`, name: "increment", input })),
          );
          const good = outcomes.filter(({ ok }) => ok);
          expect(good).toHaveLength(inputs.filter(({ fail }) => !fail).length);
          expect(state.session.get(counter)).toBe(good.length);
          expect(good.map(({ output }) => output as number).toSorted((a, b) => a - b)).toEqual(
            good.map((_, n) => n + 1),
          );
          expect(ledger.closings()).toHaveLength(inputs.length);
          if (commitOrder === "call")
            expect(ledger.closings().map(({ callId }) => callId)).toEqual(inputs.map((_, n) => `c${n}`));
        },
      ),
      { numRuns: 60 },
    );
  });

  test("[TX-13] dispatching is not reading: reducers are replayed on what others have made of the slice", async () => {
    const append = writes<{ n: number }>("append", async ({ n }, call) => {
      call.dispatch(steps.added(`${n}`));
      for (let turn = 0; turn < 10 - n; turn += 1) await Promise.resolve();
    });
    const { state, transactions } = rig([append]);
    const outcomes = await transactions.runAll([1, 2, 3].map((n) => ({ id: `c${n}`, name: "append", input: { n } })));
    expect(outcomes.map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
    expect(state.session.get(steps)).toEqual(["3", "2", "1"]);
  });

  test("[TX-14] a call that may not run twice is closed as a conflict and told what changed", async () => {
    const external = defineTool({
      name: "external",
      access: "external",
      async run(_, call) {
        const now = call.get(counter);
        await quiet();
        call.dispatch(counter.set(now + 100));
      },
    });
    const { state, transactions } = rig([external, increment]);
    const [slow, quick] = await transactions.runAll([
      { id: "c1", name: "external", input: {} },
      { id: "c2", name: "increment", input: {} },
    ]);
    expect(quick).toMatchObject({ ok: true });
    expect(slow).toMatchObject({
      status: "failed",
      reason: "conflict",
      attempts: 1,
      output: expect.stringContaining("counter"),
    });
    expect(state.session.get(counter)).toBe(1);
  });

  test("[TX-15] the number of handlers at work is bounded, and an abort frees a place in the queue", async () => {
    let now = 0;
    let most = 0;
    const busy = writes("busy", async () => {
      now += 1;
      most = Math.max(most, now);
      await quiet();
      now -= 1;
    });
    const { transactions } = rig([busy], { parallel: 3 });
    const abort = new AbortController();
    const waiting = Array.from({ length: 10 }, (_, n) =>
      transactions.run({ id: `c${n}`, name: "busy", input: {} }, n === 5 ? { signal: abort.signal } : {}),
    );
    await Promise.resolve();
    abort.abort();
    expect(
      (await Promise.all(waiting)).map(({ status }) => status).filter((status) => status === "canceled"),
    ).toHaveLength(1);
    expect(most).toBe(3);
  });

  test("[TX-16] a call that waits for an answer holds up no other", async () => {
    const answer = Promise.withResolvers<string>();
    const ask = writes("ask", async (_, call) => {
      call.dispatch(steps.added("asked"));
      return answer.promise;
    });
    const { state, transactions } = rig([ask, increment]);
    const asking = transactions.run({ id: "c1", name: "ask", input: {} });
    for (let n = 2; n < 6; n += 1)
      expect(await transactions.run({ id: `c${n}`, name: "increment", input: {} })).toMatchObject({ ok: true });
    answer.resolve("yes");
    expect(await asking).toMatchObject({ ok: true, output: "yes" });
    expect([state.session.get(counter), state.session.get(steps)]).toEqual([4, ["asked"]]);
  });

  test.each<[string, string, string, string]>([
    ["to a file", "f", "succeeded", "f"],
    ["to a file that is not there", "new", "succeeded", "new"],
    ["in a circle", "link", "FILE_BAD_PATH", ""],
  ])(
    "[TX-12] [FILE-14] a link %s, made while another call looks and writes there, is met and breaks nobody",
    async (_to, target, reason, holds) => {
      const [looked, linked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const { state, transactions } = rig([
        writes("init", (_, call) => call.files.writeText("f", "old")),
        writes("link", async (_, call) => {
          await looked.promise;
          await call.files.link("link", target);
        }),
        writes("look", (_, call) => call.files.exists("link")),
        writes("write", async (_, call) => {
          await call.files.writeText("link", "written");
          looked.resolve();
          await linked.promise;
        }),
      ]);
      await transactions.run({ id: "init", name: "init", input: {} });
      const look = transactions.begin({ id: "look", name: "look", input: {} });
      const there = await (await look).call.files.exists("link");
      const writing = transactions.run({ id: "write", name: "write", input: {} });
      await transactions.run({ id: "link", name: "link", input: {} });
      linked.resolve();
      const written = await writing;
      expect([there, written.reason, written.attempts]).toEqual([false, reason, 2]);
      expect(await (await look).commit("there was none")).toMatchObject({ reason: "conflict" });
      const files = filesOf(state);
      expect(await files.stat("link")).toEqual({ kind: "link", target });
      if (holds !== "") expect(await files.readText(holds)).toBe("written");
      expect(state.poisoned).toBe(false);
    },
  );

  test("[TX-12] a folder that a call asked for is there when it has ended, though another has removed it meanwhile", async () => {
    const { state, transactions } = rig([writes("init", (_, call) => call.files.mkdir("dir"))]);
    await transactions.run({ id: "init", name: "init", input: {} });
    const [asks, removes] = [
      await transactions.begin({ id: "asks", name: "init", input: {} }),
      await transactions.begin({ id: "removes", name: "init", input: {} }),
    ];
    await asks.call.files.mkdir("dir");
    await removes.call.files.delete("dir");
    expect(await removes.commit("removed")).toMatchObject({ ok: true });
    expect(await asks.commit("there")).toMatchObject({ ok: true });
    expect(await filesOf(state).exists("dir")).toBe(true);
  });

  test("[TX-17] calls that touch different files never meet; those that read the same one do", async () => {
    const edit = writes<{ path: string }>("edit", async ({ path }, call) => {
      const text = (await call.files.exists(path)) ? await call.files.readText(path) : "";
      await quiet();
      await call.files.writeText(path, `${text}x`);
    });
    const { transactions, state } = rig([edit]);
    const apart = await transactions.runAll(
      ["a", "b", "c"].map((path) => ({ id: path, name: "edit", input: { path } })),
    );
    expect(apart.map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
    const together = await transactions.runAll(
      [1, 2, 3].map((n) => ({ id: `t${n}`, name: "edit", input: { path: "a" } })),
    );
    expect(together.map(({ attempts }) => attempts).toSorted((a, b) => a - b)).toEqual([1, 2, 2]);
    const read = writes("read", (_, call) => call.files.readText("a"));
    transactions.add([read]);
    expect((await transactions.run({ id: "r", name: "read", input: {} })).output).toBe("xxxx");
    expect(state.poisoned).toBe(false);
  });

  test("[TX-17] whoever saw a file missing, or listed its folder, meets whoever makes it", async () => {
    const look = writes<{ how: "exists" | "list" }>("look", async ({ how }, call) => {
      const seen = how === "exists" ? await call.files.exists("dir/new") : (await call.files.list("dir")).length;
      await quiet();
      call.dispatch(steps.added(String(seen)));
      return seen;
    });
    const make = writes("make", async (_, call) => call.files.writeText("dir/new", "here"));
    for (const how of ["exists", "list"] as const) {
      const { transactions } = rig([look, make, writes("mkdir", (_, call) => call.files.mkdir("dir"))]);
      await transactions.run({ id: "c0", name: "mkdir", input: {} });
      const [looked] = await transactions.runAll([
        { id: "c1", name: "look", input: { how } },
        { id: "c2", name: "make", input: {} },
      ]);
      expect(looked).toMatchObject({ ok: true, attempts: 2, output: how === "exists" ? true : 1 });
    }
  });

  test("[TX-18] resources that cannot branch belong to one call at a time, also when calls conflict and run again", async () => {
    const both = writes("both", async (_, call) => {
      const now = call.get(counter);
      const box = await call.resource(BOX);
      const was = box.value;
      await quiet();
      box.value = was + 1;
      call.dispatch(counter.set(now + 1));
    });
    const late = writes("late", async (_, call) => {
      const now = call.get(counter);
      await quiet();
      await quiet();
      call.dispatch(counter.set(now + 1));
      (await call.resource(BOX)).value += 1;
    });
    for (const commitOrder of ["settle", "call"] as const) {
      const { state, transactions } = rig([both, late], { commitOrder, state: { resources: [[BOX, new Box()]] } });
      const names = ["late", "both", "both", "late", "both", "late"];
      const outcomes = await transactions.runAll(names.map((name, n) => ({ id: `c${n}`, name, input: {} })));
      expect(outcomes.map(({ ok }) => ok)).toEqual(names.map(() => true));
      expect([state.session.get(counter), state.resources.get(BOX).value]).toEqual([6, 6]);
    }
  });

  test("[TX-18] a call that asks for one resource twice at once puts back what it was before both", async () => {
    const times = [1, 20];
    const box = {
      value: 0,
      async snapshot(): Promise<number> {
        await pause(times.shift());
        return box.value;
      },
      restore(to: number): void {
        box.value = to;
      },
    };
    const SLOW = resourceKey<typeof box>("slow");
    const both = writes("both", async (_, call) => {
      const half = async () => {
        (await call.resource(SLOW)).value += 1;
      };
      await Promise.all([half(), half()]);
      return call.fail("no", "no");
    });
    const { transactions } = rig([both], { state: { resources: [[SLOW, box]] } });
    await transactions.run({ id: "c1", name: "both", input: {} });
    expect(box.value).toBe(0);
  });

  test("[EXEC-6] a command that gives up while it waits does not let those after it in beside those before it", async () => {
    const at: string[] = [];
    const work = (access: "write" | "execute") => async (input: { readonly n: string }) => {
      at.push(`+${input.n}`);
      await pause(access === "execute" ? 30 : 60);
      at.push(`-${input.n}`);
    };
    const tool = (access: "write" | "execute") => defineTool({ name: access, access, run: work(access) });
    for (const first of ["write", "execute"]) {
      at.length = 0;
      const { transactions } = rig([tool("write"), tool("execute")]);
      const run = (name: string, n: string, signal?: AbortSignal) =>
        transactions.run({ id: n, name, input: { n } }, signal === undefined ? {} : { signal });
      const stop = new AbortController();
      const before = run(first, "before");
      const gone = run("execute", "gone", stop.signal);
      await quiet();
      stop.abort();
      await gone;
      await Promise.all([before, run("execute", "after"), run("write", "last")]);
      expect(at).toEqual(["+before", "-before", "+after", "-after", "+last", "-last"]);
    }
  });

  test("[TURN-9] in call order a call that could not be opened lets none behind it past those before it", async () => {
    const gate = Promise.withResolvers<void>();
    const add = writes<{ readonly slow: boolean }>("add", async ({ slow }, call) => {
      if (slow) await gate.promise;
      call.dispatch(steps.added(call.id));
    });
    const { state, transactions, ledger } = rig([add], { commitOrder: "call" });
    const write = ledger.opened.bind(ledger);
    ledger.opened = async (call) => (call.callId === "unopened" ? Promise.reject(new Error("no")) : write(call));
    const run = (id: string, slow = false) => transactions.run({ id, name: "add", input: { slow } });
    const all = [run("first", true), run("unopened"), run("last")];
    await expect(all[1]).rejects.toThrow("no");
    await quiet();
    expect(state.session.get(steps)).toEqual([]);
    gate.resolve();
    await Promise.all([all[0], all[2]]);
    expect(state.session.get(steps)).toEqual(["first", "last"]);
  });

  test("[TX-18] a call that ends without waiting for its resource leaves it free for the next", async () => {
    const hasty = writes("hasty", (_, call) => {
      void call.resource(BOX).catch(() => {});
      return "gone";
    });
    const use = writes("use", async (_, call) => {
      (await call.resource(BOX)).value += 1;
    });
    const { state, transactions } = rig([hasty, use], { state: { resources: [[BOX, new Box()]] } });
    await transactions.run({ id: "c1", name: "hasty", input: {} });
    expect(await transactions.run({ id: "c2", name: "use", input: {} })).toMatchObject({ ok: true });
    await state.restore(await state.snapshot());
    expect(state.resources.get(BOX).value).toBe(1);
  });
});
