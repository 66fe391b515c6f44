import { type ChildProcess, fork, type ForkOptions } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Sample, Task } from "./contract.ts";

export interface Order {
  readonly step: "build" | "measure";
  readonly task: Task;
}

/** What a process says when it stops working: your turn, or my last word. */
export type Word = { readonly kind: "pass" } | { readonly kind: "done"; readonly sample: Sample | undefined };

const CHILD = fileURLToPath(new URL("./child.ts", import.meta.url));

/**
 * One process per task. Exactly one works at any time; each goes on where it passed when its turn comes again. With
 * `syncMs` every sync of theirs takes so much longer.
 */
export async function takeTurns(orders: readonly Order[], syncMs?: number): Promise<readonly (Sample | undefined)[]> {
  const players = orders.map((order) => new Player(order, syncMs));
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
  readonly #start: ForkOptions;
  #child: ChildProcess | undefined;
  done = false;
  sample: Sample | undefined;

  constructor(order: Order, syncMs: number | undefined) {
    this.#order = order;
    // What a cell prints goes to stderr: stdout is the report's, and with `--json` a program reads it.
    this.#start = { stdio: ["ignore", 2, 2, "ipc"], ...(syncMs === undefined ? {} : slowerSyncs(syncMs)) };
  }

  /** Lets the process work until it passes or is done. */
  async play(): Promise<void> {
    this.#child ??= fork(CHILD, [JSON.stringify(this.#order)], this.#start);
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

/** Under strace, which stops a process at its syncs and nowhere else: everything but those runs as fast as before. */
function slowerSyncs(ms: number): ForkOptions {
  const syncs = "fsync,fdatasync";
  const only = ["-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", `trace=${syncs}`];
  const delay = ["-e", `inject=${syncs}:delay_exit=${Math.round(ms * 1_000)}`];
  return { execPath: "strace", execArgv: [...only, ...delay, process.execPath] };
}
