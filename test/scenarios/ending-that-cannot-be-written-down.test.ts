import { describe, expect, test } from "vitest";
import { type Transactions, VisibilityExpansionRequired } from "../../src/index.ts";
import type { Call } from "../../src/transaction/call.ts";
import type { ToolSpec } from "../../src/transaction/tool.ts";
import { diary, steps, writes } from "../support/calls.ts";
import { opened, step } from "../support/durable.ts";
import { collect, MemoryDisk } from "../support/stores.ts";

// A tool may throw, answer and hand back what no record can hold. A call that is left open over it hangs its turn, and a
// state that is given up over it ends the session.
const MILLION = 1_000_000;
const unprintable = () => Object.create(null) as object;
const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);
const throwing = (thrown: unknown) => () => {
  throw thrown;
};
const failing = (code: string, message: string, payload?: unknown) => (_: unknown, call: Call) =>
  call.fail(code, message, payload as never);
const unreadable = {
  get ok(): never {
    throw new Error("not today");
  },
};

const ENDINGS: Readonly<Record<string, readonly [run: ToolSpec<unknown>["run"], told: string, more?: object]>> = {
  "throws what cannot be printed": [throwing(unprintable()), "something that cannot be printed"],
  "throws an error without a text": [
    throwing(Object.assign(new Error("x"), { message: unprintable() })),
    "something that cannot be printed",
  ],
  "throws more than a record holds": [throwing(new Error("m".repeat(70 * MILLION))), "more characters)"],
  "throws what refuses to be looked at": [
    throwing(new Proxy({}, { getPrototypeOf: throwing(new Error("mine")) })),
    "something that cannot be printed",
  ],
  "asks for sections without naming them": [
    throwing(new VisibilityExpansionRequired(undefined as never)),
    "without naming the sections",
  ],
  "returns what cannot be read": [() => unreadable, "The result cannot be kept: not today"],
  "hands back a payload that is too deep": [failing("no", "no", deep(95)), "Its payload cannot be kept"],
  "hands back a payload that leaves no room": [
    failing("no", "no", "p".repeat(32 * 1024 * 1024 - 10)),
    "Its payload cannot be kept",
  ],
  "fails with a code of that length": [failing("c".repeat(34 * MILLION), "no"), "no"],
  "logs more than a record holds": [
    (_, call) => {
      for (const letter of ["a", "b", "c"]) call.dispatch(diary.said(letter.repeat(24 * MILLION)));
      return call.fail("no", "no", { kept: false });
    },
    "What it logged and noted could not be kept",
  ],
  "has a validator that answers yes": [() => 1, "could not be checked", { validators: [() => true] }],
  "has a validator that throws what cannot be printed": [
    () => 1,
    "something that cannot be printed",
    { validators: [throwing(unprintable())] },
  ],
};

describe("a call whose tool", () => {
  test.each(Object.entries(ENDINGS))(
    "[TX-1] [LOOP-16] %s is closed, and the next one runs",
    async (_, [run, told, more]) => {
      const odd = writes(
        "odd",
        (input, call) => {
          call.dispatch(steps.added("odd"));
          return run(input, call);
        },
        more,
      );
      const disk = new MemoryDisk();
      const { session, holdfast } = await opened(disk, { tools: [odd, step] });
      const outcome = await session.runTool({ name: "odd", input: {} });
      expect(outcome.ok).toBe(false);
      expect(outcome.output).toContain(told);
      expect(outcome.reason.length).toBeLessThan(1_100);
      expect(session.openCalls).toEqual([]);
      expect((await session.runTool({ name: "step", input: { n: "a" } })).status).toBe("success");
      expect(session.state.session.get(steps)).toEqual(["a"]);
      const closings = (await collect(session.read())).filter(({ kind }) => kind === "call-closed");
      expect(closings).toMatchObject([{ callId: outcome.callId, tool: "odd" }, { tool: "step" }]);
      await holdfast.close();
      expect((await opened(disk, { tools: [odd, step] })).session.state.session.get(steps)).toEqual(["a"]);
    },
  );
});

test("[TX-1] a tool asked for by a name longer than a record is a call that failed", async () => {
  const { session } = await opened();
  const outer = await session.runTool({ name: "n".repeat(40 * MILLION), input: {} });
  expect(outer).toMatchObject({ status: "failed", reason: "bad-arguments" });
  expect((await session.runTool({ name: "step", input: { n: "a" } })).status).toBe("success");
});

test("[TX-1] the same name asked for inside a call fails alone", async () => {
  const around = writes(
    "around",
    async (_, call) => (await call.run({ name: "n".repeat(70 * MILLION), input: {} })).status,
  );
  const { session } = await opened(new MemoryDisk(), { tools: [around] });
  expect(await session.runTool({ name: "around", input: {} })).toMatchObject({ status: "success", output: "failed" });
});

test("[TX-26] an undo that throws what cannot be printed is told like any other", async () => {
  const mail = { run: () => null, undo: throwing(unprintable()) };
  const sends = writes(
    "sends",
    async (_, call) => {
      await call.effect("mail", {}, { key: "k" });
      throw new Error("afterwards");
    },
    { access: "external", effects: { mail } },
  );
  const { session } = await opened(new MemoryDisk(), { tools: [sends, step] });
  const outcome = await session.runTool({ name: "sends", input: {} });
  expect(outcome.effects).toMatchObject([{ is: "not-undone" }]);
  expect(outcome.output).toContain("something that cannot be printed");
  expect((await session.runTool({ name: "step", input: { n: "a" } })).status).toBe("success");
});

test("[TX-35] a policy that answers neither words nor nothing has denied", async () => {
  const policy = { name: "odd", check: () => unprintable() as never };
  const { session } = await opened(new MemoryDisk(), { policies: [policy] });
  const outcome = await session.runTool({ name: "step", input: { n: "a" } });
  expect(outcome).toMatchObject({ status: "failed", reason: "denied" });
  expect(outcome.output).toContain("The policy odd could not be checked");
});

test("[TX-31] a reason to abort that cannot be printed ends the call", async () => {
  const { session } = await opened();
  const transactions: Transactions = session.transactions;
  await transactions.begin({ id: "c", name: "step", input: { n: "a" } });
  expect(await transactions.abort("c", unprintable() as never)).toMatchObject({ status: "canceled" });
  expect(session.openCalls).toEqual([]);
});
