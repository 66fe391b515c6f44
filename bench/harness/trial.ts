import type { Sample, Task, Trial, TrialSteps } from "./contract.ts";
import { median } from "./statistics.ts";

/** Turns the steps of a cell into something the harness can measure without knowing their types. */
export function defineTrial<Ready, Done>(steps: TrialSteps<Ready, Done>): Trial {
  return { fixture: steps.fixture, measure: (task) => measure(steps, task) };
}

async function measure<Ready, Done>(steps: TrialSteps<Ready, Done>, task: Task): Promise<Sample> {
  const ready = await steps.prepare(task);
  const totals: number[] = [];
  let done: Done;
  do {
    const started = process.hrtime.bigint();
    done = await steps.run(ready);
    totals.push(Number(process.hrtime.bigint() - started));
  } while (totals.length < (steps.times ?? 1));
  const peakMegabytes = Math.round(process.resourceUsage().maxRSS / 1024);
  const figures = { total: median(totals), ...steps.figures?.(done) };
  return { figures, proof: await steps.verify(done, ready, task), peakMegabytes };
}
