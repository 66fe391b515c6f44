import { syncBuiltinESMExports } from "node:module";
import threads, { type WorkerOptions } from "node:worker_threads";

/** When branches are counted: what tests start notes which branches it took. Node hands this variable on to every child. */
const folder = process.env["HOLDFAST_CHILD_COVERAGE"];
if (folder !== undefined) {
  process.env["NODE_V8_COVERAGE"] = folder;
  threads.Worker = countedIn(folder);
  syncBuiltinESMExports();
}

/** A thread with an environment of its own is told as well. It notes what it took when it ends by itself, so it may. */
function countedIn(coverage: string): typeof threads.Worker {
  return class extends threads.Worker {
    readonly #ended: Promise<unknown>;

    constructor(file: string | URL, options: WorkerOptions = {}) {
      const { env } = options;
      super(file, typeof env === "object" ? { ...options, env: { ...env, NODE_V8_COVERAGE: coverage } } : options);
      this.#ended = new Promise((resolve) => this.once("exit", resolve));
    }

    override async terminate(): Promise<number> {
      await Promise.race([this.#ended, new Promise((resolve) => setTimeout(resolve, A_WHILE).unref())]);
      return super.terminate();
    }
  };
}

const A_WHILE = 300;
