import type { Task, Trial, Turn } from "../../harness/contract.ts";
import { median } from "../../harness/statistics.ts";
import { defineTrial } from "../../harness/trial.ts";
import type { Keeper, OpenKeeper } from "./keeper.ts";
import { openRaw } from "./keepers/raw-commits.ts";
import {
  type Change,
  changeAt,
  changedBytes,
  digestOf,
  expectedAfter,
  type Shape,
  stateOf,
  type Where,
} from "./shape.ts";

/** How many calls are made, and how many of them first, until the code is compiled, without being counted. */
interface Length {
  readonly calls: number;
  readonly warmUp: number;
}

export type LengthAt = (size: number) => Length;

/** What a call with its checkpoint costs, and what is written for every byte it changes. */
export function calling(keeper: Keeper, where: Where, lengthAt: LengthAt): Trial {
  return defineTrial({
    prepare: async (task) => {
      const plan = planned(task, where, lengthAt(task.size));
      return { ...plan, open: await keeper.open(stateOf(plan.shape), task.folder) };
    },
    run: async ({ open, changes, length, shape }, turn) => {
      const before = open.written?.() ?? 0;
      const costs = await callAll(open, changes, turn);
      const written = ((open.written?.() ?? before) - before) / (changes.length * changedBytes(shape));
      return { call: typical(costs.slice(length.warmUp)), first: mean(costs.slice(0, FIRST)), written };
    },
    figures: ({ call, first, written }) => ({
      call,
      ...(keeper.pace === "fast" ? { "first calls": first } : {}),
      ...(written === 0 ? {} : { "written per byte changed": written }),
    }),
    verify: async (_, { open, shape, length }) => {
      await mustHold(open, shape, length.calls);
      await open.close();
      return undefined; // not all make the same number of calls: each was compared with what must be
    },
  });
}

/** What the way back to any of the newest checkpoints costs. */
export function returning(keeper: Keeper, where: Where, lengthAt: LengthAt): Trial {
  return defineTrial({
    prepare: async (task) => {
      const plan = planned(task, where, lengthAt(task.size));
      const open = await keeper.open(stateOf(plan.shape), task.folder);
      await open.calls(plan.changes, () => {});
      return { ...plan, open };
    },
    run: async ({ open, length }, turn) => {
      const watch = new Laps(turn);
      const costs: number[] = [];
      // Back and forth, often where it is quick: a single one would measure code that was never compiled.
      const times = keeper.pace === "fast" ? 10_000 : 20;
      for (let time = 0; time < times; time += 1) {
        await open.rollback(length.calls - 1 - ((time * 7) % NEWEST));
        costs.push(watch.lap());
        await watch.rest();
      }
      return costs;
    },
    figures: (costs) => ({ rollback: median(costs.slice(costs.length / 2)) }),
    verify: async (_, { open, shape, length }) => {
      const after = length.calls - NEWEST;
      await open.rollback(after);
      await mustHold(open, shape, after + 1);
      await open.close();
      return undefined;
    },
  });
}

/** As many commits with as many bytes as those calls make, by hand; per call. */
export function committingRaw(where: Where, lengthAt: LengthAt): Trial {
  return defineTrial({
    prepare: async (task) => {
      const { shape, length, changes } = planned(task, where, lengthAt(task.size));
      return { length, open: await openRaw(stateOf(shape), changes, task.folder) };
    },
    run: async ({ open, length }, turn) => {
      const watch = new Laps(turn);
      const costs: number[] = [];
      for (let index = 0; index < open.commits; index += 1) {
        open.write(index);
        costs.push(watch.lap());
        await watch.rest();
      }
      const perCall = open.commits / length.calls;
      return typical(costs.slice(Math.round(length.warmUp * perCall))) * perCall;
    },
    figures: (call) => ({ call }),
    verify: (_, { open }) => {
      const { expected } = open;
      const written = open.written();
      open.close();
      if (written !== expected) throw new Error(`${written} bytes instead of ${expected}`);
      return undefined;
    },
  });
}

/** What a process pays that makes no more calls. */
const FIRST = 500;

/** Checkpoints that a rollback leads to: the newest so many. */
const NEWEST = 20;

/** Times one piece of work after the other, without the turns of others in between. */
class Laps {
  readonly #turn: Turn;
  #started = process.hrtime.bigint();

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  lap(): number {
    return Number(process.hrtime.bigint() - this.#started);
  }

  async rest(): Promise<void> {
    if (this.#turn.over) await this.#turn.pass();
    this.#started = process.hrtime.bigint();
  }
}

async function callAll(open: OpenKeeper, changes: readonly Change[], turn: Turn): Promise<readonly number[]> {
  const costs: number[] = [];
  const watch = new Laps(turn);
  await open.calls(changes, async () => {
    costs.push(watch.lap());
    await watch.rest();
  });
  return costs;
}

async function mustHold(open: OpenKeeper, shape: Shape, calls: number): Promise<void> {
  if (digestOf(await open.state()) !== expectedAfter(shape, calls))
    throw new Error(`the state is not what ${calls} calls make of it`);
}

function planned({ size, seed }: Task, where: Where, length: Length) {
  const shape: Shape = { size, where, seed };
  const changes: readonly Change[] = Array.from({ length: length.calls }, (_, call) => changeAt(shape, call));
  return { shape, length, changes };
}

/**
 * Of the averages over four stretches, the median: what a neighbour does once is not in it. What comes now and then
 * is, also where it comes rarely, as when a log is carried over every few hundred commits: a shorter stretch would have
 * none of it for whoever writes least.
 */
function typical(costs: readonly number[]): number {
  const together = Math.ceil(costs.length / 4);
  const stretches = Array.from({ length: Math.ceil(costs.length / together) }, (_, index) =>
    mean(costs.slice(index * together, (index + 1) * together)),
  );
  return median(stretches);
}

function mean(costs: readonly number[]): number {
  return costs.reduce((sum, cost) => sum + cost, 0) / costs.length;
}
