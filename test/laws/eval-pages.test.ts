import { describe, expect, test } from "vitest";
import { adversarial, gates } from "../../bench/eval/gates.ts";
import { KERNEL, liveThrough } from "../../bench/eval/kernel.ts";
import { ABLATION_BUDGET, ABLATIONS } from "../../bench/eval/pages.ts";
import { BUDGETS, FAMILIES, workload } from "../../bench/eval/workload.ts";

const ORACLE = { name: "oracle", context: { policy: "oracle" } } as const;
/** The tightest and the widest; `npm run eval -- pages` does them all. */
const ENDS = [BUDGETS[0], BUDGETS.at(-1) as number];
/** The fourth takes as long as these together, and says the same. */
const QUICK = FAMILIES.filter((family) => family !== "evidence_heavy");

describe("workloads after the paper's", { timeout: 300_000 }, () => {
  test.each(FAMILIES.flatMap((family) => ENDS.map((budget) => [family, budget] as const)))(
    "[EVAL-1] %s at %i: no fault, like the oracle, and nothing is refused",
    async (family, budget) => {
      for (const variant of [KERNEL, ORACLE]) {
        const { total, refusals, hits } = await liveThrough(workload(family), budget, variant);
        expect({ total, refusals }).toEqual({ total: 0, refusals: [] });
        expect(hits).toBeGreaterThan(100);
      }
    },
  );

  test("[EVAL-2] every gate passes", async () => {
    const found = await gates();
    expect(found).toHaveLength(6);
    expect(found.filter(({ passed }) => !passed)).toEqual([]);
  });

  test("[EVAL-3] starvation names what is unmet; churn and a cascade of resets cost nothing", async () => {
    const found = await adversarial();
    expect(found).toHaveLength(3);
    expect(found.filter(({ passed }) => !passed)).toEqual([]);
  });

  test("[EVAL-4] what is taken away costs what the paper says, in its order", async () => {
    const faults: number[] = [];
    for (const variant of ABLATIONS) {
      let sum = 0;
      for (const family of QUICK) sum += (await liveThrough(workload(family), ABLATION_BUDGET, variant)).total;
      faults.push(sum);
    }
    const [pointers = 0, atCompaction = 0, pins = 0, atReset = 0, scoring, lru] = faults;
    expect(pointers).toBeGreaterThan(5 * atCompaction);
    expect(atCompaction).toBeGreaterThan(pins);
    expect(pins).toBeGreaterThan(atReset);
    expect(atReset).toBeGreaterThan(0);
    expect([scoring, lru]).toEqual([0, 0]);
  });

  test("[EVAL-5] the same workload gives the same figures", async () => {
    const [one, other] = [1, 2].map(() => liveThrough(workload("mixed"), 180, KERNEL));
    expect(JSON.stringify(await one)).toBe(JSON.stringify(await other));
  });
});
