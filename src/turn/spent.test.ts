import { describe, expect, test } from "vitest";
import { opened } from "../../test/support/durable.ts";
import { scripted, watch } from "../../test/support/loop.ts";
import { collect } from "../../test/support/stores.ts";
import { FixedClock } from "../base/clock.ts";
import { randomIds } from "../base/ids.ts";
import { SystemRandom } from "../base/random.ts";
import type { KernelEvent } from "../contracts/event-sink.ts";
import type { Model, ModelEvent, ModelFailure, ModelRequest } from "../contracts/model.ts";
import type { Summariser } from "../contracts/summariser.ts";
import { BUDGET, BudgetTracker } from "../transaction/budget.ts";

const usage = { input: 100, output: 10 };
const ASKED: ModelRequest = { items: [{ kind: "user", parts: [{ type: "text", text: "go" }] }] };
const answers = (): Model => scripted([{ text: "ok", usage }]);

/** Uses tokens, and then fails. */
function fails(kind: ModelFailure["kind"]): Model {
  const failure: ModelFailure = { kind, message: "no", retryable: false, reached: "yes" };
  return {
    ...answers(),
    async *ask() {
      yield { kind: "usage", usage };
      yield { kind: "failed", failure, partial: { items: [], unread: [], usage } };
    },
  };
}

async function withBudget(total = 10_000) {
  const budget = new BudgetTracker({ limits: { total }, clock: new FixedClock() });
  const { session } = await opened(undefined, { resources: () => [[BUDGET, budget]] });
  const run = async (model: Model) => (await watch(session.run("go", { model }))).end;
  return { session, budget, run };
}

describe("what a question has used", () => {
  test("[LOOP-22] adds up over turns that failed, and meets the session's budget", async () => {
    const { budget, run } = await withBudget(300);
    for (const used of [110, 220, 330]) {
      expect(await run(fails("cut"))).toMatchObject({ status: "failed", spent: { input: 100 } });
      expect(budget.spent.total).toBe(used);
    }
    expect(await run(answers())).toMatchObject({ status: "limit", limit: "budget" });
  });

  test("[LOOP-22] adds up within a turn that was too long and asked once more", async () => {
    const { budget, run } = await withBudget();
    expect(await run(fails("too-long"))).toMatchObject({ status: "failed", spent: { input: 200, output: 20 } });
    expect(budget.spent.total).toBe(220);
  });

  test("[LOOP-22] adds up over summaries that failed", async () => {
    const { session, budget, run } = await withBudget();
    for (let turn = 0; turn < 3; turn += 1) await run(answers());
    const summariser: Summariser = {
      name: "fails",
      summarise: async ({ used }) => {
        used?.(usage, "m");
        throw new Error("no");
      },
    };
    for (const used of [440, 550]) {
      await expect(session.compact({ summariser, tail: 0, said: 0 })).rejects.toMatchObject({ code: "SUMMARY_FAILED" });
      expect(budget.spent.total).toBe(used);
    }
  });

  test("[LOOP-22] adds up over sessions of one name that share a budget, one after the other", async () => {
    const budget = new BudgetTracker({ limits: {}, clock: new FixedClock() });
    for (const used of [110, 220, 330]) {
      const ids = randomIds(new SystemRandom());
      const { holdfast, session } = await opened(undefined, { ids, resources: () => [[BUDGET, budget]] });
      await watch(session.run("go", { model: answers() }));
      expect(budget.spent.total).toBe(used);
      await session.close();
      await holdfast.delete("s");
    }
  });

  const silent: Readonly<Record<string, (stop: () => void) => AsyncGenerator<ModelEvent>>> = {
    async *"ends without it"() {
      yield { kind: "usage", usage };
      for await (const event of scripted([{ text: "ok" }]).ask(ASKED, { signal: new AbortController().signal }))
        yield event;
    },
    async *"breaks off without it"() {
      yield { kind: "usage", usage };
      const failure: ModelFailure = { kind: "cut", message: "no", retryable: false, reached: "yes" };
      yield { kind: "failed", failure, partial: { items: [], unread: [] } };
    },
    async *"is stopped"(stop) {
      yield { kind: "usage", usage };
      yield { kind: "text-delta", text: "so f" };
      stop();
    },
    async *throws() {
      yield { kind: "usage", usage };
      throw new Error("no");
    },
  };

  test.each(Object.entries(silent))(
    "[LOOP-22] [TELEMETRY-5] is counted and kept as it was told last by a model that %s",
    async (how, ask) => {
      const over: KernelEvent[] = [];
      const emit = (event: KernelEvent) => event.kind === "request-over" && over.push(event);
      const { session } = await opened(undefined, { telemetry: { sinks: [{ emit }] } });
      const stop = new AbortController();
      const model: Model = { ...answers(), ask: () => ask(() => stop.abort()) };
      const turn = watch(session.run("go", { model, signal: stop.signal }));
      if (how === "throws") await expect(turn).rejects.toThrow("no");
      else expect((await turn).end.spent).toMatchObject(usage);
      await session.close();
      expect(over).toMatchObject([{ facts: { usage } }]);
      const told = (await collect(session.read())).filter(({ kind }) => kind.startsWith("model-"));
      expect(told).toMatchObject(how === "throws" ? [] : [{ usage }]);
    },
  );

  test.each([{ input: Number.NaN }, { input: -5 }, { input: undefined }, { output: "5" }])(
    "[LOOP-7] a model that tells no amount (%j) cannot keep a bound from being met",
    async (odd) => {
      const { session } = await opened();
      const told = { ...usage, ...odd } as typeof usage;
      const model: Model = {
        ...answers(),
        async *ask(request, options) {
          yield { kind: "usage", usage: told };
          yield* answers().ask(request, options);
        },
      };
      const turn = watch(session.run("go", { model, limits: { tokens: 20 } }));
      await expect(turn).rejects.toMatchObject({
        code: "BAD_OPTION",
        details: { option: expect.stringMatching(/^usage\./) },
      });
      expect((await watch(session.run(undefined, { model: answers() }))).end).toMatchObject({ status: "done" });
    },
  );
});
