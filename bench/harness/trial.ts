import type { Sample, Task, Trial, TrialSteps, Turn } from "./contract.ts";
import { median } from "./statistics.ts";

/** Long against what a change of process costs, short against a neighbour's noise. */
const TURN_NS = 50_000_000n;

/** Turns the steps of a cell into something the harness can measure without knowing their types. */
export function defineTrial<Ready, Done>(steps: TrialSteps<Ready, Done>): Trial {
  return { fixture: steps.fixture, measure: (task, pass) => measure(steps, task, pass) };
}

async function measure<Ready, Done>(
  steps: TrialSteps<Ready, Done>,
  task: Task,
  pass: () => Promise<void>,
): Promise<Sample> {
  const ready = await steps.prepare(task);
  const totals: number[] = [];
  let done: Done;
  do {
    await pass();
    const watch = new Stopwatch(pass);
    done = await steps.run(ready, watch);
    totals.push(watch.stop());
  } while (totals.length < (steps.times ?? 1));
  const peakMegabytes = Math.round(process.resourceUsage().maxRSS / 1024);
  const figures = { total: median(totals), ...steps.figures?.(done) };
  return { figures, proof: await steps.verify(done, ready, task), peakMegabytes };
}

/** Runs while the cell does, and stands still while the others have their turn. */
class Stopwatch implements Turn {
  readonly #pass: () => Promise<void>;
  #before = 0n;
  #started = process.hrtime.bigint();

  constructor(pass: () => Promise<void>) {
    this.#pass = pass;
  }

  get over(): boolean {
    return process.hrtime.bigint() - this.#started > TURN_NS;
  }

  async pass(): Promise<void> {
    this.#before += process.hrtime.bigint() - this.#started;
    await this.#pass();
    this.#started = process.hrtime.bigint();
  }

  stop(): number {
    return Number(this.#before + process.hrtime.bigint() - this.#started);
  }
}
