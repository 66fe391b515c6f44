/** One process per measurement: no cell meets another's heap, compiled code or open files. */
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Sample, Task, Trial } from "./contract.ts";
import { loadWorkload } from "./load.ts";
import { type Order, takeTurns, type Word } from "./spawn.ts";

// Also when the run is interrupted: a process left behind would go on writing, and disturb the next run.
process.once("disconnect", () => process.exit());

const { step, task } = JSON.parse(process.argv[2] ?? "null") as Order;
await once(process, "message");
const trial = await trialOf(task);
const sample = step === "build" ? await build(trial, task) : await measure(trial, task);
say({ kind: "done", sample });
process.disconnect();

async function measure(trial: Trial, task: Task): Promise<Sample> {
  mkdirSync(task.folder, { recursive: true });
  const fixture = await fixtureFor(trial, task);
  return trial.measure({ ...task, fixture }, async () => {
    say({ kind: "pass" });
    await once(process, "message");
  });
}

async function fixtureFor(trial: Trial, task: Task): Promise<string> {
  if (trial.fixture === undefined) return "";
  const folder = fixtureFolder(trial.fixture.name, task);
  // In yet another process: what building compiled and allocated must not help or hinder what is measured.
  if (!existsSync(join(folder, "built"))) await takeTurns([{ step: "build", task }]);
  return folder;
}

async function build(trial: Trial, task: Task): Promise<undefined> {
  const { fixture } = trial;
  if (fixture === undefined) return;
  const folder = fixtureFolder(fixture.name, task);
  console.error(`building ${fixture.name}, ${task.size}`);
  mkdirSync(folder, { recursive: true });
  await fixture.build(task, folder);
  writeFileSync(join(folder, "built"), "");
}

function fixtureFolder(name: string, task: Task): string {
  return join(task.scratch, "fixtures", `${name}-${task.size}`);
}

async function trialOf(task: Task): Promise<Trial> {
  const workload = await loadWorkload(task.workload);
  const cell = workload.cases.find(({ name }) => name === task.case)?.cells[task.cell];
  if (cell === undefined) throw new Error(`${task.workload} has no cell ${task.cell} in "${task.case}"`);
  return (await cell()).default;
}

function say(word: Word): void {
  process.send?.(word);
}
