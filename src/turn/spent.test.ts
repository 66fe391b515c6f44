import { describe, expect, test } from "vitest";
import { opened } from "../../test/support/durable.ts";
import { scripted, watch } from "../../test/support/loop.ts";
import { FixedClock } from "../base/clock.ts";
import type { Model, ModelFailure } from "../contracts/model.ts";
import type { Summariser } from "../contracts/summariser.ts";
import { BUDGET, BudgetTracker } from "../transaction/budget.ts";

const usage = { input: 100, output: 10 };
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
