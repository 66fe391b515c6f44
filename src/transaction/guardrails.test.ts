import { describe, expect, test } from "vitest";
import { Box, counter, diary, rig, steps, writes } from "../../test/support/calls.ts";
import { resourceKey } from "../state/resources.ts";
import type { Json } from "../base/json.ts";
import type { ToolSpec } from "./tool.ts";

const BOX = resourceKey<Box>("box");

/** A tool that says 1, 2, 3 …, one number per attempt, and leaves traces everywhere. */
const counting = (validate: (output: Json) => string | undefined, more: Partial<ToolSpec<unknown>> = {}) =>
  writes(
    "count",
    async (_, call) => {
      call.dispatch(counter.added(1));
      call.dispatch(steps.added(`attempt ${call.attempt}, ${call.refused.length} refused`));
      await call.files.writeText(`${call.attempt}.txt`, "x");
      (await call.resource(BOX)).value += 1;
      return call.attempt;
    },
    { validators: [validate], ...more },
  );

const world = (tool: ReturnType<typeof counting>) => {
  const box = new Box();
  return { box, ...rig([tool], { state: { slices: [counter, steps, diary], resources: [[BOX, box]] } }) };
};

describe("guardrails", () => {
  test("[LOOP-16] a refused result is undone and tried again inside the same call, with one closing record", async () => {
    const { transactions, state, ledger, box } = world(counting((n) => (n === 1 ? "one is too few" : undefined)));
    const outcome = await transactions.run({ id: "c", name: "count", input: {} });
    expect(outcome).toMatchObject({ ok: true, output: 2, attempts: 2 });
    expect(outcome.attemptFailures).toEqual([{ attempt: 1, reason: "rejected", message: "one is too few" }]);
    expect(state.session.get(steps)).toEqual(["attempt 2, 1 refused"]);
    expect([state.session.get(counter), box.value]).toEqual([1, 1]);
    expect(ledger.kinds("c")).toEqual(["opened", "closed"]);
    expect(ledger.closings()[0]).toMatchObject({ attemptFailures: outcome.attemptFailures });
  });

  test("[LOOP-16] attempts are bounded; then the call fails and leaves nothing, and every objection is kept", async () => {
    const tool = counting((n) => `${JSON.stringify(n)} will not do`, { attempts: 3 });
    const { transactions, state, ledger, box } = world(tool);
    const outcome = await transactions.run({ id: "c", name: "count", input: {} });
    expect(outcome).toMatchObject({ ok: false, status: "failed", reason: "rejected", attempts: 3 });
    expect(outcome.output).toContain("3 will not do");
    expect(outcome.attemptFailures?.map(({ message }) => message)).toEqual([1, 2, 3].map((n) => `${n} will not do`));
    expect([state.session.get(counter), state.session.get(steps), box.value]).toEqual([0, [], 0]);
    expect(ledger.closings()).toHaveLength(1);
  });

  test("[LOOP-16] an objection may be final, and a validator that throws has not accepted", async () => {
    const final = world(counting(() => ({ message: "never", final: true }) as never));
    expect(await final.transactions.run({ id: "c", name: "count", input: {} })).toMatchObject({
      attempts: 1,
      ok: false,
    });
    const broken = world(
      counting(() => {
        throw new Error("the judge is ill");
      }),
    );
    expect(await broken.transactions.run({ id: "c", name: "count", input: {} })).toMatchObject({
      ok: false,
      attempts: 1,
      output: expect.stringContaining("the judge is ill"),
    });
  });

  test("[LOOP-16] what a refused attempt did outside is undone unless the next asks for it again", async () => {
    const done: string[] = [];
    const pay = {
      run: (args: Json) => {
        done.push(`pay ${JSON.stringify(args)}`);
        return args;
      },
      undo: (args: Json) => {
        done.push(`refund ${JSON.stringify(args)}`);
      },
    };
    const tool = writes(
      "pay",
      async (_, call) => {
        await call.effect("pay", "fee", { key: "fee" });
        if (call.attempt === 1) await call.effect("pay", "gift", { key: "gift" });
        return call.attempt;
      },
      { access: "external", effects: { pay }, validators: [(n) => (n === 1 ? "again" : undefined)] },
    );
    const { transactions } = rig([tool]);
    expect(await transactions.run({ id: "c", name: "pay", input: {} })).toMatchObject({ ok: true });
    expect(done).toEqual(['pay "fee"', 'pay "gift"', 'refund "gift"']);
  });

  test("[LOOP-16] a call that a host ran is looked at too, and only the host can try again", async () => {
    const { transactions, ledger } = world(counting(() => "no"));
    const pending = await transactions.begin({ id: "c", name: "count", input: {} });
    expect(await pending.commit(5)).toMatchObject({ ok: false, reason: "rejected" });
    expect(ledger.closings()).toMatchObject([{ attemptFailures: [{ message: "no" }] }]);
  });

  test("[LOOP-16] a number of attempts that cannot be is refused where the tool is defined", () => {
    expect(() => counting(() => undefined, { attempts: 0 })).toThrow(expect.objectContaining({ code: "BAD_OPTION" }));
  });
});

describe("progress", () => {
  test("[LOOP-17] [R03] a call that is stopped tells how long it ran and what it had put out", async () => {
    const controller = new AbortController();
    const heard: string[] = [];
    const tool = writes("build", (_, call) => {
      call.progress("compiling…\n");
      call.progress("42 of 100\n");
      return new Promise(() => {});
    });
    const { transactions, clock, ledger } = rig([tool]);
    const run = transactions.run(
      { id: "c", name: "build", input: {} },
      { signal: controller.signal, onProgress: (text) => heard.push(text) },
    );
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1500);
    controller.abort();
    const outcome = await run;
    expect(outcome).toMatchObject({ status: "canceled" });
    expect(outcome.output).toContain("It had run for 1.5 s. Its output so far:\ncompiling…\n42 of 100\n");
    expect(heard).toEqual(["compiling…\n", "42 of 100\n"]);
    expect(ledger.closings()[0]?.output).toBe(outcome.output);
  });

  test("[LOOP-17] only the newest of much output is kept, and a listener that throws disturbs nothing", async () => {
    const tool = writes(
      "flood",
      (_, call) => {
        for (let n = 0; n < 3000; n += 1) call.progress(`line ${n}\n`);
        return "done";
      },
      { deadlineMs: 10 },
    );
    const stuck = writes(
      "stuck",
      (_, call) => {
        for (let n = 0; n < 3000; n += 1) call.progress(`line ${n}\n`);
        return new Promise(() => {});
      },
      { deadlineMs: 10 },
    );
    const { transactions, clock } = rig([tool, stuck]);
    const onProgress = () => {
      throw new Error("not listening");
    };
    expect(await transactions.run({ id: "a", name: "flood", input: {} }, { onProgress })).toMatchObject({ ok: true });
    const run = transactions.run({ id: "b", name: "stuck", input: {} }, { onProgress });
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(10);
    const outcome = await run;
    expect(outcome).toMatchObject({ status: "timeout", output: expect.stringContaining("line 2999") });
    expect(JSON.stringify(outcome.output).length).toBeLessThan(20_000);
  });
});

describe("a result that is refused while something cannot be taken back", () => {
  test("[LOOP-16] [TX-8] a resource: the call is closed as failed, it is not tried again, and the state is given up", async () => {
    const { transactions, state, box, ledger } = world(counting(() => "never"));
    box.refuses = 9;
    const outcome = await transactions.run({ id: "c", name: "count", input: {} });
    expect(outcome).toMatchObject({ ok: false, reason: "RESTORE_FAILED", attempts: 1 });
    expect([state.poisoned, ledger.closings().length]).toEqual([true, 1]);
  });

  test("[LOOP-16] [TX-22] a child: it would do its work twice, so the call ends and says so", async () => {
    const work = writes(
      "work",
      async (_, call) => {
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors
        await call.child({ mark: async () => () => Promise.reject("it is gone") });
        return call.attempt;
      },
      { validators: [() => "never"] },
    );
    const { transactions, state } = rig([work]);
    const outcome = await transactions.run({ id: "c", name: "work", input: {} });
    expect(outcome).toMatchObject({ ok: false, reason: "rejected", attempts: 1 });
    expect(outcome.output).toContain("Not taken back: a child: it is gone");
    expect(state.poisoned).toBe(false);
  });

  test("[LOOP-16] whoever judges and throws no error has not accepted either", async () => {
    const { transactions } = world(
      counting(() => {
        throw "ill"; // oxlint-disable-line typescript/only-throw-error
      }),
    );
    expect((await transactions.run({ id: "c", name: "count", input: {} })).output).toContain(
      "could not be checked: ill",
    );
  });
});
