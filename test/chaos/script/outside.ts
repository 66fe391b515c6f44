import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SessionOptions } from "../../../src/turn/resume.ts";
import { didNotHappen, type EffectAsk, scriptTools, SLICES, type Stage } from "./tools.ts";

/** The world outside of processes that are killed: a file that each deed is written to when it is done. */
class Outside {
  readonly #file: string;

  constructor(store: string) {
    this.#file = join(dirname(store), "outside.log");
  }

  note(what: "done" | "undone", { of, name }: EffectAsk, key: string): void {
    appendFileSync(this.#file, `${JSON.stringify([what, `${of}/${name}/${key}`])}\n`);
  }

  /** How often each deed stands done. */
  standing(): ReadonlyMap<string, number> {
    const found = new Map<string, number>();
    if (!existsSync(this.#file)) return found;
    for (const line of readFileSync(this.#file, "utf8").trim().split("\n")) {
      const [what, id] = JSON.parse(line) as [string, string];
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
