import type { Bar, Case, Limit, Place, Trial, Workload } from "../../harness/contract.ts";
import type { Keeper } from "./keeper.ts";
import { KEEPERS, type KeeperName } from "./keepers.ts";
import type { Where } from "./shape.ts";
import { calling, committingRaw, type LengthAt, returning } from "./trials.ts";
import { turnsInHoldfast, turnsInLangGraph } from "./turns.ts";

const [KB10, MB1, MB10] = [10_000, 1_000_000, 10_000_000];
const SIZES = [KB10, MB1, MB10];
const RAW = "raw FULL commits";
const IN_MEMORY = [
  "hand sharing",
  "mutative",
  "immer",
  "structuredClone",
  "LangGraph MemorySaver",
  "LangGraph DeltaChannel",
  "Holdfast",
] as const;

/** Enough for a mean: a slow keeper's calls are long, and a large state takes long to make. */
const LENGTHS: Readonly<Record<Keeper["pace"], LengthAt>> = {
  fast: (size) => (size > MB1 ? { calls: 3_000, warmUp: 2_000 } : { calls: 3_000, warmUp: 1_000 }),
  slow: (size) => (size > MB1 ? { calls: 24, warmUp: 4 } : { calls: 60, warmUp: 20 }),
};
/**
 * Compared when all code is compiled: who does more has more of it, the vendor's included, and a short run would compare how
 * long a compiler takes for two programs. What runs twenty times in a call is compiled after a hundred calls; what runs
 * once, after thousands. What the first calls of a process cost is a figure of its own.
 */
const COMPILED: LengthAt = (size) => (size > MB1 ? LENGTHS.fast(size) : { calls: 14_000, warmUp: 10_000 });
/** Several checkpoints of the session are among them. */
const WATCHED = { calls: 4_000, warmUp: 2_000 };
/** A checkpoint of 10 MB writes all of it, so there are fewer calls of that size. */
const DURABLE: LengthAt = (size) => (size > MB1 ? { calls: 1_500, warmUp: 1_000 } : COMPILED(size));

const cases: readonly Case[] = [
  inMemory("in memory", "one slice", SIZES, COMPILED),
  inMemory("in memory, spread", "spread", [MB1, MB10], LENGTHS.fast), // a hundred slices in every call
  {
    name: "rollback",
    sizes: SIZES,
    rounds: 3,
    quick: { rounds: 1 },
    reference: "mutative",
    cells: cells(IN_MEMORY, (keeper) => returning(keeper, "one slice", LENGTHS[keeper.pace])),
  },
  durable("durable", "one slice", SIZES),
  durable("durable, spread", "spread", [MB1, MB10]),
  {
    name: "watched",
    sizes: [KB10],
    rounds: 9, // a few per cent are compared
    quick: { rounds: 2 },
    reference: "Holdfast node:sqlite",
    cells: cells(["Holdfast node:sqlite", "Holdfast, watched"], (keeper) =>
      calling(keeper, "one slice", () => WATCHED),
    ),
  },
  {
    name: "turns of 2 KB",
    sizes: [50, 100, 200],
    rounds: 1, // bytes do not change from round to round
    reference: "Holdfast node:sqlite",
    cells: {
      "Holdfast node:sqlite": async () => ({ default: turnsInHoldfast() }),
      "LangGraph MemorySaver": async () => ({ default: turnsInLangGraph() }),
    },
  },
];

const bars: readonly Bar[] = [
  ratio("a call at 1 MB, to mutative", call("in memory", "Holdfast", MB1), call("in memory", "mutative", MB1), 2),
  ratio(
    "a call at 1 MB, spread, to mutative",
    call("in memory, spread", "Holdfast", MB1),
    call("in memory, spread", "mutative", MB1),
    2,
  ),
  faster("a call at 1 MB, MemorySaver to us", "in memory", "LangGraph MemorySaver", "Holdfast", 100),
  faster("a call at 1 MB, DeltaChannel to us", "in memory", "LangGraph DeltaChannel", "Holdfast", 1),
  {
    kind: "growth",
    what: "growth of a call with the state",
    of: { case: "in memory", cell: "Holdfast", figure: "call" },
    to: { case: "in memory", cell: "hand sharing", figure: "call" },
    within: 0.1,
  },
  ...SIZES.map(
    (size): Bar => ({
      kind: "value",
      what: `rollback at ${nameOf(size)}`,
      of: { case: "rollback", cell: "Holdfast", size, figure: "rollback" },
      unit: "ns",
      atMost: 10_000,
    }),
  ),
  {
    kind: "ratio",
    what: "rollback at 1 MB, DeltaChannel to us",
    of: { case: "rollback", cell: "LangGraph DeltaChannel", size: MB1, figure: "rollback" },
    to: { case: "rollback", cell: "Holdfast", size: MB1, figure: "rollback" },
    atLeast: 1,
  },
  ...SIZES.map((size) => toRaw("durable", size)),
  ...[MB1, MB10].map((size) => toRaw("durable, spread", size)),
  {
    kind: "growth",
    what: "growth of a durable call with the state",
    of: { case: "durable", cell: "Holdfast node:sqlite", figure: "call" },
    to: { case: "durable", cell: RAW, figure: "call" },
    within: 0.1,
  },
  ratio(
    "a durable call with telemetry, to one without",
    call("watched", "Holdfast, watched", KB10),
    call("watched", "Holdfast node:sqlite", KB10),
    1.05,
  ),
  faster("a durable call at 1 MB, SqliteSaver to us", "durable", "LangGraph SqliteSaver", "Holdfast node:sqlite", 10),
  ...["durable", "durable, spread"].flatMap((name) =>
    [MB1, MB10].map(
      (size): Bar => ({
        kind: "value",
        what: `bytes written for each that changed, ${name}, ${nameOf(size)}`,
        of: { case: name, cell: "Holdfast node:sqlite", size, figure: "written per byte changed" },
        unit: "count",
        atMost: 3,
      }),
    ),
  ),
  {
    kind: "value",
    what: "bytes of 200 turns of 2 KB",
    of: { case: "turns of 2 KB", cell: "Holdfast node:sqlite", size: 200, figure: "bytes" },
    unit: "bytes",
    atMost: 4e6,
  },
];

const workload: Workload = {
  about: "a tool call changes one per cent of a state in 100 slices; every call leaves a checkpoint",
  cases,
  bars,
};
export default workload;

function inMemory(name: string, where: Where, sizes: readonly number[], fast: LengthAt): Case {
  return {
    name,
    sizes,
    rounds: 5,
    quick: { rounds: 1 },
    reference: "mutative",
    cells: cells(IN_MEMORY, (keeper) => calling(keeper, where, keeper.pace === "fast" ? fast : LENGTHS.slow)),
  };
}

function durable(name: string, where: Where, sizes: readonly number[]): Case {
  return {
    name,
    sizes,
    rounds: 3,
    quick: { rounds: 1 },
    reference: RAW,
    cells: {
      [RAW]: async () => ({ default: committingRaw(where, DURABLE) }),
      ...cells(["Holdfast node:sqlite", "LangGraph SqliteSaver"], (keeper) =>
        calling(keeper, where, keeper.pace === "fast" ? DURABLE : LENGTHS.slow),
      ),
    },
  };
}

function cells<N extends KeeperName>(names: readonly N[], trial: (keeper: Keeper) => Trial): Case["cells"] {
  return Object.fromEntries(
    names.map((name) => [name, async () => ({ default: trial((await KEEPERS[name]()).default) })]),
  );
}

function call(name: string, cell: KeeperName | typeof RAW, size: number): Place {
  return { case: name, cell, size, figure: "call" };
}

function ratio(what: string, of: Place, to: Place, atMost: number): Bar {
  return { kind: "ratio", what, of, to, ...({ atMost } satisfies Limit) };
}

function toRaw(name: string, size: number): Bar {
  const what = `${name}: a call at ${nameOf(size)}, to raw FULL commits`;
  return ratio(what, call(name, "Holdfast node:sqlite", size), call(name, RAW, size), 1.5);
}

function faster(what: string, name: string, of: KeeperName, to: KeeperName, atLeast: number): Bar {
  return { kind: "ratio", what, of: call(name, of, MB1), to: call(name, to, MB1), atLeast };
}

function nameOf(size: number): string {
  return size < MB1 ? `${size / 1_000} KB` : `${size / MB1} MB`;
}
