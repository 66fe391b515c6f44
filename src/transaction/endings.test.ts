import { describe, expect, test } from "vitest";
import { Box, counter, diary, quiet, type Rig, rig, steps, writes } from "../../test/support/calls.ts";
import type { Json } from "../base/json.ts";
import type { StandardSchema } from "../contracts/schema.ts";
import { filesOf } from "../files/access.ts";
import { Plan, ToolInvoked } from "../state/default-slices.ts";
import { defineSlice } from "../state/slice.ts";
import { lazily, resourceKey } from "../state/resources.ts";
import type { Call } from "./call.ts";
import { checkedBy } from "./checked-by.ts";
import { Deadline, DEADLINE } from "./deadline.ts";
import { DeadlineExceededError, ToolValidationError, VisibilityExpansionRequired } from "./ending.ts";
import { defineTool } from "./tool.ts";

const BOX = resourceKey<Box>("box");

/** Touches everything a call can touch, then ends in its own way. */
async function touchAll(call: Call): Promise<void> {
  call.dispatch(counter.added(10));
  call.dispatch(Plan.set({ objective: "dirty", status: "active" }));
  call.dispatch(diary.said("tried"));
  await call.files.writeText("file.txt", "dirty");
  await call.files.writeText("new.txt", "dirty");
  (await call.resource(BOX)).value = 99;
}

const anyNumber: StandardSchema<{ readonly n: number }> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) =>
      typeof (value as { n?: unknown })?.n === "number"
        ? { value: value as { n: number } }
        : { issues: [{ message: "must be a number", path: ["n"] }] },
  },
};

test.each([
  ["there are: path, text", "there are: path, text. Its changes were undone."],
  ["Done with 3.", "Done with 3. Its changes were undone."],
  ["Why?", "Why? Its changes were undone."],
  ["exit (1)", "exit (1) Its changes were undone."],
  ["Exit code 3.\nno such file: a", "Exit code 3.\nno such file: a\nIts changes were undone."],
  ["two\n", "two\nIts changes were undone."],
])("[TX-46] after %j what is added is a sentence of its own", async (message, output) => {
  const tool = defineTool({ name: "t", access: "write", run: (_, call) => call.fail("no", message) });
  expect(await rig([tool]).transactions.run({ id: "c", name: "t", input: {} })).toMatchObject({ output });
});

test("[TX-46] of a call whose handler never ran, nothing is said to be undone", async () => {
  const tool = defineTool({
    name: "t",
    access: "write",
    input: anyNumber,
    inputSchema: { type: "object" },
    run: ({ n }) => {
      throw new ToolValidationError(`${n} is odd.`);
    },
  });
  const outer = defineTool({
    name: "outer",
    access: "write",
    run: async (_, call) => (await call.run({ name: "t", input: {} })).output,
  });
  const { transactions } = rig([tool, outer]);
  const run = async (id: string, name: string, input: Json) => (await transactions.run({ id, name, input })).output;
  expect(await run("a", "t", {})).toBe("n: must be a number");
  expect(await run("b", "outer", {})).toBe("n: must be a number");
  expect(await run("c", "t", { n: 1 })).toBe("1 is odd. Its changes were undone.");
  await expect(transactions.begin({ id: "d", name: "t", input: {} })).rejects.toMatchObject({
    details: { message: "n: must be a number" },
  });
});

test("[TX-46] a reason to stop that ends in no full stop is ended before how long the call had run", async () => {
  const { transactions } = rig([defineTool({ name: "t", access: "read", run: () => "never" })]);
  const pending = await transactions.begin({ id: "c", name: "t", input: {} });
  expect(await pending.abort("because")).toMatchObject({ output: "because. It had run for 0.0 s." });
});

const ENDINGS = {
  "returns ok: false": {
    status: "failed",
    reason: "not-found",
    run: (call: Call) => call.fail("not-found", "no such thing"),
  },
  "returns success: false": { status: "failed", reason: "failed", run: () => ({ success: false }) },
  throws: { status: "failed", reason: "threw", run: () => Promise.reject(new Error("boom")) },
  "throws what is no error": {
    status: "failed",
    reason: "threw",
    run: () => Promise.reject("boom" as unknown as Error),
  },
  "throws a validation error": {
    status: "failed",
    reason: "bad-arguments",
    run: () => Promise.reject(new ToolValidationError("n is odd")),
  },
  "throws a deadline error": {
    status: "timeout",
    reason: "timeout",
    run: () => Promise.reject(new DeadlineExceededError("late")),
  },
  "asks for more of the prompt": {
    status: "canceled",
    reason: "expansion",
    run: () => Promise.reject(new VisibilityExpansionRequired(["rules"])),
  },
  "returns what cannot be kept": { status: "failed", reason: "result-not-json", run: () => ({ at: new Date(0) }) },
  "dispatches to a reducer that throws": {
    status: "failed",
    reason: "REDUCER_FAILED",
    run: (call: Call) => call.dispatch(counter.broke()),
  },
  "dispatches to a slice that is not there": {
    status: "failed",
    reason: "SLICE_UNKNOWN",
    run: (call: Call) => call.dispatch({ slice: "no", event: "no", payload: 0 }),
  },
  "changes the state behind the call's back": { status: "failed", reason: "STATE_INSIDE_CALL", run: null },
} as const;

async function prepared(world: Rig): Promise<void> {
  await filesOf(world.state).writeText("file.txt", "original");
  await world.state.session.seed(Plan, [{ objective: "test", status: "active" }]);
}

describe("a call that does not succeed", () => {
  test.each(Object.keys(ENDINGS) as readonly (keyof typeof ENDINGS)[])(
    "[TX-1] [K01] [K02] [K14] [K15] leaves nothing but its log: it %s",
    async (name) => {
      const { status, reason, run } = ENDINGS[name];
      const world: Rig = rig(
        [
          writes("tool", async (_, call) => {
            await touchAll(call);
            if (run === null) await world.state.session.dispatch(counter.added(1));
            else return await run(call);
          }),
        ],
        { state: { resources: [[BOX, new Box()]] } },
      );
      const { state, transactions, ledger } = world;
      await prepared(world);
      const before = await state.snapshot();
      const outcome = await transactions.run({ id: "c1", name: "tool", input: {} });
      expect(outcome).toMatchObject({ callId: "c1", tool: "tool", ok: false, status, reason, attempts: 1 });
      expect(typeof outcome.output).toBe("string");
      expect(state.diff(before, await state.snapshot())).toMatchObject({ slices: {}, resources: [] });
      expect(await filesOf(state).readText("file.txt")).toBe("original");
      expect(await filesOf(state).exists("new.txt")).toBe(false);
      expect(state.session.latest(Plan)?.objective).toBe("test");
      expect(state.resources.get(BOX).value).toBe(0);
      expect(state.session.get(diary)).toEqual(["tried"]);
      expect(ledger.kinds("c1")).toEqual(["opened", "closed"]);
      expect(state.session.all(ToolInvoked)).toMatchObject([{ toolCallId: "c1", status, reason, success: false }]);
      expect(transactions.pending).toEqual([]);
    },
  );

  test("[TX-1] refused as it commits, because of what a neighbour has made true meanwhile, it is told once, as failed", async () => {
    const few = defineSlice("few", {
      initial: 0,
      on: { added: (now) => now + 1 },
      schema: checkedBy((now) => (Number(now) > 1 ? { issues: [{ message: "too many" }] } : { value: Number(now) })),
    });
    const add = writes("add", async (_, call) => call.dispatch(few.added()));
    const { transactions, state } = rig([add], { state: { slices: [few] } });
    const slow = await transactions.begin({ id: "slow", name: "add", input: {} });
    slow.call.dispatch(few.added());
    await transactions.run({ id: "quick", name: "add", input: {} });
    expect(await slow.commit("done")).toMatchObject({ ok: false, reason: "SLICE_INVALID" });
    expect(state.session.all(ToolInvoked).map(({ toolCallId, success }) => [toolCallId, success])).toEqual([
      ["quick", true],
      ["slow", false],
    ]);
    expect(state.session.get(few)).toBe(1);
  });

  test("[TX-2] [K14] a failed result's payload reaches the log and no state slice", async () => {
    const { state, transactions } = rig([writes("tool", (_, call) => call.fail("no", "no", { secret: "payload" }))]);
    const outcome = await transactions.run({ id: "c1", name: "tool", input: {} });
    expect(outcome.payload).toEqual({ secret: "payload" });
    expect(JSON.stringify([...state.session.snapshot().slices])).not.toContain("secret");
    expect(state.session.latest(ToolInvoked)?.payload).toEqual({ secret: "payload" });
  });

  test("[TX-3] [K03] with bad arguments, or no such tool, its handler never runs", async () => {
    let ran = 0;
    const { state, transactions, ledger } = rig([
      writes(
        "tool",
        () => {
          ran += 1;
        },
        { input: anyNumber, inputSchema: { type: "object" } },
      ),
    ]);
    const before = state.session.snapshot().slices;
    const bad = await transactions.run({ id: "c1", name: "tool", input: { n: "one" } });
    expect(bad).toMatchObject({ reason: "bad-arguments", output: expect.stringContaining("n: must be a number") });
    expect(await transactions.run({ id: "c2", name: "nope", input: {} })).toMatchObject({
      reason: "bad-arguments",
      output: expect.stringContaining("no tool named nope"),
    });
    expect(await transactions.run({ id: "c3", name: "tool", input: { n: 1, at: new Date(0) } })).toMatchObject({
      reason: "bad-arguments",
      output: expect.stringContaining("$.at"),
    });
    expect(ran).toBe(0);
    expect([...state.session.snapshot().slices]).toEqual([...before]);
    expect(ledger.lines.find(({ kind, id }) => kind === "opened" && id === "c3")?.detail).toMatchObject({
      args: { notJson: "$.at" },
    });
  });

  test("[TX-4] [K10] canceled before it starts or while it runs, it is rolled back once and closed as canceled", async () => {
    const started = Promise.withResolvers<void>();
    const { state, transactions, ledger } = rig([
      writes("slow", async (_, call) => {
        call.dispatch(counter.added(1));
        started.resolve();
        await new Promise((_resolve, reject) =>
          call.signal.addEventListener("abort", () => reject(call.signal.reason as Error)),
        );
      }),
    ]);
    const abort = new AbortController();
    const running = transactions.run({ id: "c1", name: "slow", input: {} }, { signal: abort.signal });
    await started.promise;
    abort.abort(new Error("the user pressed escape"));
    expect(await running).toMatchObject({
      status: "canceled",
      reason: "canceled",
      output: expect.stringContaining("pressed escape"),
    });
    expect(await transactions.run({ id: "c2", name: "slow", input: {} }, { signal: abort.signal })).toMatchObject({
      status: "canceled",
    });
    await quiet();
    expect(state.session.get(counter)).toBe(0);
    expect(ledger.closings().map(({ callId, status }) => [callId, status])).toEqual([
      ["c1", "canceled"],
      ["c2", "canceled"],
    ]);
  });

  test("[TX-5] [K11] past its deadline, before or during, it is closed as timeout", async () => {
    let ran = 0;
    const tool = writes(
      "slow",
      async (_, call) => {
        ran += 1;
        call.dispatch(counter.added(1));
        await call.clock.sleep(1000, call.signal);
      },
      { deadlineMs: 100 },
    );
    const world = rig([tool, writes("block", async (_, call) => call.clock.sleep(500))], { parallel: 1 });
    const running = world.transactions.run({ id: "c1", name: "slow", input: {} });
    await quiet();
    world.clock.advance(100);
    expect(await running).toMatchObject({ status: "timeout", reason: "timeout" });
    const blocking = world.transactions.run({ id: "c2", name: "block", input: {} });
    const waiting = world.transactions.run({ id: "c3", name: "slow", input: {} });
    await quiet();
    world.clock.advance(500);
    expect(await blocking).toMatchObject({ ok: true });
    expect(await waiting).toMatchObject({ status: "timeout" });
    expect([ran, world.state.session.get(counter)]).toEqual([1, 0]);
  });

  test("[TX-6] when the evaluation's time is up the call is closed and the run ends", async () => {
    const world = rig([
      writes(
        "slow",
        async (_, call) => {
          call.dispatch(counter.added(1));
          await call.clock.sleep(1000);
        },
        { deadlineMs: 5000 },
      ),
    ]);
    const deadline = Deadline.after(world.clock, 200);
    const running = world.transactions.run({ id: "c1", name: "slow", input: {} }, { deadline });
    const ended = running.catch((error: unknown) => error);
    await quiet();
    world.clock.advance(200);
    expect(await ended).toMatchObject({ name: "PromptEvaluationError", code: "EVALUATION_ENDED", phase: "tool" });
    await expect(world.transactions.run({ id: "c2", name: "slow", input: {} }, { deadline })).rejects.toMatchObject({
      code: "EVALUATION_ENDED",
    });
    expect(world.ledger.closings()).toMatchObject([
      { callId: "c1", status: "timeout", reason: "evaluation-ended" },
      { callId: "c2", status: "timeout" },
    ]);
    expect(world.state.session.get(counter)).toBe(0);
    const both = rig([writes("ours", () => new Promise(() => {}), { deadlineMs: 100 })]);
    const at = Deadline.after(both.clock, 100);
    const together = both.transactions.run({ id: "c4", name: "ours", input: {} }, { deadline: at });
    const which = together.catch((error: unknown) => error);
    await quiet();
    both.clock.advance(100);
    expect(await which).toMatchObject({ code: "EVALUATION_ENDED" }); // it ends more
    const other = rig([writes("slow", () => 1)], { state: { clock: world.clock, resources: [[DEADLINE, deadline]] } });
    await expect(other.transactions.run({ id: "c3", name: "slow", input: {} })).rejects.toMatchObject({
      code: "EVALUATION_ENDED",
    });
    expect(() => Deadline.after(world.clock, Number.NaN)).toThrowError(expect.objectContaining({ code: "BAD_OPTION" }));
  });

  test("[TX-7] [K12] a resource first made inside a failing call keeps nothing of it", async () => {
    const world = rig(
      [
        writes("make", async (input: { fail: boolean }, call) => {
          const box = await call.resource(BOX);
          box.value += 1;
          if (input.fail) throw new Error("boom");
        }),
      ],
      { state: { resources: [[BOX, lazily(() => new Box())]] } },
    );
    await world.transactions.run({ id: "c1", name: "make", input: { fail: true } });
    expect(world.state.resources.get(BOX).value).toBe(0);
    await world.transactions.run({ id: "c2", name: "make", input: { fail: false } });
    expect(world.state.resources.get(BOX).value).toBe(1);
    await world.state.restore(world.state.checkpoints.getPreSnapshot("c1"));
    expect(world.state.resources.get(BOX).value).toBe(0);
  });

  const boxed = (...tools: Parameters<typeof rig>[0]) => rig(tools, { state: { resources: [[BOX, new Box()]] } });

  test("[TX-39] a part of a call that is taken back takes back what it made of resources, and the rest stays", async () => {
    const fails = writes("fails", async (_input: unknown, call) => {
      (await call.resource(BOX)).value = 5;
      throw new Error("boom");
    });
    const outer = writes("outer", async (input: { how: string }, call) => {
      const set = async (value: number) => {
        (await call.resource(BOX)).value = value;
      };
      if (input.how === "held before") await set(1);
      if (input.how === "inner call") return void (await call.run({ name: "fails", input: {} }));
      await call
        .transaction(async () => {
          await set(7);
          throw new Error("not this part");
        })
        .catch(() => {});
    });
    const after = async (how: string) => {
      const world = boxed(fails, outer);
      const outcome = await world.transactions.run({ id: "c1", name: "outer", input: { how } });
      return [outcome.ok, world.state.resources.get(BOX).value];
    };
    expect([await after("held before"), await after("held inside"), await after("inner call")]).toEqual([
      [true, 1],
      [true, 0],
      [true, 0],
    ]);
  });

  test("[TX-39] of parts one after another each takes back its own", async () => {
    const world = boxed(
      writes("tool", async (_input: unknown, call) => {
        const part = (value: number, fails: boolean) =>
          call.transaction(async () => {
            (await call.resource(BOX)).value = value;
            if (fails) throw new Error("not this part");
          });
        await part(1, false);
        await part(2, true).catch(() => {});
        await part(3, false);
        await part(4, true).catch(() => {});
      }),
    );
    const outcome = await world.transactions.run({ id: "c1", name: "tool", input: {} });
    expect([outcome.ok, world.state.resources.get(BOX).value]).toEqual([true, 3]);
  });

  test("[TX-39] a savepoint cannot wait for a resource, so a call that has one fails as a whole", async () => {
    const world = boxed(
      writes("tool", async (_input: unknown, call) => {
        const savepoint = call.savepoint();
        (await call.resource(BOX)).value = 7;
        call.dispatch(counter.added(1));
        try {
          savepoint.rollback();
        } catch {
          // it goes on as if nothing were wrong
        }
      }),
    );
    const outcome = await world.transactions.run({ id: "c1", name: "tool", input: {} });
    expect([outcome.ok, outcome.reason]).toEqual([false, "RESOURCE_SAVEPOINT"]);
    expect([world.state.session.get(counter), world.state.resources.get(BOX).value]).toEqual([0, 0]);
  });

  test("[TX-39] a resource that refuses to go back with a part fails the whole, which gives the state up", async () => {
    const world = boxed(
      writes("tool", async (_input: unknown, call) => {
        const box = await call.resource(BOX);
        box.restore = () => {
          throw new Error("no");
        };
        await call
          .transaction(() => {
            throw new Error("not this part");
          })
          .catch(() => {});
      }),
    );
    expect((await world.transactions.run({ id: "c1", name: "tool", input: {} })).ok).toBe(false);
    expect(world.state.poisoned).toBe(true);
  });

  test("[TX-8] [K09] a resource that refuses to be put back poisons the state: no further call, and the call is still closed", async () => {
    const box = new Box();
    const world = rig(
      [
        writes("use", async (_, call) => {
          (await call.resource(BOX)).value = 1;
          box.refuses = 1;
          return call.fail("no", "no");
        }),
      ],
      { state: { resources: [[BOX, box]] } },
    );
    expect(await world.transactions.run({ id: "c1", name: "use", input: {} })).toMatchObject({
      reason: "RESTORE_FAILED",
    });
    expect(world.ledger.kinds("c1")).toEqual(["opened", "closed"]);
    await expect(world.transactions.run({ id: "c2", name: "use", input: {} })).rejects.toMatchObject({
      code: "STATE_POISONED",
    });
    expect(world.ledger.kinds("c2")).toEqual([]);
  });

  test("[TX-38] that waits for its turn, or to be begun, when the state is given up is closed as failed, too", async () => {
    const { transactions, state, ledger } = rig([writes("add", () => quiet())], { parallel: 1 });
    const running = ["c1", "c2", "c3"].map((id) => transactions.run({ id, name: "add", input: {} }));
    const begun = transactions.begin({ id: "c4", name: "add", input: {} });
    state.truth.poison(new Error("given up"));
    await expect(begun).rejects.toMatchObject({ code: "STATE_POISONED" });
    for (const { ok, reason } of await Promise.all(running)) expect([ok, reason]).toEqual([false, "STATE_POISONED"]);
    expect([transactions.pending, ledger.closings().length]).toEqual([[], 4]);
  });

  test("[TX-9] whose end cannot be written down leaves the state as it was, poisoned", async () => {
    const world = rig([writes("add", (_, call) => call.dispatch(counter.added(1)))]);
    world.ledger.failOn = "closed";
    await expect(world.transactions.run({ id: "c1", name: "add", input: {} })).rejects.toThrow("cannot write closed");
    expect([world.state.session.get(counter), world.state.poisoned]).toEqual([0, true]);
    const other = rig([writes("add", (_, call) => call.dispatch(counter.added(1)))]);
    other.ledger.failOn = "opened";
    await expect(other.transactions.run({ id: "c1", name: "add", input: {} })).rejects.toThrow("cannot write opened");
    other.ledger.failOn = undefined;
    expect(await other.transactions.run({ id: "c1", name: "add", input: {} })).toMatchObject({ ok: true });
  });
});

describe("a call that succeeds", () => {
  test("[TX-10] [K20] changes everything at once and leaves checkpoints that name it", async () => {
    const world = rig([writes("all", (_, call) => touchAll(call).then(() => ({ fine: true })))], {
      state: { resources: [[BOX, new Box()]] },
    });
    const outcome = await world.transactions.run({ id: "c1", name: "all", input: {} });
    expect(outcome).toMatchObject({ ok: true, status: "success", output: { fine: true } });
    expect([world.state.session.get(counter), world.state.resources.get(BOX).value]).toEqual([10, 99]);
    expect(await filesOf(world.state).readText("new.txt")).toBe("dirty");
    const [kept] = world.state.checkpoints.listCheckpoints();
    expect(kept).toMatchObject({ toolCallId: "c1", toolName: "all", success: true, resultSummary: '{"fine":true}' });
    expect(kept?.preSnapshot.metadata).toEqual({ tag: "pre:c1", phase: "pre_tool", toolCallId: "c1", toolName: "all" });
    expect(kept?.postSnapshot?.metadata).toEqual({
      tag: "post:c1",
      phase: "post_tool",
      toolCallId: "c1",
      toolName: "all",
    });
    await world.state.restore(world.state.checkpoints.getPreSnapshot("c1"));
    expect([
      world.state.session.get(counter),
      world.state.resources.get(BOX).value,
      await filesOf(world.state).exists("new.txt"),
    ]).toEqual([0, 0, false]);
    const post = world.state.checkpoints.getPostSnapshot("c1");
    if (post !== undefined) await world.state.restore(post);
    expect([world.state.session.get(counter), world.state.resources.get(BOX).value]).toEqual([10, 99]);
  });

  test("[TX-10] [K05] succeed, fail, succeed: the first and the third remain", async () => {
    const world = rig([
      writes("step", async ({ n, fail }: { n: number; fail?: boolean }, call) => {
        call.dispatch(steps.added(`step ${n}`));
        await call.files.writeText(`${n}.txt`, String(n));
        return fail === true ? call.fail("no", "no") : n;
      }),
    ]);
    for (const input of [{ n: 1 }, { n: 2, fail: true }, { n: 3 }])
      await world.transactions.run({ id: `c${input.n}`, name: "step", input });
    expect(world.state.session.get(steps)).toEqual(["step 1", "step 3"]);
    expect((await filesOf(world.state).list()).map(({ name }) => name)).toEqual(["1.txt", "3.txt"]);
  });

  test("[TX-11] [K19] stands when those who watch it throw", async () => {
    const failures: unknown[] = [];
    const watchers = [
      () => {
        throw new Error("sync");
      },
      () => Promise.reject(new Error("async")),
    ];
    for (const observe of watchers) {
      const world = rig([writes("add", (_, call) => call.dispatch(counter.added(1)))], {
        observe,
        onTelemetryFailure: (failure) => {
          failures.push(failure.event);
          throw new Error("and so does the one who hears of it");
        },
      });
      expect(await world.transactions.run({ id: "c1", name: "add", input: {} })).toMatchObject({ ok: true });
      expect(world.state.session.get(counter)).toBe(1);
    }
    await quiet();
    expect(failures).toEqual(["telemetry_publish_failed", "telemetry_publish_failed"]);
  });
});

test("a tool's name is checked, and what it may be is told", () => {
  const wants = "at most 128 letters, digits, `_`, `-` and `.`, and a letter or `_` first";
  expect(() => defineTool({ name: "no spaces", access: "read", run: () => 1 })).toThrowError(
    expect.objectContaining({ code: "BAD_OPTION", details: { option: "name", value: "no spaces", wants } }),
  );
  expect(() => defineTool({ name: "t", access: "read", attempts: 0, run: () => 1 })).toThrowError(
    expect.objectContaining({ details: expect.objectContaining({ wants: "a whole number from 1 to 10" }) as unknown }),
  );
  expect(() => rig([], { parallel: 0 })).toThrowError(expect.objectContaining({ code: "BAD_OPTION" }));
});

test("[TX-1] a call that failed says that its changes were undone only when it could make any, and here only when it reaches outside", async () => {
  const said = { read: "no.", write: "no. Its changes were undone.", execute: "no. Its changes were undone." };
  for (const [access, words] of Object.entries({ ...said, external: "no. Its changes here were undone." })) {
    const tool = defineTool({ name: "hand", access: access as "read", run: (_, call) => call.fail("no", "no.") });
    const world = rig([tool]);
    expect((await world.transactions.run({ id: "c1", name: "hand", input: {} })).output).toBe(words);
    expect((await world.transactions.run({ id: "c2", name: "gone", input: {} })).output).not.toContain("undone");
  }
});
