import { describe, expect, test } from "vitest";
import { Box, counter, quiet, rig, steps, writes } from "../../test/support/calls.ts";
import type { StandardSchema } from "../contracts/schema.ts";
import { resourceKey } from "../state/resources.ts";
import { defineSlice } from "../state/slice.ts";
import type { ToolPolicy } from "./policy.ts";
import { defineTool } from "./tool.ts";

const BOX = resourceKey<Box>("box");

describe("a call that has to run again", () => {
  /** Reads, lets the others go first, and writes what it read plus one; and counts in the box, but only when it runs again. */
  const increment = writes<{ readonly turns: number }>("increment", async ({ turns }, call) => {
    const now = call.get(counter);
    for (let turn = 0; turn < turns; turn += 1) await quiet();
    if (now > 0) (await call.resource(BOX)).value += 1;
    call.dispatch(counter.set(now + 1));
  });

  test("[TX-12] takes the lock of what only one call can use before it runs again, and uses it alone", async () => {
    const { state, transactions } = rig([increment], { state: { resources: [[BOX, new Box()]] } });
    const outcomes = await transactions.runAll(
      [1, 2, 3].map((turns) => ({ id: `c${turns}`, name: "increment", input: { turns } })),
    );
    expect(outcomes.map(({ ok, attempts }) => [ok, attempts])).toEqual([
      [true, 1],
      [true, 2],
      [true, 2],
    ]);
    expect([state.session.get(counter), state.resources.get(BOX).value]).toEqual([3, 2]);
  });

  test("[TX-42] is given its arguments as they were written down, whatever was made of them since", async () => {
    const drains = writes<{ words: string[] }>("drains", async ({ words }, call) => {
      const now = call.get(counter);
      await quiet();
      for (let word = words.shift(); word !== undefined; word = words.shift()) call.dispatch(steps.added(word));
      call.dispatch(counter.set(now + 1));
    });
    const { state, transactions } = rig([drains, increment]);
    const input = { words: ["a", "b"] };
    const running = transactions.runAll([
      { id: "late", name: "drains", input },
      { id: "quick", name: "increment", input: { turns: 0 } },
    ]);
    input.words.push("never asked for");
    expect(await running).toMatchObject([{ ok: true, attempts: 2 }, { ok: true }]);
    expect(state.session.get(steps)).toEqual(["a", "b"]);
    expect(input.words).toEqual(["a", "b", "never asked for"]);
  });

  test("[TX-40] ends when what it rolled back is undone, and tells what could not be", async () => {
    const effects = { mail: { run: () => "sent", undo: () => quiet().then(() => Promise.reject(new Error("gone"))) } };
    const late = writes(
      "late",
      async (_, call) => {
        const now = call.get(counter);
        await quiet();
        call.dispatch(counter.set(now + 1));
        if (now === 0) return;
        const savepoint = call.savepoint();
        await call.effect("mail", {}, { key: "m" });
        savepoint.rollback();
      },
      { effects },
    );
    const { transactions, ledger } = rig([late, increment]);
    const [outcome] = await transactions.runAll([
      { id: "late", name: "late", input: {} },
      { id: "quick", name: "increment", input: { turns: 0 } },
    ]);
    expect(outcome).toMatchObject({ ok: true, attempts: 2, effects: [{ key: "m", is: "not-undone" }] });
    expect(ledger.kinds("late").slice(-2)).toEqual(["effect-not-undone", "closed"]);
  });

  test("[TX-35] is asked about again when it is about to commit then: a policy may deny what only the second attempt did", async () => {
    const frozen: ToolPolicy = {
      name: "frozen",
      check: () => undefined,
      recheck: ({ tool }, changes) => (tool.name === "late" && changes("steps") ? "steps are frozen" : undefined),
    };
    const late = writes("late", async (_, call) => {
      if (call.get(counter) > 0) call.dispatch(steps.added("late"));
      await quiet();
    });
    const { state, transactions } = rig([late, increment], { policies: [frozen] });
    const [outcome] = await transactions.runAll([
      { id: "late", name: "late", input: {} },
      { id: "quick", name: "increment", input: { turns: 0 } },
    ]);
    expect(outcome).toMatchObject({ ok: false, reason: "denied", attempts: 2 });
    expect(state.session.get(steps)).toEqual([]);
  });

  test("[TX-14] [LOOP-17] is judged by that attempt alone: not by what the first spoiled, nor by what it had put out", async () => {
    const stop = new AbortController();
    const tool = writes<{ readonly stays: boolean }>("tool", async ({ stays }, call) => {
      const isFirst = call.get(counter) === 0;
      call.progress(isFirst ? "first " : "second ");
      await quiet();
      if (isFirst) {
        await call.resource(BOX);
        expect(() => call.savepoint().rollback()).toThrowError(expect.objectContaining({ code: "RESOURCE_SAVEPOINT" }));
      } else if (stays) {
        stop.abort();
        await new Promise(() => {});
      }
    });
    for (const stays of [false, true]) {
      const { transactions } = rig([tool, increment], { state: { resources: [[BOX, new Box()]] } });
      const limits = { signal: stop.signal };
      const running = transactions.run({ id: "tool", name: "tool", input: { stays } }, limits);
      await transactions.run({ id: "quick", name: "increment", input: { turns: 0 } });
      const outcome = await running;
      expect(outcome).toMatchObject({ status: stays ? "canceled" : "success", attempts: 2 });
      if (stays) expect(outcome.output).toMatch(/Its output so far:\nsecond $/);
    }
  });

  test("[TX-12] ends as it ends then: a failure changes nothing and is told as that", async () => {
    const once = writes("once", async (_, call) => {
      const now = call.get(counter);
      if (now > 0) return call.fail("too-late", "somebody was quicker");
      await quiet();
      call.dispatch(steps.added("once"));
      return "done";
    });
    const { state, transactions, ledger } = rig([once, increment]);
    const [late, quick] = await transactions.runAll([
      { id: "late", name: "once", input: {} },
      { id: "quick", name: "increment", input: { turns: 0 } },
    ]);
    expect(quick).toMatchObject({ ok: true });
    expect(late).toMatchObject({ ok: false, status: "failed", reason: "too-late", attempts: 2 });
    expect(state.session.get(steps)).toEqual([]);
    expect(ledger.closings().filter(({ callId }) => callId === "late")).toHaveLength(1);
  });
});

test("[TX-9] a call that asks for a slice nobody has registered fails by its name, and nothing changes", async () => {
  const stranger = defineSlice("stranger", { initial: 0, on: { set: (_: number, to: number) => to } });
  const reads = writes("reads", (_, call) => call.get(stranger));
  const { transactions } = rig([reads]);
  expect(await transactions.run({ id: "c1", name: "reads", input: {} })).toMatchObject({
    ok: false,
    reason: "SLICE_UNKNOWN",
    output: expect.stringContaining("stranger") as string,
  });
});

test("[SLICE-10] whatever a ledger throws, a word among it, the state is given up and says why", async () => {
  const { state, transactions, ledger } = rig([increment()]);
  ledger.closed = () => Promise.reject("the wire was cut" as unknown as Error);
  await expect(transactions.run({ id: "c1", name: "add", input: {} })).rejects.toBe("the wire was cut");
  expect(() => state.truth.refusePoisoned()).toThrow(/the wire was cut/);
});

test("[TX-31] a host's call that is aborted while its arguments are judged has ended once, and is refused as canceled", async () => {
  const asked = Promise.withResolvers<void>();
  const judged = Promise.withResolvers<void>();
  const validate = async () => {
    asked.resolve();
    await judged.promise;
    return { issues: [{ message: "n is not a number" }] };
  };
  const input: StandardSchema<{ readonly n: number }> = { "~standard": { version: 1, vendor: "test", validate } };
  const tool = defineTool<{ readonly n: number }>({
    name: "theirs",
    access: "write",
    input,
    inputSchema: {},
    run: ({ n }) => n,
  });
  const { transactions, ledger } = rig([tool]);
  const abort = new AbortController();
  const begun = transactions.begin({ id: "c1", name: "theirs", input: {} }, { signal: abort.signal });
  await asked.promise;
  abort.abort();
  await quiet();
  judged.resolve();
  await expect(begun).rejects.toMatchObject({ code: "CALL_REFUSED", details: { reason: "canceled" } });
  expect(ledger.closings()).toMatchObject([{ callId: "c1", status: "canceled" }]);
});

function increment() {
  return writes("add", (_, call) => call.dispatch(counter.added(1)));
}
