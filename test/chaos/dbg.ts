import { readFileSync } from "node:fs";
import { Simulation } from "./sim/simulation.ts";
import { shrink } from "./sim/shrink.ts";
import { drawScenario } from "./sim.ts";
const [seed = "", steps = "40", trace] = process.argv.slice(2);
const run = async (s: any) => {
  const sim = new Simulation(s.seed);
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", (e) => void sim.oracle.wrong.push(`unhandled ${(e as Error)?.stack}`));
  return { v: await sim.run(s), sim };
};
const kind = (s: any) =>
  String(s)
    .replaceAll(/[0-9a-f]{6,}|\d+/g, "")
    .slice(0, 22);
const scenario = seed.endsWith(".json") ? JSON.parse(readFileSync(seed, "utf8")) : drawScenario(seed, Number(steps));
const { v } = await run(scenario);
console.log(v.taken, v.wrong.slice(0, 3));
if (v.wrong.length > 0) {
  const least = await shrink(
    scenario.steps.slice(0, v.taken),
    async (some) => kind((await run({ ...scenario, steps: some })).v.wrong[0]) === kind(v.wrong[0]),
  );
  const { v: w, sim } = await run({ ...scenario, steps: least });
  console.log(least.map((s: any) => s.name).join(" "), sim.options);
  console.log(w.wrong.slice(0, 4));
  if (trace)
    for (const [id, records] of JSON.parse(w.transcript)) {
      console.log("session", id);
      records.forEach((r: any, i: number) => console.log(i + 1, JSON.stringify(r).slice(0, Number(trace))));
    }
}
