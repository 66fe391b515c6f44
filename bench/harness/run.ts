import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Case, Task, Workload } from "./contract.ts";
import { type Measured, Results } from "./results.ts";
import { inOwnProcess } from "./spawn.ts";

export interface RunOptions {
  readonly name: string;
  readonly quick: boolean;
  readonly rounds: number | undefined;
  readonly seed: string;
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

/** Round robin over cells, several rounds, each starting elsewhere: drift and neighbours' noise fall on all alike. */
async function runCase(one: Case, scratch: string, options: RunOptions): Promise<readonly Measured[]> {
  const sizes = (options.quick ? one.quick?.sizes : undefined) ?? one.sizes;
  const rounds = options.rounds ?? (options.quick ? one.quick?.rounds : undefined) ?? one.rounds ?? 5;
  const slots = sizes.flatMap((size) => Object.keys(one.cells).map((cell) => ({ cell, size })));
  const measured: Measured[] = [];
  for (let round = 0; round < rounds; round += 1) {
    options.say(`${one.name}: round ${round + 1} of ${rounds}`);
    const start = round % slots.length;
    for (const { cell, size } of [...slots.slice(start), ...slots.slice(0, start)]) {
      const folder = join(scratch, "cell");
      const names = { workload: options.name, case: one.name, cell, size, round };
      const task: Task = { ...names, seed: options.seed, folder, fixture: "", scratch };
      const sample = await inOwnProcess({ step: "measure", task });
      rmSync(folder, { recursive: true, force: true });
      measured.push({ task: { case: one.name, cell, size, round }, sample });
    }
  }
  mustAgree(measured);
  return measured;
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
