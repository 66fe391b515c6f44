import { describe, expect, test } from "vitest";
import type { HoldfastError } from "../../src/base/errors.ts";
import type { Json } from "../../src/base/json.ts";
import { filesOf } from "../../src/files/access.ts";
import { defineSlice } from "../../src/state/slice.ts";
import { resourceKey } from "../../src/state/resources.ts";
import type { Call } from "../../src/transaction/call.ts";
import { Box, counter, diary, quiet, rig, steps, writes } from "../support/calls.ts";

const BOX = resourceKey<Box>("box");
const basket = defineSlice("basket", {
  initial: [] as readonly string[],
  on: {
    put: (now, what: string) => [...now, what],
    taken: (now, what: string) => {
      if (!now.includes(what)) throw new Error(`there is no ${what}`);
      return now.filter((other) => other !== what);
    },
  },
});

/** One call that does `work`, beside tools that it can run inside. Says how everything ended, and what is left. */
async function ran(work: (call: Call, did: string[]) => Promise<unknown>) {
  const did: string[] = [];
  const mail = {
    run: (_args: Json, { key }: { readonly key: string }) => void did.push(`sent ${key}`),
    undo: (_args: Json, _result: Json, { key }: { readonly key: string }) => void did.push(`took back ${key}`),
  };
  const world = rig(
    [
      writes("bad", async (_, call) => {
        call.dispatch(steps.added("of the bad"));
        call.dispatch(basket.put("apple"));
        await call.files.writeText("bad.txt", "gone");
        await quiet();
        throw new Error("no");
      }),
      writes<{ readonly name: string }>("good", async ({ name }, call) => {
        call.dispatch(steps.added(name));
        await quiet();
      }),
      writes(
        "mails",
        async (_, call) => {
          await call.effect("mail", {}, { key: "k" });
          call.dispatch(steps.added("mailed"));
        },
        { effects: { mail: mail as never } },
      ),
      writes("outer", (_, call) => work(call, did)),
    ],
    { state: { slices: [counter, steps, diary, basket], resources: [[BOX, new Box()]] } },
  );
  const outcome = await world.transactions.run({ id: "x", name: "outer", input: {} });
  const closings = world.ledger.closings().map(({ callId, status }) => `${callId} ${status}`);
  return { ...world, outcome, did, closings, steps: world.state.session.get(steps) };
}

const later = async () => {
  await quiet();
  await quiet();
};

describe("a part of a call that is rolled back takes its own", () => {
  test("[TX-21] a call inside one that fails leaves what is done beside it", async () => {
    const { state, ...after } = await ran(async (call) => {
      const bad = call.run({ name: "bad", input: {} });
      call.dispatch(steps.added("before it began"));
      for (let turn = 0; turn < 30; turn += 1) await Promise.resolve();
      expect(call.get(steps)).toContain("of the bad");
      call.dispatch(steps.added("beside it"));
      await call.files.writeText("beside.txt", "kept");
      await bad;
      return call.get(steps);
    });
    expect(after.outcome.output).toEqual(["before it began", "beside it"]);
    expect(after.steps).toEqual(["before it began", "beside it"]);
    expect((await filesOf(state).list()).map(({ name }) => name)).toEqual(["beside.txt"]);
  });

  test("[TX-20] two transactions at once, one of which fails, and transactions inside them", async () => {
    const after = await ran(async (call) => {
      const failing = call.transaction(async () => {
        call.dispatch(steps.added("failing"));
        await call.transaction(() => call.dispatch(steps.added("inside the failing")));
        await later();
        throw new Error("no");
      });
      const lasting = call.transaction(async () => {
        call.dispatch(steps.added("lasting"));
        await quiet();
        await call.transaction(() => call.dispatch(steps.added("inside the lasting")));
        await call.run({ name: "good", input: { name: "a call in the lasting" } });
      });
      await quiet();
      call.dispatch(steps.added("in neither"));
      await Promise.allSettled([failing, lasting]);
    });
    expect(after.outcome.ok).toBe(true);
    expect([...after.steps].sort()).toEqual(["a call in the lasting", "in neither", "inside the lasting", "lasting"]);
  });

  test("[TX-20] what still runs of a transaction that was rolled back changes nothing any more", async () => {
    const after = await ran(async (call) => {
      const late: string[] = [];
      const slow = async () => {
        await quiet();
        await Promise.resolve()
          .then(() => call.dispatch(steps.added("too late")))
          .catch((error: HoldfastError) => late.push(error.code));
      };
      const work = () => Promise.all([slow(), Promise.reject(new Error("no"))]);
      await call.transaction(work).catch(() => {});
      call.dispatch(steps.added("after it"));
      await later();
      return late;
    });
    expect([after.outcome.output, after.steps]).toEqual([["SAVEPOINT_VOID"], ["after it"]]);
  });

  test("[TX-20] a savepoint that a rollback went past is void, and the one it went to holds", async () => {
    const after = await ran(async (call) => {
      const first = call.savepoint();
      call.dispatch(steps.added("a"));
      call.dispatch(diary.said("tried"));
      const second = call.savepoint();
      call.dispatch(steps.added("b"));
      first.rollback();
      expect(() => second.rollback()).toThrowError(expect.objectContaining({ code: "SAVEPOINT_VOID" }));
      call.dispatch(steps.added("c"));
      const third = call.savepoint();
      call.dispatch(steps.added("d"));
      third.rollback();
      expect(call.get(steps)).toEqual(["c"]);
      first.rollback();
      call.dispatch(steps.added("e"));
    });
    expect([after.outcome.ok, after.steps, after.state.session.get(diary)]).toEqual([true, ["e"], ["tried"]]);
  });

  test("[TX-20] a transaction whose beginning was rolled back fails, and takes the rest of it with it", async () => {
    const after = await ran(async (call) => {
      const savepoint = call.savepoint();
      const failed = await call
        .transaction(() => {
          call.dispatch(steps.added("before"));
          savepoint.rollback();
          call.dispatch(steps.added("after"));
        })
        .catch((error: HoldfastError) => error.code);
      return [failed, call.get(steps)];
    });
    expect([after.outcome.output, after.steps]).toEqual([["SAVEPOINT_VOID", []], []]);
  });

  test("[TX-20] what stays and cannot do without what went fails the whole call", async () => {
    const after = await ran(async (call) => {
      const bad = call.run({ name: "bad", input: {} });
      for (let turn = 0; turn < 30; turn += 1) await Promise.resolve();
      call.dispatch(basket.taken("apple"));
      await bad;
    });
    expect([after.outcome.reason, after.state.session.get(basket)]).toEqual(["REDUCER_FAILED", []]);
  });
});

describe("a call inside a part that is rolled back", () => {
  const ways: Record<string, (call: Call, work: () => Promise<unknown>) => Promise<unknown>> = {
    transaction: (call, work) =>
      call
        .transaction(async () => {
          await work();
          throw new Error("not this");
        })
        .catch(() => {}),
    savepoint: async (call, work) => {
      const savepoint = call.savepoint();
      await work();
      savepoint.rollback();
    },
  };

  test.each(Object.keys(ways))(
    "[TX-21] [TX-38] by a %s ends as undone, and so does what it did outside",
    async (way) => {
      const after = await ran(async (call) => {
        await call.run({ name: "good", input: { name: "before" } });
        await ways[way]?.(call, () => call.run({ name: "mails", input: {} }));
        await call.run({ name: "good", input: { name: "after" } });
      });
      expect(after.closings).toEqual(["x.1 success", "x.2 canceled", "x.3 success", "x success"]);
      expect([after.steps, after.did]).toEqual([
        ["before", "after"],
        ["sent k", "took back k"],
      ]);
      expect(after.outcome.effects).toEqual([]);
      expect(after.ledger.closings().find(({ callId }) => callId === "x.2")).toMatchObject({
        reason: "parent-discarded",
        output:
          "It was undone with the part of the call that it ran in. Its changes were undone. It had run for 0.0 s.",
        effects: "none",
      });
    },
  );

  test.each(Object.keys(ways))("[TX-21] [TX-38] by a %s while it runs, or waits to, is undone, too", async (way) => {
    const after = await ran(async (call) => {
      const inner: Promise<{ readonly status: string }>[] = [];
      await ways[way]?.(call, async () => {
        inner.push(call.run({ name: "good", input: { name: "running" } }));
        inner.push(call.run({ name: "mails", input: {} }));
        for (let turn = 0; turn < 30; turn += 1) await Promise.resolve();
        expect(call.get(steps)).toEqual(["running"]);
      });
      call.dispatch(steps.added("after"));
      return (await Promise.all(inner)).map(({ status }) => status);
    });
    expect(after.outcome.output).toEqual(["canceled", "canceled"]);
    expect(after.closings).toEqual(["x.1 canceled", "x.2 canceled", "x success"]);
    expect([after.steps, after.did]).toEqual([["after"], []]);
  });

  test("[TX-21] by a call that fails, is closed with what became of what it did outside", async () => {
    const mail = { run: () => null, undo: () => {} };
    const mails = writes("mails", (_, call) => call.effect("mail", {}, { key: "k" }), { effects: { mail } });
    const outer = writes("outer", async (_, call) => {
      await call.run({ name: "mails", input: {} });
      throw new Error("failed after it");
    });
    const { transactions, ledger } = rig([mails, outer]);
    await transactions.run({ id: "x", name: "outer", input: {} });
    expect(ledger.closings().map(({ callId, effects }) => [callId, effects])).toEqual([
      ["x.1", "none"],
      ["x", "none"],
    ]);
    expect(JSON.stringify(ledger.closings())).not.toContain("happened");
  });

  test("[TX-21] is undone outside before the call around it has ended, however long that takes", async () => {
    const told: string[] = [];
    const mail = {
      run: () => null,
      undo: async () => {
        await later();
        told.push("took back");
      },
    };
    const mails = writes("mails", (_, call) => call.effect("mail", {}, { key: "k" }), { effects: { mail } });
    const outer = writes("outer", async (_, call) => {
      const savepoint = call.savepoint();
      await call.run({ name: "mails", input: {} });
      savepoint.rollback();
    });
    const { transactions } = rig([mails, outer]);
    const { ok, effects } = await transactions.run({ id: "x", name: "outer", input: {} });
    expect([ok, effects, told]).toEqual([true, [], ["took back"]]);
  });

  test("[TX-21] [TX-26] what it did outside and cannot be taken back is told by the call around it", async () => {
    const pay = writes("pays", (_, call) => call.effect("payment", {}, { key: "p" }), {
      effects: { payment: { run: () => "paid" } },
    });
    const outer = writes("outer", async (_, call) => {
      const savepoint = call.savepoint();
      await call.run({ name: "pays", input: {} });
      savepoint.rollback();
    });
    const { transactions } = rig([pay, outer]);
    const { ok, effects } = await transactions.run({ id: "x", name: "outer", input: {} });
    expect([ok, effects.map(({ key, is }) => [key, is])]).toEqual([true, [["p", "not-undone"]]]);
  });
});

describe("a resource that cannot branch", () => {
  const add = async (call: Call, by: number) => {
    (await call.resource(BOX)).value += by;
  };

  test("[TX-39] used by two parts at once of which one is taken back fails the whole call", async () => {
    const after = await ran(async (call) => {
      await Promise.allSettled([
        call.transaction(async () => {
          await add(call, 1);
          await quiet();
          throw new Error("no");
        }),
        call.transaction(() => add(call, 10)),
      ]);
    });
    expect([after.outcome.reason, after.state.resources.get(BOX).value]).toEqual(["RESOURCE_SAVEPOINT", 0]);
  });

  test("[TX-39] taken by a call while one inside it runs, which then fails, fails the whole call", async () => {
    const after = await ran(async (call) => {
      const bad = call.run({ name: "bad", input: {} });
      for (let turn = 0; turn < 30; turn += 1) await Promise.resolve();
      await add(call, 1);
      await bad;
    });
    expect([after.outcome.reason, after.state.resources.get(BOX).value]).toEqual(["RESOURCE_SAVEPOINT", 0]);
  });
});
