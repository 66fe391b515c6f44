import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Sample, Task } from "./contract.ts";

export interface Order {
  readonly step: "build" | "measure";
  readonly task: Task;
}

/** What a process says when it stops working: your turn, or my last word. */
export type Word = { readonly kind: "pass" } | { readonly kind: "done"; readonly sample: Sample | undefined };

const CHILD = fileURLToPath(new URL("./child.ts", import.meta.url));

/** One process per task. Exactly one works at any time; each goes on where it passed when its turn comes again. */
export async function takeTurns(orders: readonly Order[]): Promise<readonly (Sample | undefined)[]> {
  const players = orders.map((order) => new Player(order));
  try {
    for (let playing = players; playing.length > 0; playing = playing.filter((player) => !player.done)) {
      for (const player of playing) await player.play();
    }
    return players.map((player) => player.sample);
  } finally {
    for (const player of players) player.stop();
  }
}

class Player {
  readonly #order: Order;
  #child: ChildProcess | undefined;
  done = false;
  sample: Sample | undefined;

  constructor(order: Order) {
    this.#order = order;
  }

  /** Lets the process work until it passes or is done. */
  async play(): Promise<void> {
    // What a cell prints goes to stderr: stdout is the report's, and with `--json` a program reads it.
    this.#child ??= fork(CHILD, [JSON.stringify(this.#order)], { stdio: ["ignore", 2, 2, "ipc"] });
    const word = await this.#nextWord(this.#child);
    if (word.kind === "pass") return;
    this.done = true;
    this.sample = word.sample;
  }

  stop(): void {
    this.#child?.kill();
  }

  #nextWord(child: ChildProcess): Promise<Word> {
    const { task, step } = this.#order;
    return new Promise((resolve, reject) => {
      const onExit = (code: number | null, signal: string | null) =>
        reject(new Error(`${step} "${task.case}", ${task.cell}, ${task.size} ended with ${code ?? signal}`));
      child.once("exit", onExit);
      child.once("message", (word) => {
        child.off("exit", onExit);
        resolve(word as Word);
      });
      child.send("go");
    });
  }
}
