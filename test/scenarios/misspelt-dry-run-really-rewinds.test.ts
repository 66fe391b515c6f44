import { expect, test } from "vitest";
import { defineTool, ExecutionState, runTool, Transactions } from "../../src/index.ts";
import { counter, rig, writes } from "../support/calls.ts";
import { look, opened, run } from "../support/durable.ts";

// Whoever misspells `dryRun` wants to look, and gets what they wanted to look at first.
const refusal = (option: string) => ({ code: "BAD_OPTION", details: { option } });

async function twice() {
  const { session } = await opened();
  const id = await run(session, "a");
  await run(session, "b");
  return { session, id, stands: await look(session), head: session.journal.head.seq };
}

test.each([
  [{ dryrun: true }, "dryrun"],
  [{ dryRun: "yes" }, "dryRun"],
  [{ scope: ["stat"] }, "scope[0]"],
  [{ scope: "stat" }, "scope"],
  [{ scope: [] }, "scope"],
  [{ scope: ["all"] }, "scope[0]"],
  [{ after: "x" }, "before"],
  [{ before: undefined }, "before"],
  [{ before: 7 }, "before"],
])("[ID-16] [TURN-11] a rewind with %j is refused by its name, and nothing is taken back", async (given, option) => {
  const { session, id, stands, head } = await twice();
  for (const options of [given, { ...given, dryRun: true }]) {
    if (options !== given && option === "dryRun") continue;
    await expect(session.rewind({ before: id, ...options } as never)).rejects.toMatchObject(refusal(option));
  }
  expect([await look(session), session.journal.head.seq]).toEqual([stands, head]);
});

test("[ID-16] what is planned without the session is refused alike, and so is a fork", async () => {
  const { session, id } = await twice();
  await expect(session.rewind(undefined as never)).rejects.toMatchObject(refusal("options"));
  await expect(session.rewind({} as never)).rejects.toMatchObject(refusal("before"));
  await expect(session.fork({ before: id, as: "t", workspce: "memory" } as never)).rejects.toMatchObject(
    refusal("workspce"),
  );
  await expect(session.fork({ before: id, after: id, as: "t" } as never)).rejects.toMatchObject(refusal("before"));
  await expect(session.fork({ before: id } as never)).rejects.toMatchObject(refusal("as"));
});

test("[ID-16] [SNAP-8] a restore with an option that does not exist changes nothing", async () => {
  const state = ExecutionState.create({ slices: [counter] });
  const before = await state.snapshot();
  await state.session.dispatch(counter.added(1));
  await expect(state.restore(before, { dryrun: true } as never)).rejects.toMatchObject(refusal("dryrun"));
  await expect(state.restore(before, { slices: "counter" } as never)).rejects.toMatchObject(refusal("slices"));
  expect(() => state.planRestore(before, { slice: [] } as never)).toThrow(/option: slice,/);
  await expect(state.session.rollback(before.session, { dryRun: true } as never)).rejects.toMatchObject(
    refusal("dryRun"),
  );
  expect(state.session.get(counter)).toBe(1);
});

test("[ID-16] a call with a limit that does not exist does not begin", async () => {
  const { session } = await opened();
  const call = { name: "step", input: { n: "a" } };
  const head = session.journal.head.seq;
  for (const [limits, option] of [
    [{ deadlin: 5 }, "deadlin"],
    [{ deadline: 5 }, "deadline"],
    [{ signal: {} }, "signal"],
    [{ onProgress: "tell" }, "onProgress"],
    [null, "options"],
  ] as const) {
    await expect(session.runTool(call, limits as never)).rejects.toMatchObject(refusal(option));
    await expect(session.runTools([call], limits as never)).rejects.toMatchObject(refusal(option));
    await expect(session.begin(call, limits as never)).rejects.toMatchObject(refusal(option));
  }
  expect([session.journal.head.seq, session.transactions.pending]).toEqual([head, []]);
  const { state, transactions } = rig([writes("any", () => 1)]);
  const any = { id: "c", name: "any", input: {} };
  await expect(runTool(state, any, { signl: 1 } as never)).rejects.toMatchObject(refusal("signl"));
  await expect(transactions.begin(any, { signl: 1 } as never)).rejects.toMatchObject(refusal("signl"));
  expect(await runTool(Transactions.of(state), any, { tools: [] })).toMatchObject({ status: "success" });
});

test.each([
  [{ deadlineMs: Number.NaN }, "deadlineMs"],
  [{ deadlineMs: "5s" }, "deadlineMs"],
  [{ deadlineMs: 0 }, "deadlineMs"],
  [{ aproval: true }, "aproval"],
  [{ approval: "always" }, "approval"],
  [{ access: "admin" }, "access"],
  [{ access: undefined }, "access"],
  [{ validators: [1] }, "validators[0]"],
  [{ run: undefined }, "run"],
  [{ name: 7 }, "name"],
  [{ input: {} }, "input"],
])("[ID-16] [TX-5] a tool with %j is refused where it is defined", (given, option) => {
  const spec = { name: "t", access: "write", run: () => 1, ...given };
  expect(() => defineTool(spec as never)).toThrow(
    expect.objectContaining({ code: "BAD_OPTION", details: expect.objectContaining({ option }) }),
  );
});
