import { describe, expect, test } from "vitest";
import { counter, rig, writes } from "../../test/support/calls.ts";
import { FixedClock } from "../base/clock.ts";
import { ToolInvoked } from "../state/default-slices.ts";
import { BUDGET, BudgetTracker } from "./budget.ts";
import { readBeforeWrite, readPaths, sequentialDependency, succeededTools, type ToolPolicy } from "./policy.ts";
import { defineTool } from "./tool.ts";

describe("a policy", () => {
  const add = writes("add", (_, call) => call.dispatch(counter.added(1)));

  test("[TX-35] [K06] that denies keeps the handler from running, is recorded, and is not told a result", async () => {
    const told: string[] = [];
    const policy: ToolPolicy = {
      name: "no",
      check: ({ input }) => (input === "no" ? "not today" : undefined),
      onResult: ({ input }) => {
        told.push(String(input));
        return [];
      },
    };
    const { state, transactions, ledger } = rig([add], { policies: [policy] });
    expect(await transactions.run({ id: "c1", name: "add", input: "no" })).toMatchObject({
      status: "failed",
      reason: "denied",
      output: expect.stringContaining("not today"),
    });
    expect(await transactions.run({ id: "c2", name: "add", input: "yes" })).toMatchObject({ ok: true });
    expect([state.session.get(counter), told]).toEqual([1, ["yes"]]);
    expect(ledger.closings()[0]).toMatchObject({ callId: "c1", reason: "denied" });
    expect(state.session.all(ToolInvoked)[0]).toMatchObject({ toolCallId: "c1", reason: "denied" });
  });

  test("[TX-35] that throws denies: a rule that cannot be checked is not kept", async () => {
    const broken: ToolPolicy = {
      name: "broken",
      check: () => {
        throw new Error("no database");
      },
    };
    const { transactions } = rig([add], { policies: [broken] });
    expect(await transactions.run({ id: "c1", name: "add", input: {} })).toMatchObject({
      reason: "denied",
      output: expect.stringContaining("no database"),
    });
  });

  test("[TX-36] one tool after another; what it remembers is rolled back with the call", async () => {
    const tools = ["test", "deploy"].map((name) =>
      writes<{ fail?: boolean }>(name, ({ fail }, call) => (fail === true ? call.fail("no", "no") : name)),
    );
    const policies = [sequentialDependency({ deploy: ["test"] })];
    const { state, transactions } = rig(tools, { policies, state: { slices: [succeededTools] } });
    const run = (id: string, name: string, input = {}) => transactions.run({ id, name, input });
    expect(await run("c1", "deploy")).toMatchObject({ reason: "denied" });
    expect(await run("c2", "test", { fail: true })).toMatchObject({ ok: false });
    expect(await run("c3", "deploy")).toMatchObject({ reason: "denied" });
    await run("c4", "test");
    expect(await run("c5", "deploy")).toMatchObject({ ok: true });
    await state.restore(state.checkpoints.getPreSnapshot("c4"));
    expect(await run("c6", "deploy")).toMatchObject({ reason: "denied" });
  });

  test("[TX-36] what it remembers of a call inside another goes with the part of it that is rolled back", async () => {
    const build = writes("build", () => 1);
    const outer = writes("outer", async (_, call) => {
      const failed = call.transaction(async () => {
        await call.run({ name: "build", input: {} });
        throw new Error("not this part");
      });
      await failed.catch(() => {});
      return (await call.run({ name: "deploy", input: {} })).reason;
    });
    const policies = [sequentialDependency({ deploy: ["build"] })];
    const { state, transactions } = rig([build, outer, writes("deploy", () => 2)], {
      policies,
      state: { slices: [succeededTools] },
    });
    expect(await transactions.run({ id: "c1", name: "outer", input: {} })).toMatchObject({
      ok: true,
      output: "denied",
    });
    expect(state.session.get(succeededTools)).toEqual(["outer"]);
  });

  test("[TX-36] [TOOL-26] a path is read before it is written", async () => {
    const pathOf = (_tool: string, input: unknown) => (input as { path?: string }).path;
    const tools = [defineTool({ name: "read", access: "read", run: () => 1 }), writes("write", () => 1)];
    const { transactions } = rig(tools, { policies: [readBeforeWrite(pathOf)], state: { slices: [readPaths] } });
    const run = (id: string, name: string, input: unknown) => transactions.run({ id, name, input });
    expect(await run("c1", "write", { path: "a" })).toMatchObject({ reason: "denied" });
    await run("c2", "read", { path: "a" });
    expect(await run("c3", "write", { path: "a" })).toMatchObject({ ok: true });
    expect(await run("c4", "write", {})).toMatchObject({ ok: true });
    const odd = await run("c5", "write", { path: "b\nc" });
    expect(odd.output).toContain('"b\\nc" must be read before it is written.');
  });
});

describe("a budget", () => {
  test("[TX-37] [K61] replaces per evaluation, sums across, and names what is used up", () => {
    const clock = new FixedClock();
    const budget = new BudgetTracker({ clock, limits: { input: 100, output: 50, total: 120, time: 1000 } });
    budget.record("a", { input: 60, output: 10 });
    budget.record("a", { input: 70, output: 20 });
    expect(budget.spent).toEqual({ input: 70, output: 20, total: 90, time: 0 });
    const exceeded = (dimension: string) =>
      expect.objectContaining({ code: "BUDGET_EXCEEDED", details: expect.objectContaining({ dimension }) });
    expect(() => budget.record("b", { input: 20, output: 20 })).toThrowError(exceeded("total"));
    expect(() => budget.record("b", { input: 40, output: 0 })).toThrowError(exceeded("input"));
    budget.record("b", { input: 0, output: 0 });
    expect(() => budget.record("c", { input: 0, output: 40 })).toThrowError(exceeded("output"));
    budget.record("c", { input: 0, output: 0 });
    clock.advance(1001);
    expect(() => budget.check()).toThrowError(exceeded("time"));
    expect(new BudgetTracker({ limits: {} }).spent.time).toBeLessThan(60_000); // measured by the system's clock
  });

  test("[TX-37] [K61] is captured by a snapshot and lowered by nothing", async () => {
    const clock = new FixedClock();
    const budget = new BudgetTracker({ clock, limits: { total: 100 } });
    const spend = writes("spend", async (_, call) => {
      (await call.resource(BUDGET)).record("run", { input: 60, output: 0 });
      return call.fail("no", "no");
    });
    const { state, transactions } = rig([spend], { state: { resources: [[BUDGET, budget]] } });
    const before = await state.snapshot();
    await transactions.run({ id: "c1", name: "spend", input: {} });
    expect(budget.spent.total).toBe(60);
    await state.restore(before);
    expect(budget.spent.total).toBe(60);
    expect((await state.snapshot()).resources.get("budget")).toMatchObject({ evaluations: { run: { input: 60 } } });
    const later = new BudgetTracker({ clock, limits: {} });
    later.record("run", { input: 10, output: 90 });
    later.restore(budget.snapshot());
    expect(later.spent).toMatchObject({ input: 60, output: 90 });
  });

  test("[TX-37] [ID-16] takes no usage and no bound that is no amount, and stays used up", () => {
    const clock = new FixedClock();
    const budget = new BudgetTracker({ clock, limits: { total: 10 } });
    expect(() => budget.record("a", { input: 20, output: 0 })).toThrow("budget");
    for (const odd of [Number.NaN, -1, Infinity, "5", undefined] as number[]) {
      for (const usage of [
        { input: odd, output: 0 },
        { input: 0, output: odd },
      ])
        expect(() => budget.record("a", usage)).toThrow(expect.objectContaining({ code: "BAD_OPTION" }));
      if (odd !== Infinity && odd !== undefined)
        expect(() => new BudgetTracker({ clock, limits: { total: odd } })).toThrow(
          expect.objectContaining({ code: "BAD_OPTION", details: expect.objectContaining({ option: "total" }) }),
        );
    }
    expect(() => new BudgetTracker({ clock, limits: { totl: 1 } as never })).toThrow("totl");
    budget.restore({ evaluations: { a: { input: Number.NaN, output: 5 } }, elapsed: 0 });
    budget.restore({ evaluations: { b: { input: "7" as never, output: Infinity } }, elapsed: 0 });
    expect(budget.exceeded).toBe("total");
    expect(budget.spent).toMatchObject({ input: 20, output: 5 });
    const usage = { input: 1, output: 1 };
    const other = new BudgetTracker({ clock, limits: { total: 10 } });
    other.record("a", usage);
    usage.input = Number.NaN;
    expect(other.spent.total).toBe(2);
  });

  test("[TX-37] that is used up denies the next call", async () => {
    const budget = new BudgetTracker({ clock: new FixedClock(), limits: { total: 1 } });
    const { transactions } = rig([writes("any", () => 1)], { state: { resources: [[BUDGET, budget]] } });
    expect(() => budget.record("run", { input: 5, output: 5 })).toThrow("budget");
    expect(await transactions.run({ id: "c1", name: "any", input: {} })).toMatchObject({
      reason: "denied",
      output: expect.stringContaining("total budget"),
    });
    await expect(transactions.begin({ id: "c2", name: "any", input: {} })).rejects.toMatchObject({
      code: "CALL_REFUSED",
    });
  });
});

test("[TX-36] a tool that succeeded twice is remembered once", async () => {
  const { state, transactions } = rig([writes("build", () => 1), writes("deploy", () => 2)], {
    policies: [sequentialDependency({ deploy: ["build"] })],
    state: { slices: [succeededTools] },
  });
  expect(await transactions.run({ id: "a", name: "deploy", input: {} })).toMatchObject({ reason: "denied" });
  for (const id of ["b", "c"]) await transactions.run({ id, name: "build", input: {} });
  expect(state.session.get(succeededTools)).toEqual(["build"]);
  expect(await transactions.run({ id: "d", name: "deploy", input: {} })).toMatchObject({ ok: true });
});
