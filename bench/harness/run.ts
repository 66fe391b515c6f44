import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Case, Sample, Workload } from "./contract.ts";
import { sizesOf } from "./narrow.ts";
import { type Measured, Results } from "./results.ts";
import { type Order, takeTurns } from "./spawn.ts";

export interface RunOptions {
  readonly name: string;
  readonly quick: boolean;
  readonly rounds: number | undefined;
  readonly seed: string;
  /** Every sync takes so many milliseconds longer. */
  readonly syncMs: number | undefined;
  readonly say: (line: string) => void;
}

/** Beside the code, not in the system's temporary folder: that is often memory, where a sync costs nothing. */
const SCRATCH = fileURLToPath(new URL("../.scratch/", import.meta.url));

export async function runWorkload(workload: Workload, options: RunOptions): Promise<Results> {
  mkdirSync(SCRATCH, { recursive: true });
  const scratch = mkdtempSync(join(SCRATCH, "run-"));
  const clean = () => rmSync(scratch, { recursive: true, force: true });
  const interrupted = () => {
    clean();
    process.exit(130);
  };
  process.once("SIGINT", interrupted);
  try {
    const measured: Measured[] = [];
    for (const one of workload.cases) measured.push(...(await runCase(one, scratch, options)));
    return new Results(measured);
  } finally {
    process.off("SIGINT", interrupted);
    clean();
  }
}

/** Several rounds over sizes and cells, each starting elsewhere; within a size the cells take turns. */
async function runCase(one: Case, scratch: string, options: RunOptions): Promise<readonly Measured[]> {
  const sizes = sizesOf(one, options.quick);
  const rounds = options.rounds ?? (options.quick ? one.quick?.rounds : undefined) ?? one.rounds ?? 5;
  const measured: Measured[] = [];
  for (let round = 0; round < rounds; round += 1) {
    options.say(`${one.name}: round ${round + 1} of ${rounds}`);
    const cells = startingAt(round, Object.keys(one.cells));
    for (const size of startingAt(round, sizes)) {
      const places = cells.map((cell) => ({ case: one.name, cell, size, round }));
      const orders = places.map((place, index) => orderFor(place, index, scratch, options));
      const samples = await takeTurns(orders, options.syncMs);
      rmSync(join(scratch, "cells"), { recursive: true, force: true });
      for (const [index, task] of places.entries()) measured.push({ task, sample: samples[index] as Sample });
    }
  }
  mustAgree(measured);
  return measured;
}

function orderFor(place: Measured["task"], index: number, scratch: string, { name, seed }: RunOptions): Order {
  const folder = join(scratch, "cells", String(index));
  return { step: "measure", task: { workload: name, ...place, seed, folder, fixture: "", scratch } };
}

function startingAt<T>(round: number, values: readonly T[]): readonly T[] {
  const start = round % values.length;
  return [...values.slice(start), ...values.slice(0, start)];
}

/** A fast wrong answer is no answer. */
function mustAgree(measured: readonly Measured[]): void {
  const proofs = new Map<string, { readonly proof: string; readonly cell: string }>();
  for (const { task, sample } of measured) {
    if (sample.proof === undefined) continue;
    const where = `"${task.case}", ${task.size}, round ${task.round}`;
    const first = proofs.get(where) ?? { proof: sample.proof, cell: task.cell };
    proofs.set(where, first);
    if (first.proof !== sample.proof)
      throw new Error(`${where}: ${task.cell} and ${first.cell} have different results`);
  }
}
