import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SessionOptions } from "../../../src/turn/holdfast-options.ts";
import { didNotHappen, type EffectAsk, scriptTools, SLICES, type Stage } from "./tools.ts";

/** The world outside of processes that are killed: a file that each deed is written to, and synced, when it is done. */
class Outside {
  readonly #file: string;

  constructor(store: string) {
    this.#file = join(dirname(store), "outside.log");
  }

  note(what: "done" | "undone", { of, name }: EffectAsk, key: string): void {
    const file = openSync(this.#file, "a");
    writeSync(file, `${JSON.stringify([what, `${of}/${name}/${key}`])}\n`);
    fsyncSync(file); // no power cut takes back what happened outside
    closeSync(file);
  }

  /** How often each deed stands done. */
  standing(): ReadonlyMap<string, number> {
    const found = new Map<string, number>();
    if (!existsSync(this.#file)) return found;
    const lines = readFileSync(this.#file, "utf8").split("\n");
    for (const line of lines.slice(0, -1)) {
      // Where a cut fell into a sync, what is left of that deed stands before the next one; nobody had heard of it.
      const [what, id] = JSON.parse(line.slice(line.lastIndexOf('["'))) as [string, string];
      found.set(id, what === "done" ? (found.get(id) ?? 0) + 1 : 0);
    }
    return found;
  }
}

export function standingBeside(store: string): ReadonlyMap<string, number> {
  return new Outside(store).standing();
}

/** What sessions that run scripts on a real store are given. */
export function scriptKernel(store: string): Pick<SessionOptions, "tools" | "slices"> {
  const outside = new Outside(store);
  const wait = () => new Promise<void>((resolve) => setImmediate(resolve));
  const stage: Stage = {
    wait,
    effect: async (ask, key) => {
      await wait();
      if (ask.how === "did-not") throw didNotHappen();
      outside.note("done", ask, key);
      await wait();
      if (ask.how === "breaks") throw new Error("the line went dead");
    },
    undo: async (ask, key) => {
      await wait();
      outside.note("undone", ask, key);
      await wait();
    },
    hear: () => {},
  };
  return { tools: scriptTools(stage), slices: SLICES };
}
