/** One process per measurement: no cell meets another's heap, compiled code or open files. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Task, Trial } from "./contract.ts";
import { loadWorkload } from "./load.ts";
import { inOwnProcess, type Order } from "./spawn.ts";

const order = JSON.parse(process.argv[2] ?? "null") as Order;
const trial = await trialOf(order.task);
const answer = order.step === "build" ? await build(trial, order.task) : await measure(trial, order.task);
process.send?.(answer, () => process.exit());

async function measure(trial: Trial, task: Task) {
  mkdirSync(task.folder, { recursive: true });
  return trial.measure({ ...task, fixture: await fixtureFor(trial, task) });
}

async function fixtureFor(trial: Trial, task: Task): Promise<string> {
  if (trial.fixture === undefined) return "";
  const folder = fixtureFolder(trial.fixture.name, task);
  // In yet another process: what building compiled and allocated must not help or hinder what is measured.
  if (!existsSync(join(folder, "built"))) await inOwnProcess({ step: "build", task });
  return folder;
}

async function build(trial: Trial, task: Task) {
  const { fixture } = trial;
  if (fixture === undefined) return {};
  const folder = fixtureFolder(fixture.name, task);
  console.error(`building ${fixture.name}, ${task.size}`);
  mkdirSync(folder, { recursive: true });
  await fixture.build(task, folder);
  writeFileSync(join(folder, "built"), "");
  return {};
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
