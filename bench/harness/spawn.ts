import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Sample, Task } from "./contract.ts";

export interface Order {
  readonly step: "build" | "measure";
  readonly task: Task;
}

const CHILD = fileURLToPath(new URL("./child.ts", import.meta.url));

/** What a cell prints goes to stderr: stdout is the report's, and with `--json` a program reads it. */
export function inOwnProcess(order: Order): Promise<Sample> {
  return new Promise((resolve, reject) => {
    const child = fork(CHILD, [JSON.stringify(order)], { stdio: ["ignore", 2, 2, "ipc"] });
    let answer: Sample | undefined;
    child.on("message", (message) => {
      answer = message as Sample;
    });
    child.on("error", reject);
    child.on("close", (code, signal) => {
      const { task, step } = order;
      if (answer !== undefined && code === 0) resolve(answer);
      else reject(new Error(`${step} "${task.case}", ${task.cell}, ${task.size} ended with ${code ?? signal}`));
    });
  });
}
