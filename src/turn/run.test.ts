import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { quiet, writes } from "../../test/support/calls.ts";
import { OPTIONS, opened } from "../../test/support/durable.ts";
import { scripted, shapeOf, watch } from "../../test/support/loop.ts";
import { between, collect, ioError, MemoryDisk, memoryDeps } from "../../test/support/stores.ts";
import type { FixedClock } from "../base/clock.ts";
import type { Model, ModelRequest } from "../contracts/model.ts";
import type { StandardSchema } from "../contracts/schema.ts";
import { appendReserved } from "../journal/journal.ts";
import { ExecutionState } from "../state/execution-state.ts";
import { PromptExecuted } from "../state/default-slices.ts";
import { BUDGET, BudgetTracker } from "../transaction/budget.ts";
import { defineTool } from "../transaction/tool.ts";
import { textOf } from "../wire/item.ts";
import type { RunEvent } from "./events.ts";
import { Holdfast } from "./holdfast.ts";
import { finished, MainLoop } from "./main-loop.ts";
import type { Session } from "./session.ts";

const call = (n: string, more: object = {}) => ({ name: "step", input: { n, ...more } });
const kinds = async (session: Session) => (await collect(session.read())).map(({ kind }) => kind);
const records = async <K extends string>(session: Session, kind: K) =>
  (await collect(session.read())).filter((entry) => entry.kind === kind);

/** Moves a clock on whenever somebody waits, until the turn is over. */
async function hurried<T>(clock: FixedClock, work: Promise<T>, ms = 60_000): Promise<T> {
  let over = false;
  const done = work.finally(() => {
    over = true;
  });
  while (!over) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(ms);
  }
  return done;
}

/** What the model was sent, request by request. */
function listening(model: Model): { readonly model: Model; readonly asked: Parameters<Model["ask"]>[0][] } {
  const asked: Parameters<Model["ask"]>[0][] = [];
  return {
    asked,
    model: {
      ...model,
      ask: (request, options) => {
        asked.push(request);
        return model.ask(request, options);
      },
    },
  };
}

describe("a turn", () => {
  test("[TX-42] writes down the arguments that the model gave, whatever a schema makes of what it looks at", async () => {
    const takes: StandardSchema<{ words: string[] }> = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value) => {
          (value as { words: string[] }).words.push("added by the schema");
          return { value: value as { words: string[] } };
        },
      },
    };
    const said: (readonly string[])[] = [];
    const run = ({ words }: { words: string[] }) => void said.push(words);
    const step = defineTool({ name: "step", access: "read", input: takes, inputSchema: { type: "object" }, run });
    const { session } = await opened(undefined, { tools: [step] });
    const model = scripted([{ calls: [{ name: "step", input: { words: ["hello"] } }] }, { text: "Done." }]);
    await watch(session.run("Do it.", { model }));
    expect(await records(session, "call-opened")).toMatchObject([{ args: { words: ["hello"] } }]);
    expect(said).toEqual([["hello", "added by the schema"]]);
  });

  test("[LOOP-1] [LOOP-2] goes from the user's words to the model's last answer", async () => {
    const { session } = await opened();
    const model = scripted([
      { reasoning: "Hm.", text: "Two steps.", calls: [call("a"), call("b")], usage: { input: 10, output: 5 } },
      { text: "Done.", usage: { input: 20, output: 2 } },
    ]);
    const { signal } = new AbortController();
    const { events, end } = await watch(session.run("Do it.", { model, signal }));
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
    expect(shapeOf(events)).toBe(
      "reasoning text usage call-opened call-closed checkpoint call-closed checkpoint text usage end",
    );
    const opening = events.flatMap((event) => (event.kind === "call-opened" ? [[event.tool, event.input]] : []));
    expect(opening).toEqual([call("a"), call("b")].map(({ name, input }) => [name, input]));
    expect(end).toEqual({ status: "done", text: "Done.", spent: { steps: 2, input: 30, output: 7, cost: 0 } });
    expect(events.at(-1)).toEqual({ kind: "end", end });
    expect(await kinds(session)).toEqual([
      "session-created",
      "user-said",
      "catalog-changed",
      "state-changed",
      "state-changed",
      "view-chosen",
      "state-changed",
      "model-said",
      "call-opened",
      "call-opened",
      "state-changed",
      "call-closed",
      "state-changed",
      "call-closed",
      "state-changed",
      "view-chosen",
      "model-said",
      "state-changed",
      "turn-ended",
    ]);
    expect(session.state.session.all(PromptExecuted)).toHaveLength(2);
    expect(session.checkpoints.list()).toHaveLength(2);
    expect(session.openCalls).toEqual([]);
  });

  test("[LOOP-2] an answer whose commit is refused opens nothing, and nothing runs", async () => {
    const disk = new MemoryDisk();
    const deps = memoryDeps(disk);
    let ran = 0;
    const tool = writes("step", () => {
      ran += 1;
      return "ok";
    });
    const store = between(deps.store, {
      before: (batch) => {
        if (batch.kind === "append" && batch.records.some(({ kind }) => kind === "model-said")) throw ioError();
        return undefined;
      },
    });
    const session = await new Holdfast({ ...deps, store }, { tools: [tool] }).open("s");
    await expect(watch(session.run("go", { model: scripted([{ calls: [call("a")] }]) }))).rejects.toMatchObject({
      code: "STORE_IO",
    });
    expect(ran).toBe(0);
    expect(await kinds(session)).not.toContain("call-opened");
    expect(await kinds(session)).not.toContain("model-said");
  });

  test("[LOOP-1] [R11] a turn whose end cannot be written down is not reported as done", async () => {
    const deps = memoryDeps();
    const store = between(deps.store, {
      before: (batch) => {
        if (batch.kind === "append" && batch.records.some(({ kind }) => kind === "turn-ended")) throw ioError();
        return undefined;
      },
    });
    const session = await new Holdfast({ ...deps, store }).open("s");
    const events: RunEvent[] = [];
    await expect(
      watch(session.run("hi", { model: scripted([{ text: "Done." }]) }), (event) => events.push(event)),
    ).rejects.toMatchObject({ code: "STORE_IO" });
    expect(events.map(({ kind }) => kind)).not.toContain("end");
  });

  test("[LOOP-3] outputs are told in the order of the calls, whichever ended first", async () => {
    const gate = Promise.withResolvers<void>();
    const slow = writes("slow", () => gate.promise.then(() => "slow"));
    const fast = writes("fast", () => {
      setImmediate(gate.resolve);
      return "fast";
    });
    const { session } = await opened(undefined, { tools: [slow, fast] });
    const { model, asked } = listening(scripted([{ calls: [{ name: "slow" }, { name: "fast" }] }, { text: "ok" }]));
    const { events } = await watch(session.run("go", { model }));
    const closed = events.flatMap((event) => (event.kind === "call-closed" ? [event.outcome.tool] : []));
    expect(closed).toEqual(["fast", "slow"]);
    const told = asked[1]?.items.flatMap((item) => (item.kind === "output" ? [textOf(item.parts)] : []));
    expect(told).toEqual(["slow", "fast"]);
  });

  test("[LOOP-4] a call that cannot be read, or whose tool is not there, is closed unrun and the turn goes on", async () => {
    const { session } = await opened();
    const { model, asked } = listening(
      scripted([
        { calls: [{ name: "step", inputText: "{bro" }, { name: "nobody", input: {} }, call("a")] },
        { text: "Done." },
      ]),
    );
    const { end } = await watch(session.run("go", { model }));
    expect(end.status).toBe("done");
    const closings = await records(session, "call-closed");
    expect(closings).toMatchObject([
      { status: "failed", reason: "bad-arguments", output: expect.stringContaining("not a JSON object") },
      { status: "failed", reason: "bad-arguments", output: expect.stringContaining("no tool named nobody") },
      { status: "success" },
    ]);
    expect(asked[1]?.items.filter(({ kind }) => kind === "output")).toHaveLength(2);
    expect(JSON.stringify(asked[1]?.items)).toContain("no tool named nobody");
  });

  test("[LOOP-25] where no tool may be called, a call is closed unrun, waits for nobody, and the model is told", async () => {
    const consented = writes("deploy", () => "ok", { approval: true });
    const { session } = await opened(undefined, { tools: [...(OPTIONS.tools ?? []), consented] });
    const { model, asked } = listening(scripted([{ calls: [call("a"), { name: "deploy" }] }, { text: "In words." }]));
    const { end } = await watch(session.run("Sum up.", { model, toolChoice: "none" }));
    expect(end).toMatchObject({ status: "done", text: "In words." });
    expect(await records(session, "call-closed")).toMatchObject([{ reason: "denied" }, { reason: "denied" }]);
    expect(await session.files.exists("a.txt")).toBe(false);
    expect(JSON.stringify(asked[1]?.items)).toContain("Answer in words.");
  });

  test("[LOOP-26] where no tool is offered, no choice among them is sent", async () => {
    const write = writes("deploy", () => "ok");
    const { session } = await opened(undefined, { tools: [write], context: { recall: false } });
    for (const toolChoice of ["auto", "none"] as const) {
      await session.setMode("act");
      const acting = listening(scripted([{ text: "ok" }]));
      await watch(session.run("go", { model: acting.model, toolChoice }));
      expect(acting.asked[0]).toMatchObject({ toolChoice, tools: [{ name: "deploy" }] });
      await session.setMode("plan");
      const planning = listening(scripted([{ text: "ok" }]));
      await watch(session.run("go", { model: planning.model, toolChoice }));
      expect(planning.asked).toHaveLength(1);
      expect(planning.asked[0]).not.toHaveProperty("tools");
      expect(planning.asked[0]).not.toHaveProperty("toolChoice");
    }
  });

  test.each(["refusal", "content-filter"] as const)(
    "[LOOP-4] [LOOP-10] calls of an answer that ended in %s are not run",
    async (stop) => {
      const { session } = await opened();
      const { end } = await watch(session.run("go", { model: scripted([{ text: "No.", calls: [call("a")], stop }]) }));
      expect(end).toMatchObject({ status: "stopped", stop, text: "No." });
      expect(await records(session, "call-closed")).toMatchObject([{ status: "failed", reason: "denied" }]);
      expect(session.checkpoints.list()).toHaveLength(1);
      expect(await session.files.exists("a.txt")).toBe(false);
    },
  );

  test.each([
    [{ text: "Half", stop: "length" }, "length"],
    [{ refusal: "I will not." }, "refusal"],
    [{ text: "", stop: "content-filter" }, "content-filter"],
  ] as const)("[LOOP-10] %j ends the turn as stopped", async (answer, stop) => {
    const { session } = await opened();
    const { end } = await watch(session.run("go", { model: scripted([answer]) }));
    expect(end).toMatchObject({ status: "stopped", stop });
    expect((await records(session, "turn-ended")).at(-1)).toMatchObject({ status: "stopped", detail: { stop } });
  });

  test("[LOOP-10] an answer that stays empty is asked for again, then ends the turn as stopped", async () => {
    const { session, deps } = await opened();
    const { model, asked } = listening(scripted([{}, { reasoning: "Hm." }, {}]));
    const { end } = await hurried(deps.clock, watch(session.run("go", { model, retry: { attempts: 3 } })));
    expect(end).toMatchObject({ status: "stopped", stop: "empty" });
    expect(asked).toHaveLength(3);
  });

  test("[LOOP-10] whole calls of an answer that met its limit are run, and the turn goes on", async () => {
    const { session } = await opened();
    const cut = { calls: [call("a"), { name: "step", inputText: '{"n": "b' }], stop: "length" } as const;
    const { events, end } = await watch(session.run("go", { model: scripted([cut, { text: "ok" }]) }));
    expect(end.status).toBe("done");
    expect(await session.files.exists("a.txt")).toBe(true);
    expect(events.filter(({ kind }) => kind === "repaired")).toMatchObject([{ fault: "partial-call" }]);
    expect(await records(session, "call-opened")).toHaveLength(1);
  });
});

test("[LOOP-11] an answer that the provider paused is sent back to go on", async () => {
  const inner = scripted([{ text: "Searching." }, { text: "Found it." }]);
  let asked = 0;
  const pausing: Model = {
    ...inner,
    async *ask(request, options) {
      asked += 1;
      const pauses = asked === 1;
      for await (const event of inner.ask(request, options))
        yield event.kind === "end" && pauses ? { kind: "end", answer: { ...event.answer, stop: "paused" } } : event;
    },
  };
  const { model, asked: requests } = listening(pausing);
  const { session } = await opened();
  expect((await watch(session.run("go", { model }))).end).toMatchObject({ status: "done", text: "Found it." });
  expect(requests).toHaveLength(2);
  expect(requests[1]?.items.at(-1)?.kind).toBe("assistant"); // anything behind it, and the provider begins another answer
});

describe("asking again", () => {
  const failing = { fault: "overloaded" } as const;

  test("[LOOP-5] a failure that may pass is waited out, longer each time, and written down", async () => {
    const { session, deps } = await opened();
    const model = scripted([failing, failing, failing, { text: "ok" }]);
    const { events, end } = await hurried(deps.clock, watch(session.run("go", { model, retry: { firstMs: 100 } })));
    expect(end.status).toBe("done");
    const waits = events.flatMap((event) => (event.kind === "retry" ? [event.waitMs] : []));
    for (const [at, wait] of waits.entries()) {
      expect(wait).toBeGreaterThanOrEqual(50 * 2 ** at);
      expect(wait).toBeLessThanOrEqual(100 * 2 ** at);
    }
    expect(waits).toHaveLength(3);
    expect(await records(session, "model-failed")).toMatchObject([{ attempt: 1 }, { attempt: 2 }, { attempt: 3 }]);
  });

  test("[LOOP-5] never sooner than the provider asks, and not at all when it asks for too much", async () => {
    const { session, deps } = await opened();
    const patient = scripted([{ fault: "rate-limited", retryAfter: 7 }, { text: "ok" }]);
    const { events } = await hurried(deps.clock, watch(session.run("go", { model: patient })));
    const [wait] = events.flatMap((event) => (event.kind === "retry" ? [event.waitMs] : []));
    expect(wait).toBeGreaterThanOrEqual(7000);
    const late = scripted([{ fault: "rate-limited", retryAfter: 3600 }]);
    const { end } = await watch(session.run("go", { model: late }));
    expect(end).toMatchObject({ status: "failed", failure: { kind: "rate-limited", retryAfterMs: 3_600_000 } });
  });

  test("[LOOP-5] what cannot pass is not asked again, and a bound ends the rest", async () => {
    const { session, deps } = await opened();
    const refused = await watch(session.run("go", { model: scripted([{ fault: "not-allowed" }]) }));
    expect(refused.end).toMatchObject({ status: "failed", failure: { kind: "not-allowed" } });
    const always = listening(scripted(() => failing));
    const { end } = await hurried(
      deps.clock,
      watch(session.run("go", { model: always.model, retry: { attempts: 4 } })),
    );
    expect(end).toMatchObject({ status: "failed", failure: { kind: "overloaded" } });
    expect(always.asked).toHaveLength(4);
  });

  test("[LOOP-6] an answer that broke off at any event opens nothing, and its calls run once", async () => {
    const answer = { text: "Look here.", calls: [call("a"), call("b")] };
    for (let events = 0; events <= 8; events += 1) {
      let ran = 0;
      const tool = writes<{ n: string }>("step", () => {
        ran += 1;
        return "ok";
      });
      const { session, deps } = await opened(new MemoryDisk(), { tools: [tool] });
      const { model, asked } = listening(scripted([{ ...answer, cutAfter: { events } }, answer, { text: "ok" }]));
      const { end } = await hurried(deps.clock, watch(session.run("go", { model })));
      expect(end.status).toBe("done");
      expect(ran).toBe(2);
      expect(asked[1]).toEqual(asked[0]);
      expect(await records(session, "call-opened")).toHaveLength(2);
    }
  });
});

describe("bounds", () => {
  const busy = () => ({ calls: [call("a")], usage: { input: 10, output: 5 } });

  test.each([
    ["steps", { steps: 3 }, 3],
    ["tokens", { tokens: 40 }, 3],
    ["inputTokens", { inputTokens: 15 }, 2],
    ["outputTokens", { outputTokens: 5 }, 1],
    ["cost", { cost: 25, price: ({ input }: { input: number }) => input }, 3],
  ] as const)("[LOOP-7] %s", async (limit, limits, steps) => {
    const { session } = await opened();
    const { end } = await watch(session.run("go", { model: scripted(busy), limits }));
    expect(end).toMatchObject({ status: "limit", limit, spent: { steps } });
    expect(await records(session, "call-closed")).toHaveLength(steps);
    expect(session.openCalls).toEqual([]);
  });

  test("[LOOP-7] a run in circles ends by itself", async () => {
    const { session } = await opened();
    const { end } = await watch(session.run("go", { model: scripted(busy) }));
    expect(end).toMatchObject({ status: "limit", limit: "steps", spent: { steps: 100 } });
  });

  test("[LOOP-7] time stops what is running, and the call that met it is closed as timeout", async () => {
    const stuck = writes("stuck", () => new Promise(() => {}));
    const { session, deps } = await opened(undefined, { tools: [stuck] });
    const turn = watch(
      session.run("go", { model: scripted([{ calls: [{ name: "stuck" }] }]), limits: { timeMs: 500 } }),
    );
    const { end } = await hurried(deps.clock, turn, 100);
    expect(end).toMatchObject({ status: "limit", limit: "timeMs" });
    expect(await records(session, "call-closed")).toMatchObject([{ status: "timeout" }]);
    const silent = scripted([{ fault: "silent" }]);
    const again = await hurried(deps.clock, watch(session.run("go", { model: silent, limits: { timeMs: 500 } })), 100);
    expect(again.end).toMatchObject({ status: "limit", limit: "timeMs" });
  });

  test("[LOOP-7] [K61] a budget among the resources counts every evaluation, failed ones too, and stops the run", async () => {
    const budgets: BudgetTracker[] = [];
    const deps = memoryDeps();
    const resources = () => {
      const budget = new BudgetTracker({ limits: { total: 40 }, clock: deps.clock });
      budgets.push(budget);
      return [[BUDGET, budget]] as const;
    };
    const session = await new Holdfast(deps, { ...OPTIONS, resources }).open("s");
    const broken = { fault: "provider-broken", after: { text: "It began", usage: { input: 10, output: 5 } } } as const;
    const { end } = await hurried(deps.clock, watch(session.run("go", { model: scripted([broken, busy(), busy()]) })));
    expect(end).toMatchObject({ status: "limit", limit: "budget", spent: { input: 30, output: 15, steps: 2 } });
    expect(budgets[0]?.spent).toMatchObject({ input: 30, output: 15, total: 45 });
    expect(await records(session, "call-closed")).toMatchObject([{ status: "success" }, { reason: "denied" }]);
    await session.rewind({ before: session.checkpoints.list()[0]!.callId });
    expect(budgets[0]?.exceeded).toBe("total");
  });

  test("[LOOP-7] a bound that cannot be is refused", async () => {
    const { session } = await opened();
    const model = scripted([]);
    await expect(watch(session.run("x", { model, limits: { steps: -1 } }))).rejects.toMatchObject({
      code: "BAD_OPTION",
    });
    await expect(watch(session.run("x", { model, limits: { cost: 1 } }))).rejects.toMatchObject({ code: "BAD_OPTION" });
    const retry = { firstMs: Number.NaN };
    await expect(watch(session.run("x", { model, retry }))).rejects.toMatchObject({ code: "BAD_OPTION" });
    expect(await kinds(session)).toEqual(["session-created"]);
  });
});

describe("stopping", () => {
  test("[LOOP-8] before it begins: nothing is asked and nothing is written", async () => {
    const { session } = await opened();
    const { model, asked } = listening(scripted([]));
    const { end, events } = await watch(session.run("go", { model, signal: AbortSignal.abort() }));
    expect([end.status, events.length, asked.length]).toEqual(["aborted", 1, 0]);
    expect(await kinds(session)).toEqual(["session-created"]);
  });

  test("[LOOP-8] [R04] at every event: one mark, then the end, nothing open, nothing left on the signal", async () => {
    const script = [
      { reasoning: "Hm.", text: "Look here.", calls: [call("a"), call("b")] },
      { fault: "overloaded" } as const,
      { text: "Half of this answer", calls: [call("c")] },
      { text: "Done." },
    ];
    const { session: whole, deps } = await opened();
    const all = await hurried(deps.clock, watch(whole.run("go", { model: scripted(script) })));
    for (let nth = 0; nth < all.events.length - 1; nth += 1) {
      const { session, deps: mine } = await opened(new MemoryDisk());
      const controller = new AbortController();
      let seen = 0;
      const turn = session.run("go", { model: scripted(script), signal: controller.signal });
      const { end } = await hurried(
        mine.clock,
        watch(turn, () => {
          if (seen === nth) controller.abort();
          seen += 1;
        }),
      );
      expect(["aborted", "done"]).toContain(end.status);
      expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
      expect(session.openCalls).toEqual([]);
      if (end.status === "done") continue; // the last word was durable before the stop was seen
      const said = await kinds(session);
      expect(said.filter((kind) => kind === "turn-interrupted")).toHaveLength(1);
      expect(said.slice(-2)).toEqual(["turn-interrupted", "turn-ended"]);
      // The mark is the user's, and begins no turn; the next turn is well-formed.
      const next = listening(scripted([{ text: "ok" }]));
      await watch(session.run("Go on, then.", { model: next.model }));
      const marks = next.asked[0]?.items.filter((item) => item.kind === "user" && item.notice === "aborted");
      expect(marks).toHaveLength(1);
    }
  });

  test("[LOOP-8] [R02] a tool that finished just before the stop was seen keeps its result", async () => {
    const controller = new AbortController();
    const quick = writes("quick", async (_, { files }) => {
      await files.writeText("done.txt", "yes");
      return "finished";
    });
    const slow = writes("slow", () => new Promise(() => {}));
    const { session } = await opened(undefined, { tools: [quick, slow] });
    const model = scripted([{ calls: [{ name: "quick" }, { name: "slow" }] }]);
    const { end } = await watch(session.run("go", { model, signal: controller.signal }), (event) => {
      if (event.kind === "call-closed" && event.outcome.tool === "quick") controller.abort();
    });
    expect(end.status).toBe("aborted");
    expect(await records(session, "call-closed")).toMatchObject([
      { tool: "quick", status: "success", output: "finished" },
      { tool: "slow", status: "canceled" },
    ]);
    expect(await session.files.readText("done.txt")).toBe("yes");
  });

  test("[LOOP-8] other people's code that never answers stops nobody: consent, a reply, a schema", async () => {
    const never = new Promise<never>(() => {});
    const hanging = writes("hanging", () => "ok", { approval: () => never });
    const parsing = writes("parsing", () => "ok", {
      input: { "~standard": { version: 1, vendor: "test", validate: () => never } },
      inputSchema: {},
    });
    for (const name of ["hanging", "parsing"]) {
      const { session } = await opened(new MemoryDisk(), { tools: [hanging, parsing] });
      const controller = new AbortController();
      const turn = watch(session.run("go", { model: scripted([{ calls: [{ name }] }]), signal: controller.signal }));
      setTimeout(() => controller.abort(), 20);
      expect((await turn).end.status).toBe("aborted");
      expect(await records(session, "call-closed")).toMatchObject([{ status: "canceled" }]);
      expect(session.openCalls).toEqual([]);
    }
  });

  test("[LOOP-4] a schema that throws ends its call, not the turn", async () => {
    const validate = () => {
      throw new Error("the schema is broken");
    };
    const input = { "~standard": { version: 1 as const, vendor: "test", validate } };
    const broken = writes("broken", () => "ok", { input, inputSchema: {} });
    const { session } = await opened(new MemoryDisk(), { tools: [broken] });
    const { end } = await watch(
      session.run("go", { model: scripted([{ calls: [{ name: "broken" }] }, { text: "ok" }]) }),
    );
    expect(end.status).toBe("done");
    expect(await records(session, "call-closed")).toMatchObject([
      { status: "failed", output: expect.stringContaining("the schema is broken") },
    ]);
  });

  test("[LOOP-8] what was said before the stop is known to the next request", async () => {
    const { session } = await opened();
    const controller = new AbortController();
    const model = scripted([{ text: "The answer is forty-two, because" }]);
    await watch(session.run("Why?", { model, signal: controller.signal }), (event) => {
      if (event.kind === "text" && event.text.includes("wer")) controller.abort();
    });
    const next = listening(scripted([{ text: "ok" }]));
    await watch(session.run("Say on.", { model: next.model }));
    const said = next.asked[0]?.items.map((item) => ("parts" in item ? textOf(item.parts) : item.kind));
    expect(said?.slice(0, -1)).toMatchObject([
      "Why?",
      expect.stringMatching(/^The answer/),
      expect.stringContaining("stopped"),
      "Say on.",
    ]);
  });

  test("[LOOP-9] walking away at any event is a stop", async () => {
    const script = [{ text: "Look.", calls: [call("a"), call("b")] }, { text: "Done." }];
    for (let nth = 0; nth < 12; nth += 1) {
      const { session } = await opened(new MemoryDisk());
      let seen = 0;
      for await (const event of session.run("go", { model: scripted(script) })) {
        if (event.kind === "end" || seen === nth) break;
        seen += 1;
      }
      await quiet();
      expect(session.openCalls).toEqual([]);
      expect(session.transactions.pending).toEqual([]);
      expect((await kinds(session)).at(-1)).toBe("turn-ended");
      const { end } = await watch(session.run("again", { model: scripted([{ text: "ok" }]) }));
      expect(end.status).toBe("done");
    }
  });
});

test("[LOOP-9] walking away from a tool that never ends cancels it", async () => {
  const stuck = writes("stuck", () => new Promise(() => {}));
  const { session } = await opened(new MemoryDisk(), { tools: [stuck] });
  for await (const event of session.run("go", { model: scripted([{ calls: [{ name: "stuck" }] }]) }))
    if (event.kind === "call-opened") break;
  expect(await records(session, "call-closed")).toMatchObject([{ status: "canceled" }]);
});

test("[LOOP-2] an answer whose commit was not heard of runs nothing; whoever opens the session closes its calls", async () => {
  const deps = memoryDeps();
  let deaf = true;
  const store = between(deps.store, {
    after: (batch) => {
      if (!deaf || batch.kind !== "append" || !batch.records.some(({ kind }) => kind === "model-said")) return;
      deaf = false;
      throw ioError();
    },
  });
  const session = await new Holdfast({ ...deps, store }, OPTIONS).open("s");
  const model = scripted([{ calls: [call("a")] }, { text: "ok" }]);
  await expect(watch(session.run("go", { model }))).rejects.toMatchObject({ code: "STORE_IO" });
  await expect(watch(session.run("again", { model }))).rejects.toMatchObject({ code: "STATE_POISONED" });
  await deps.store.close();
  const again = await opened(deps.disk);
  expect(await records(again.session, "call-closed")).toMatchObject([{ status: "canceled", reason: "interrupted" }]);
  expect(await again.session.files.exists("a.txt")).toBe(false);
  expect((await watch(again.session.run(undefined, { model }))).end.status).toBe("done");
});

describe("going on", () => {
  test("[LOOP-11] after a crash at any record, a turn without input finishes what was begun", async () => {
    const script = [{ calls: [call("a")] }, { text: "Now b.", calls: [call("b")] }, { text: "Done." }];
    for (let most = 1; most <= 12; most += 1) {
      const disk = new MemoryDisk();
      const deps = memoryDeps(disk);
      let written = 0;
      const store = between(deps.store, {
        before: (batch) => {
          if (batch.kind === "append") written += 1;
          if (written > most) throw ioError(); // the power is out from here on
          return undefined;
        },
      });
      const first = await new Holdfast({ ...deps, store }, OPTIONS).open("s");
      const model = () =>
        scripted(({ request }) => {
          const answers = (request as ModelRequest).items.flatMap((item) => (item.kind === "call" ? [item.step] : []));
          return script[new Set(answers).size]!;
        });
      await watch(first.run("go", { model: model() })).catch(() => {});
      await deps.store.close();
      const again = await opened(disk);
      const before = await kinds(again.session);
      const input = before.includes("user-said") ? undefined : "go";
      const { end } = await watch(again.session.run(input, { model: model() }));
      expect(end).toMatchObject({ status: "done", text: "Done." });
      expect(again.session.openCalls).toEqual([]);
    }
  });

  test("[LOOP-11] what the model said before a call that a rewind took back is not its last word", async () => {
    const { session, disk, deps } = await opened();
    await watch(
      session.run("go", { model: scripted([{ text: "Let me see.", calls: [call("a")] }, { text: "Done." }]) }),
    );
    await session.rewind({ before: session.checkpoints.list()[0]!.callId });
    await deps.store.close();
    const { session: again } = await opened(disk);
    const { model, asked } = listening(scripted([{ calls: [call("b")] }, { text: "Better." }]));
    const { end } = await watch(again.run(undefined, { model }));
    // The tail stands last: it is asked on, and nothing is put into its mouth.
    expect(asked[0]?.items.map(({ kind }) => kind)).toEqual(["user", "assistant", "user"]);
    expect(end).toMatchObject({ status: "done", text: "Better.", spent: { steps: 2 } });
    expect(await watch(again.run(undefined, { model: scripted([]) }))).toMatchObject({ end: { text: "Better." } });
  });

  test("[LOOP-11] when the model has had the last word, nothing is asked", async () => {
    const { session } = await opened();
    await watch(session.run("hi", { model: scripted([{ text: "Hello." }]) }));
    const before = await kinds(session);
    const { model, asked } = listening(scripted([]));
    const { end } = await watch(session.run(undefined, { model }));
    expect([end.status, end.text, asked.length]).toEqual(["done", "Hello.", 0]);
    expect(await kinds(session)).toEqual(before);
  });

  test("[LOOP-12] a fault is repaired in every request and recorded once; the journal keeps what it held", async () => {
    const { session, disk, deps } = await opened();
    await appendReserved(session.journal, [
      { kind: "user-said", text: "old" },
      { kind: "call-closed", callId: "call_nobody" as never, tool: "step", status: "success", output: "stray" },
    ]);
    const { model, asked } = listening(scripted(() => ({ text: "ok" })));
    const first = await watch(session.run("one", { model }));
    const second = await watch(session.run("two", { model }));
    await deps.store.close();
    const again = await opened(disk);
    const third = await watch(again.session.run("three", { model }));
    const repaired = [first, second, third].map(
      ({ events }) => events.filter(({ kind }) => kind === "repaired").length,
    );
    expect(repaired).toEqual([1, 0, 0]);
    expect(await records(again.session, "history-repaired")).toMatchObject([{ fault: "orphan-output" }]);
    expect(asked).toHaveLength(3);
    expect(JSON.stringify(asked)).not.toContain("stray");
    expect(JSON.stringify(await collect(again.session.read()))).toContain("stray");
  });

  test("[LOOP-14] a second turn, and a rewind in a turn, are refused", async () => {
    const { session } = await opened();
    const turn = session.run("go", { model: scripted([{ calls: [call("a")] }, { text: "ok" }]) });
    await turn.next();
    await expect(watch(session.run("me too", { model: scripted([]) }))).rejects.toMatchObject({ code: "TURN_RUNNING" });
    await expect(session.rewind({ before: "any" })).rejects.toMatchObject({ code: "TURN_RUNNING" });
    expect((await finished(turn)).status).toBe("done");
  });
});

describe("MainLoop", () => {
  const note = defineTool({ name: "note", access: "read", run: () => "noted" });

  test("[LOOP-15] makes a state, or goes on with the one it is given", async () => {
    const { model, asked } = listening(
      scripted([{ calls: [{ name: "note" }] }, { text: "One." }, { text: "Two." }, { text: "Three." }]),
    );
    const loop = new MainLoop({ model, tools: [note] });
    const events: RunEvent[] = [];
    const { state, end } = await loop.execute("first", { onEvent: (event) => events.push(event) });
    expect(end).toMatchObject({ status: "done", text: "One." });
    expect(events.at(-1)).toEqual({ kind: "end", end });
    expect((await loop.execute("second", { state })).end.text).toBe("Two.");
    expect(asked.at(-1)?.items.map(({ kind }) => kind)).toEqual(
      "user call output assistant user user".split(" "), // the last is the tail
    );
    const { session } = await opened();
    const durable = listening(scripted([{ text: "Kept." }, { text: "And again." }]));
    await new MainLoop({ model: durable.model }).execute("on a session's state", { state: session.state });
    expect((await watch(session.run("and on", { model: durable.model }))).end.text).toBe("And again.");
    expect(await records(session, "user-said")).toHaveLength(2);
    const other = ExecutionState.create();
    expect((await loop.execute("third", { state: other })).state).toBe(other);
    expect(asked.at(-1)?.items).toHaveLength(2); // the question and the tail
  });

  test("[LOOP-9] [LOOP-15] whoever throws while watching has walked away: calls are closed, and the state goes on", async () => {
    let ended = 0;
    const slow = writes("slow", async (_input, { signal }) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      ended += 1;
    });
    const loop = new MainLoop({ model: scripted([{ calls: [{ name: "slow" }] }, { text: "Good." }]), tools: [slow] });
    const state = ExecutionState.create();
    const onEvent = ({ kind }: RunEvent) => {
      if (kind === "call-opened") throw new Error("the screen is gone");
    };
    await expect(loop.execute("go", { state, onEvent })).rejects.toThrow("the screen is gone");
    expect(ended).toBe(1);
    expect((await loop.execute("again", { state })).end).toMatchObject({ status: "done", text: "Good." });
  });

  test("[LOOP-24] [CAT-9] offers its own tools and those of the session, none of another loop's, and takes no name of the kernel's", async () => {
    const tool = (name: string, says: string = name) => defineTool({ name, access: "read", run: () => says });
    const asking = (name: string) => listening(scripted([{ calls: [{ name }] }, { text: "Good." }]));
    const offered = ({ asked }: ReturnType<typeof listening>) => asked[0]?.tools?.map(({ name }) => name);
    const { session } = await opened();
    for (const state of [ExecutionState.create(), session.state]) {
      const own = state === session.state ? ["recall"] : [];
      const first = asking("danger");
      await new MainLoop({ model: first.model, tools: [tool("danger"), tool("step", "mine")] }).execute("go", {
        state,
      });
      expect(offered(first)).toEqual(["danger", ...own, "step"]);
      const second = asking("danger");
      const events: RunEvent[] = [];
      const loop = new MainLoop({ model: second.model, tools: [tool("note")] });
      await loop.execute("go", { state, onEvent: (event) => events.push(event) });
      expect(offered(second)).toEqual(["note", ...own, ...(own.length > 0 ? ["step"] : [])]);
      expect(events.find(({ kind }) => kind === "call-closed")).toMatchObject({ outcome: { ok: false } });
    }
    expect(await session.runTool(call("b"))).toMatchObject({ ok: true, output: "b" }); // its own one is there again
    const taken = new MainLoop({ model: scripted([]), tools: [tool("recall")] });
    await expect(taken.execute("go", { state: session.state })).rejects.toMatchObject({ code: "TOOL_NAME_TAKEN" });
  });
});
