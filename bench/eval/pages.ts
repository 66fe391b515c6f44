import type { Tally } from "./agent.ts";
import { BASELINES, liveBaseline } from "./baselines.ts";
import { replay, type Replayed } from "./corpus.ts";
import { adversarial, type Gate, gates } from "./gates.ts";
import { KERNEL, liveThrough, type Variant } from "./kernel.ts";
import { BUDGETS, FAMILIES, workload } from "./workload.ts";

/** The kernel with one thing taken away, at the paper's budget for it, and what the paper counts without it. */
export const ABLATIONS: readonly (Variant & { readonly paper: number })[] = [
  { name: "without pointer resolution", recall: false, paper: 126 },
  { name: "without writeback at compaction", flushAt: { compact: false }, paper: 20 },
  { name: "without pins", pins: false, paper: 9 },
  { name: "without writeback at reset", flushAt: { reset: false }, paper: 3 },
  { name: "without scoring of upgrades", context: { order: "place" }, paper: 0 },
  { name: "least recently used first", context: { order: "lru" }, paper: 0 },
];
export const ABLATION_BUDGET = 180;
const ORACLE: Variant = { name: "oracle, three turns ahead", context: { policy: "oracle" } };

interface Cell {
  readonly family: string;
  readonly budget: number;
  readonly faults: number;
  readonly thrash: number;
  readonly recalls: number;
  readonly refusals: readonly string[];
}

interface Row {
  readonly name: string;
  readonly faults: number;
  readonly thrash: number;
  readonly cells: readonly Cell[];
}

export interface Evaluation {
  readonly policies: readonly Row[];
  readonly ablations: readonly (Row & { readonly paper: number })[];
  readonly gates: readonly Gate[];
  readonly adversarial: readonly Gate[];
  readonly corpus: readonly Replayed[];
}

type Live = (family: string, budget: number) => Promise<Tally>;

/** Everything. `tell` hears what is being done. */
export async function evaluatePages(tell: (what: string) => void = () => {}): Promise<Evaluation> {
  const policies: Row[] = [];
  for (const name of BASELINES) {
    tell(name);
    policies.push(await rowOf(name, BUDGETS, (family, budget) => liveBaseline(workload(family), budget, name)));
  }
  for (const variant of [KERNEL, ORACLE]) {
    tell(variant.name);
    policies.push(
      await rowOf(variant.name, BUDGETS, (family, budget) => liveThrough(workload(family), budget, variant)),
    );
  }
  const ablations: (Row & { readonly paper: number })[] = [];
  for (const variant of ABLATIONS) {
    tell(variant.name);
    const live: Live = (family, budget) => liveThrough(workload(family), budget, variant);
    const row = await rowOf(variant.name, [ABLATION_BUDGET], live);
    ablations.push({ ...row, faults: row.cells.reduce((sum, { faults }) => sum + faults, 0), paper: variant.paper });
  }
  tell("gates");
  const six = await gates();
  tell("adversarial runs");
  const hostile = await adversarial();
  tell("real transcripts");
  return { policies, ablations, gates: six, adversarial: hostile, corpus: await replay() };
}

/** Means over all families and these budgets. */
async function rowOf(name: string, budgets: readonly number[], live: Live): Promise<Row> {
  const cells: Cell[] = [];
  for (const family of FAMILIES)
    for (const budget of budgets) {
      const { total, thrash, recalls, refusals } = await live(family, budget);
      cells.push({ family, budget, faults: total, thrash, recalls, refusals });
    }
  const mean = (of: (cell: Cell) => number) => cells.reduce((sum, cell) => sum + of(cell), 0) / cells.length;
  return { name, faults: mean(({ faults }) => faults), thrash: mean(({ thrash }) => thrash), cells };
}
