import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../../src/base/hash.ts";
import { SeededRandom } from "../../src/base/random.ts";
import type { Rig } from "./rig.ts";
import { shrink } from "./sim/shrink.ts";
import { type Scenario, Simulation, type Verdict } from "./sim/simulation.ts";
import { drawStep, STEPS } from "./sim/steps.ts";

const COUNT = 200;
/** Every so many seeds one is run twice: a simulation that does not repeat itself proves nothing twice. */
const TWICE = 50;
const FOLDER = "test/chaos/found";

export const sim: Rig = {
  about: `the whole kernel on a simulated machine, ${COUNT} steps a seed: crashes, power cuts, sleep, aborts, faults, overlap`,
  cases: 10_000,
  quickCases: 100,
  async run(tally, { cases, seed, extra }) {
    const replayed = extra.get("replay");
    if (replayed !== undefined) {
      const scenario = JSON.parse(readFileSync(replayed, "utf8")) as Scenario;
      tally.done(replayed, (await simulate(scenario)).wrong);
      return;
    }
    for (let nth = 0; nth < cases; nth += 1) {
      const scenario = drawScenario(`${seed}/${nth}`, Number(extra.get("steps") ?? COUNT));
      const verdict = await simulate(scenario);
      for (const [what, count] of Object.entries(verdict.notes)) tally.count(what, count);
      const wrong = [...verdict.wrong];
      if (wrong.length === 0 && nth % TWICE === 0) {
        const again = await simulate(scenario);
        if (sha256(again.transcript) !== sha256(verdict.transcript)) wrong.push("two runs of one seed differ");
      }
      if (wrong.length > 0 && tally.violations.length === 0 && !extra.has("until-red"))
        wrong.push(await kept(scenario, verdict));
      tally.done(`seed ${scenario.seed}`, wrong);
    }
  },
};

function drawScenario(seed: string, steps: number): Scenario {
  const random = new SeededRandom(`steps/${seed}`);
  return { seed, steps: Array.from({ length: steps }, () => drawStep(random)) };
}

async function simulate(scenario: Scenario): Promise<Verdict> {
  const simulation = new Simulation(scenario.seed, STEPS);
  // A promise that nobody waits for, and that fails, would end a real process.
  const onRejection = (error: unknown) => simulation.oracle.wrong.push(`unhandled: ${String((error as Error)?.stack)}`);
  process.on("unhandledRejection", onRejection);
  try {
    return await simulation.run(scenario);
  } finally {
    process.off("unhandledRejection", onRejection);
  }
}

/** The failing scenario with as few steps as will do, in a file that can be replayed. */
async function kept(scenario: Scenario, { taken }: Verdict): Promise<string> {
  const fails = async (steps: Scenario["steps"]) => (await simulate({ ...scenario, steps })).wrong.length > 0;
  const steps = await shrink(scenario.steps.slice(0, taken), fails);
  mkdirSync(FOLDER, { recursive: true });
  const file = join(FOLDER, `${scenario.seed.replaceAll(/[^\w-]/g, "_")}.json`);
  const { wrong } = await simulate({ ...scenario, steps });
  writeFileSync(file, `${JSON.stringify({ ...scenario, steps, wrong }, null, 1)}\n`);
  return `shrunk from ${taken} to ${steps.length} steps: npm run chaos -- sim --replay ${file}`;
}
