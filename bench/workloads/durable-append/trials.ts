import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Fixture, Task, Trial } from "../../harness/contract.ts";
import { median } from "../../harness/statistics.ts";
import { defineTrial } from "../../harness/trial.ts";
import { type Log, proofOf, textOf, textsOf } from "./log.ts";
import type { LogName } from "./logs.ts";

/** Appends in transactions of `batch` records, after `warmUp` records that are not timed. */
export function appending(log: Log, batch: number, warmUp = 0): Trial {
  return defineTrial({
    prepare: async (task) => {
      const texts = textsOf(task.seed, warmUp + task.size);
      const batches = Array.from({ length: Math.ceil(texts.length / batch) }, (_, index) =>
        texts.slice(index * batch, (index + 1) * batch),
      );
      const open = await log.open(task.folder);
      for (const first of batches.splice(0, warmUp / batch)) await open.append(first);
      return { open, batches };
    },
    run: async ({ open, batches }, turn) => {
      for (const texts of batches) {
        await open.append(texts);
        if (turn.over) await turn.pass();
      }
    },
    verify: async (_, { open }, task) => {
      await open.close();
      return proofOf(log, task.folder);
    },
  });
}

/** Every append timed by itself: what one costs near the start of a session, once code is warm, and at its end. */
export function growing(log: Log): Trial {
  return defineTrial({
    prepare: async (task) => ({ open: await log.open(task.folder), texts: textsOf(task.seed, task.size) }),
    run: async ({ open, texts }, turn) => {
      const costs: number[] = [];
      for (const text of texts) {
        const started = process.hrtime.bigint();
        await open.append([text]);
        costs.push(Number(process.hrtime.bigint() - started));
        if (turn.over) await turn.pass();
      }
      return costs;
    },
    figures: (costs) => ({ start: median(costs.slice(100, 200)), end: median(costs.slice(-100)) }),
    verify: async (_, { open }, task) => {
      await open.close();
      return proofOf(log, task.folder);
    },
  });
}

export function reading(name: LogName, log: Log): Trial {
  return defineTrial({
    fixture: filled(name, log),
    prepare: (task) => log.open(task.fixture),
    run: async (open, turn) => {
      let characters = 0;
      for await (const text of open.texts()) {
        characters += text.length;
        if (turn.over) await turn.pass();
      }
      return characters;
    },
    verify: async (characters, open, task) => {
      await open.close();
      return `${characters} ${await proofOf(log, task.fixture)}`;
    },
  });
}

/** Opening a session that its writer had closed, until the next record could be appended. */
export function opening(name: LogName, log: Log): Trial {
  return defineTrial({
    fixture: filled(name, log),
    prepare: (task) => task,
    run: (task) => log.open(task.fixture),
    verify: async (open, task) => {
      const newest = await open.newest();
      await open.close();
      if (newest !== textOf(task.seed, task.size - 1))
        throw new Error("the newest record is not the last one appended");
      return newest;
    },
  });
}

/** The same after its writer was killed, with a write-ahead log to recover and records after the last checkpoint. */
export function openingAfterKill(name: LogName, log: Log): Trial {
  return defineTrial({
    fixture: filled(`${name}, killed`, log),
    prepare: async (task) => {
      await appendAndDie(name, task);
      return task;
    },
    run: (task) => log.open(task.fixture),
    verify: async (open, task) => {
      const newest = await open.newest();
      await open.close();
      if (newest !== textOf(`${task.seed}/${task.round}`, LAST_WORDS - 1))
        throw new Error("an acknowledged record is gone");
      return newest;
    },
  });
}

/** Just short of a checkpoint: the longest tail there is to verify. */
export const LAST_WORDS = 250;

async function appendAndDie(name: LogName, task: Task): Promise<void> {
  const order = JSON.stringify({ name, folder: task.fixture, seed: `${task.seed}/${task.round}` });
  const writer = fork(fileURLToPath(new URL("./killed-writer.ts", import.meta.url)), [order]);
  await once(writer, "message");
  writer.kill("SIGKILL");
  await once(writer, "close");
}

/** A log with `size` records, written in large batches and closed. */
function filled(name: string, log: Log): Fixture {
  const batch = 1000;
  return {
    name,
    build: async ({ seed, size }, folder) => {
      mkdirSync(folder, { recursive: true });
      const open = await log.open(folder);
      for (let done = 0; done < size; done += batch) {
        const count = Math.min(batch, size - done);
        await open.append(Array.from({ length: count }, (_, index) => textOf(seed, done + index)));
      }
      await open.close();
    },
  };
}
