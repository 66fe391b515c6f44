import { describe, expect, test } from "vitest";
import { counter, quiet, rig, steps, writes } from "../../test/support/calls.ts";
import { ExecutionState } from "../state/execution-state.ts";
import type { Call } from "./call.ts";
import { EffectDidNotHappen, type EffectSpec } from "./effect.ts";
import type { CallOutcome } from "./outcome.ts";
import { defineTool } from "./tool.ts";
import { Transactions } from "./transactions.ts";

/** A tool that sends mails, and what became of them. */
function posting(work: (call: Call) => Promise<unknown>, more: Partial<EffectSpec> = {}) {
  const did: string[] = [];
  const mail: EffectSpec = {
    run: async (_args, { key }) => did.push(`sent ${key}`),
    undo: async (_args, _result, { key }) => void did.push(`recalled ${key}`),
    ...more,
  };
  const post = defineTool({ name: "post", access: "external", effects: { mail }, run: async (_, call) => work(call) });
  return { did, post };
}

const send = (call: Call, key: string) => call.effect("mail", {}, { key });
const boom = () => Promise.reject(new Error("boom"));
const failing = (call: Call, work: () => Promise<unknown>) => call.transaction(() => work().then(boom)).catch(() => {});
const called = { id: "c", name: "post", input: {} };

describe("an effect of a part that is rolled back", () => {
  test("[TX-40] is undone at once, newest first, and is not told as happened", async () => {
    const { did, post } = posting(async (call) => {
      await send(call, "a");
      await failing(call, async () => {
        await send(call, "b");
        await send(call, "c");
      });
      return [...did];
    });
    const { transactions, ledger } = rig([post]);
    const outcome = await transactions.run(called);
    expect(outcome.output).toEqual(["sent a", "sent b", "sent c", "recalled c", "recalled b"]);
    expect(outcome.effects.map(({ key, is }) => [key, is])).toEqual([["a", "happened"]]);
    expect(did).toHaveLength(5);
    expect(ledger.kinds("c").filter((kind) => kind === "effect-undone")).toHaveLength(2);
  });

  test("[TX-40] so it is when a savepoint is rolled back, before the call has ended", async () => {
    const { did, post } = posting(async (call) => {
      const savepoint = call.savepoint();
      await send(call, "a");
      savepoint.rollback();
    });
    const { transactions } = rig([post]);
    expect(await transactions.run(called)).toMatchObject({ ok: true, effects: [] });
    expect(did).toEqual(["sent a", "recalled a"]);
  });

  test("[TX-40] stays when the call asked for it elsewhere, too", async () => {
    const { did, post } = posting(async (call) => {
      await send(call, "a");
      await failing(call, () => send(call, "a"));
      await failing(call, () => send(call, "b"));
      await send(call, "b");
    });
    const { transactions } = rig([post]);
    const outcome = await transactions.run(called);
    expect(outcome.effects.map(({ key, is }) => [key, is])).toEqual([
      ["a", "happened"],
      ["b", "happened"],
    ]);
    expect(did).toEqual(["sent a", "sent b", "recalled b", "sent b"]);
  });

  test.each([true, false])(
    "[TX-40] stands when the call asks for it again while another is being undone, and goes with the call: succeeds %s",
    async (succeeds) => {
      const undoing = Promise.withResolvers<void>();
      const { did, post } = posting(
        async (call) => {
          const savepoint = call.savepoint();
          await send(call, "a");
          await send(call, "b");
          savepoint.rollback();
          await quiet();
          const again = await send(call, "a");
          undoing.resolve();
          return succeeds ? again : call.fail("no", "no");
        },
        {
          undo: async (_args, _result, { key }) => {
            if (key === "b") await undoing.promise;
            did.push(`recalled ${key}`);
          },
        },
      );
      const { transactions } = rig([post]);
      const outcome = await transactions.run(called);
      const gone = ["sent a", "sent b", "recalled b"];
      expect(did).toEqual(succeeds ? gone : [...gone, "recalled a"]);
      expect(outcome.effects.map(({ key, is }) => [key, is])).toEqual([["a", succeeds ? "happened" : "undone"]]);
      if (succeeds) expect(outcome.output).toBe(1);
    },
  );

  test("[TX-40] goes although the call had asked for it elsewhere, in vain", async () => {
    let isDown = true;
    const { did, post } = posting(
      async (call) => {
        await send(call, "a").catch(() => {});
        isDown = false;
        await failing(call, () => send(call, "a"));
      },
      {
        run: async (_args, { key }) => {
          if (isDown) throw new EffectDidNotHappen("nobody there");
          did.push(`sent ${key}`);
        },
      },
    );
    const { transactions } = rig([post]);
    expect(await transactions.run(called)).toMatchObject({ ok: true, effects: [] });
    expect(did).toEqual(["sent a", "recalled a"]);
  });

  test("[TX-40] that cannot be undone is told with the end of the call, whether that succeeds or not", async () => {
    for (const fails of [false, true]) {
      const { post } = posting(
        async (call) => {
          await failing(call, () => send(call, "a"));
          return fails ? call.fail("no", "no") : "ok";
        },
        { undo: undefined as never },
      );
      const outcome = await rig([post]).transactions.run(called);
      expect(outcome).toMatchObject({ ok: !fails, effects: [{ key: "a", is: "not-undone" }] });
      expect(JSON.stringify(outcome.output)).toContain(fails ? "mail (a) happened and was not undone" : "ok");
    }
  });

  test("[TX-40] is told so, too, when the call ends before it is known whether it could be undone", async () => {
    const slow = { undo: () => quiet().then(() => Promise.reject(new Error("gone"))) };
    const { post } = posting(async (call) => {
      const savepoint = call.savepoint();
      await send(call, "a");
      savepoint.rollback();
    }, slow);
    const { transactions } = rig([post]);
    const { ok, effects } = await transactions.run(called);
    expect([ok, effects.map(({ key, is }) => [key, is])]).toEqual([true, [["a", "not-undone"]]]);
  });

  test("[TX-40] that is still running is undone when it is done", async () => {
    const slow = Promise.withResolvers<void>();
    const { did, post } = posting(
      async (call) => {
        let sending: Promise<unknown> | undefined;
        await failing(call, async () => void (sending = send(call, "a")));
        slow.resolve();
        await sending;
      },
      { run: () => slow.promise.then(() => null) },
    );
    const { transactions } = rig([post]);
    expect(await transactions.run(called)).toMatchObject({ ok: true });
    expect(did).toEqual(["recalled a"]);
  });

  test("[TX-40] is refused when what asks for it is what is left of the part", async () => {
    const late: unknown[] = [];
    const { did, post } = posting(async (call) => {
      const over = Promise.withResolvers<void>();
      let rest: Promise<unknown> | undefined;
      await failing(call, async () => {
        const uses = [() => send(call, "a"), () => call.child(ExecutionState.create()), () => call.exec("true")];
        rest = over.promise.then(() => Promise.allSettled(uses.map((use) => use())));
      });
      over.resolve();
      late.push(...((await rest) as readonly PromiseRejectedResult[]).map(({ reason }) => reason.code));
    });
    const { transactions } = rig([post]);
    await transactions.run(called);
    expect(late).toEqual(["SAVEPOINT_VOID", "SAVEPOINT_VOID", "SAVEPOINT_VOID"]);
    expect(did).toEqual([]);
  });
});

describe("what the store refuses to have let go", () => {
  const wayOut: Readonly<Record<string, (call: Call) => Promise<unknown>>> = {
    "a transaction": (call) => failing(call, () => send(call, "b")),
    "a savepoint": async (call) => {
      const savepoint = call.savepoint();
      await send(call, "b");
      savepoint.rollback();
    },
    "a call inside": (call) => call.run({ name: "mails", input: {} }).catch(() => {}),
  };

  test.each([
    ["a transaction", "effect-undoing"],
    ["a transaction", "effect-left"],
    ["a savepoint", "effect-undoing"],
    ["a savepoint", "effect-left"],
    ["a call inside", "effect-undoing"],
  ])("[TX-40] with %s (%s) fails the whole call, and is undone with it", async (way, kind) => {
    const { did, post } = posting(async (call) => {
      await send(call, "a");
      ledger.failOn = kind;
      await wayOut[way]?.(call);
      await quiet();
      ledger.failOn = undefined;
      call.dispatch(counter.added(1));
    });
    const mails = writes("mails", (_, call) => send(call, "b").then(boom), { effects: post.effects });
    const { transactions, ledger, state } = rig([post, mails]);
    const { ok, output, effects } = await transactions.run(called);
    expect([ok, state.session.get(counter), state.poisoned]).toEqual([false, 0, false]);
    expect(output).toContain(`cannot write ${kind}`);
    expect(did.toSorted()).toEqual(["recalled a", "recalled b", "sent a", "sent b"]);
    expect(effects.filter(({ is }) => is !== "undone")).toEqual([]);
  });
});

describe("a child of a part that is rolled back", () => {
  const working = async (call: Call, child: ExecutionState, what: string) => {
    await call.child(child);
    await child.session.dispatch(steps.added(what));
  };

  test("[TX-40] is taken back to where the part began, and others stay", async () => {
    const [child, other] = [ExecutionState.create({ slices: [steps] }), ExecutionState.create({ slices: [steps] })];
    const work = writes("work", async (_, call) => {
      await working(call, child, "before");
      await failing(call, () => working(call, child, "inside"));
      await call.transaction(() => working(call, other, "kept"));
      const savepoint = call.savepoint();
      await working(call, other, "gone");
      savepoint.rollback();
    });
    const { transactions } = rig([work]);
    expect(await transactions.run({ id: "a", name: "work", input: {} })).toMatchObject({ ok: true });
    expect([child.session.get(steps), other.session.get(steps)]).toEqual([["before"], ["kept"]]);
  });

  test("[TX-40] works on for the call, which is not over, and is let go of once", async () => {
    const released: string[] = [];
    const child = ExecutionState.create({ slices: [steps] });
    const tools = new Transactions(child, {
      tools: [writes("step", (_, call) => call.dispatch(steps.added(call.id)))],
    });
    const held = { mark: () => tools.mark(), release: async () => void released.push("released") };
    const step = (id: string) => tools.run({ id, name: "step", input: {} });
    const work = writes("work", async (_, call) => {
      await call.child(held);
      await step("before");
      await failing(call, () => call.child(held).then(() => step("inside")));
      await step("after");
      expect(released).toEqual([]);
    });
    const { transactions } = rig([work]);
    expect(await transactions.run({ id: "a", name: "work", input: {} })).toMatchObject({ ok: true });
    expect([child.session.get(steps), released]).toEqual([["before", "after"], ["released"]]);
  });

  test("[TX-40] that has work for it anew right after a rollback stands where it was taken back to", async () => {
    for (const fails of [false, true]) {
      const child = ExecutionState.create({ slices: [steps] });
      const post = writes("post", async (_, call) => {
        const savepoint = call.savepoint();
        await working(call, child, "rolled back");
        savepoint.rollback();
        const anew = () => working(call, child, "anew");
        await (fails ? failing(call, anew) : anew());
      });
      const { transactions } = rig([post]);
      expect(await transactions.run(called)).toMatchObject({ ok: true });
      expect([fails, child.session.get(steps)]).toEqual([fails, fails ? [] : ["anew"]]);
    }
  });

  test("[TX-40] is taken back in the order in which its parts were rolled back, whichever takes longer", async () => {
    const child = ExecutionState.create({ slices: [steps] });
    const post = writes("post", async (_, call) => {
      await working(call, child, "kept");
      await failing(call, async () => {
        await working(call, child, "part");
        const savepoint = call.savepoint();
        for (const what of ["a", "b", "c"]) await working(call, child, what);
        savepoint.rollback();
      });
    });
    const { transactions } = rig([post]);
    expect(await transactions.run(called)).toMatchObject({ ok: true });
    expect(child.session.get(steps)).toEqual(["kept"]);
  });

  test("[TX-40] that the part had work for it once more goes on with what it had begun for the call before", async () => {
    const child = ExecutionState.create({ slices: [steps] });
    const gate = Promise.withResolvers<void>();
    const tools = new Transactions(child, {
      tools: [writes("step", (_, call) => gate.promise.then(() => call.dispatch(steps.added(call.id))))],
    });
    const begun: Promise<CallOutcome>[] = [];
    const step = (id: string) => begun.push(tools.run({ id, name: "step", input: {} }));
    const work = writes("work", async (_, call) => {
      await call.child(child);
      step("before");
      await failing(call, () => call.child(child).then(() => step("inside")));
      gate.resolve();
      return (await Promise.all(begun)).map(({ status }) => status);
    });
    const { transactions } = rig([work]);
    expect(await transactions.run({ id: "a", name: "work", input: {} })).toMatchObject({
      output: ["success", "canceled"],
    });
    expect(child.session.get(steps)).toEqual(["before"]);
  });

  test("[TX-22] what it began for any part of a call is stopped when the whole call is discarded", async () => {
    const child = ExecutionState.create({ slices: [steps] });
    const never = new Promise<never>(() => {});
    const tools = new Transactions(child, { tools: [writes("step", () => never)] });
    const begun: Promise<CallOutcome>[] = [];
    const step = (id: string) => begun.push(tools.run({ id, name: "step", input: {} }));
    const work = writes("work", async (_, call) => {
      await call.child(child);
      step("first");
      await call.transaction(() => call.child(child).then(() => step("second")));
      await call.child(child);
      step("third");
      return boom();
    });
    const { transactions } = rig([work]);
    expect(await transactions.run({ id: "a", name: "work", input: {} })).toMatchObject({ ok: false });
    expect((await Promise.all(begun)).map(({ status }) => status)).toEqual(["canceled", "canceled", "canceled"]);
  });

  test("[TX-40] so is one of a call inside that failed", async () => {
    const child = ExecutionState.create({ slices: [steps] });
    const inner = writes("inner", (_, call) => working(call, child, "inside").then(boom));
    const outer = writes("outer", (_, call) => call.run({ name: "inner", input: {} }).then(({ ok }) => ok));
    const { transactions } = rig([inner, outer]);
    expect(await transactions.run({ id: "a", name: "outer", input: {} })).toMatchObject({ ok: true, output: false });
    expect(child.session.get(steps)).toEqual([]);
  });

  test.each(["transaction", "savepoint"])(
    "[TX-40] that refuses to be taken back fails the whole call, and says so: %s",
    async (how) => {
      const stuck = { mark: async () => () => Promise.reject(new Error("gone for good")) };
      const work = writes("work", async (_, call) => {
        call.dispatch(counter.added(1));
        const savepoint = call.savepoint();
        if (how === "transaction") await failing(call, () => call.child(stuck));
        else await call.child(stuck).then(() => savepoint.rollback());
        await quiet();
      });
      const { state, transactions } = rig([work]);
      const outcome = await transactions.run({ id: "a", name: "work", input: {} });
      expect(outcome).toMatchObject({ ok: false, reason: "CHILD_SAVEPOINT" });
      expect(outcome.output).toContain("Not taken back: a child: gone for good");
      expect([state.session.get(counter), state.poisoned]).toEqual([0, false]);
    },
  );

  test("[TX-40] that refuses is told of when everything else of the part was undone", async () => {
    const stuck = { mark: async () => () => Promise.reject(new Error("gone for good")) };
    const { did, post } = posting(
      async (call) => {
        const part = () => send(call, "a").then(() => call.child(stuck));
        await failing(call, part);
        did.push("told");
      },
      { undo: async () => quiet().then(() => void did.push("recalled a")) },
    );
    await rig([post]).transactions.run(called);
    expect(did).toEqual(["sent a", "recalled a", "told"]);
  });
});
