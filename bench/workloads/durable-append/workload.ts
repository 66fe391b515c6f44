import type { Bar, Case, Place, Trial, Workload } from "../../harness/contract.ts";
import type { Log } from "./log.ts";
import { LOGS, type LogName } from "./logs.ts";
import { appending, growing, opening, openingAfterKill, reading } from "./trials.ts";

const MS = 1e6;
const DECADES = [1_000, 10_000, 100_000];
const HOLDFAST = "Holdfast node:sqlite";
const RAW = "raw node:sqlite";
const SAVER = "LangGraph SqliteSaver";
const GROWING_SAVER = "LangGraph SqliteSaver, growing channel";
const EVERYONE = [RAW, "raw better-sqlite3", "JSONL + fsync", SAVER, HOLDFAST, "Holdfast better-sqlite3"] as const;

/**
 * Everybody appends so many before the time is taken, until all code is compiled: ours is more than a loop over one
 * statement, and a short run would compare how long two compilers take. `append all` counts from the first record on.
 */
const WARM_UP = { oneByOne: 2_000, batched: 10_000 };

const cases: readonly Case[] = [
  {
    name: "one by one",
    sizes: [10_000],
    quick: { sizes: [2_000], rounds: 3 },
    per: "record",
    reference: RAW,
    cells: cells(EVERYONE, (_, log) => appending(log, 1, WARM_UP.oneByOne)),
  },
  {
    name: "in batches of 100",
    sizes: [10_000],
    rounds: 11, // a few turns each
    quick: { rounds: 5 },
    per: "record",
    reference: RAW,
    cells: cells(EVERYONE, (_, log) => appending(log, 100, WARM_UP.batched)),
  },
  {
    name: "growing history",
    sizes: [1_500],
    rounds: 3,
    quick: { rounds: 1 },
    per: "record",
    reference: GROWING_SAVER,
    cells: cells([GROWING_SAVER, HOLDFAST, "Holdfast better-sqlite3"], (_, log) => growing(log)),
  },
  {
    name: "append all",
    sizes: DECADES,
    quick: { rounds: 2 },
    per: "record",
    reference: RAW,
    cells: cells([RAW, HOLDFAST], (_, log) => appending(log, 100)),
  },
  {
    name: "read all",
    sizes: DECADES,
    quick: { rounds: 2 },
    per: "record",
    reference: RAW,
    cells: cells([RAW, HOLDFAST], reading),
  },
  {
    name: "open",
    sizes: DECADES,
    rounds: 9, // a few milliseconds each, so that one interruption shows
    quick: { rounds: 5 },
    reference: RAW,
    cells: cells([RAW, HOLDFAST], opening),
  },
  {
    name: "open after a kill",
    sizes: [10_000],
    quick: { rounds: 2 },
    reference: RAW,
    cells: cells([RAW, HOLDFAST], openingAfterKill),
  },
  {
    name: "open a long history",
    sizes: [1_000_000],
    quick: { sizes: [100_000], rounds: 2 },
    reference: HOLDFAST,
    cells: cells([HOLDFAST], opening),
  },
  {
    name: "open a long history after a kill",
    sizes: [1_000_000],
    quick: { sizes: [100_000], rounds: 2 },
    reference: HOLDFAST,
    cells: cells([HOLDFAST], openingAfterKill),
  },
];

const bars: readonly Bar[] = [
  ...(["node:sqlite", "better-sqlite3"] as const).flatMap((driver): readonly Bar[] => {
    const [ours, raw] = [`Holdfast ${driver}`, `raw ${driver}`] as const;
    return [
      ratio(`one by one, to raw ${driver}`, at("one by one", ours), at("one by one", raw), 1.5),
      ratio(`one by one, to SqliteSaver FULL, ${driver}`, at("one by one", ours), at("one by one", SAVER), 1),
      ratio(`in batches, to raw ${driver}`, at("in batches of 100", ours), at("in batches of 100", raw), 1.8),
      ratio(
        `1,500th append to the 150th, ${driver}`,
        { ...at("growing history", ours), figure: "end" },
        { ...at("growing history", ours), figure: "start" },
        1.25,
      ),
      {
        kind: "ratio",
        what: `SqliteSaver's 1,500th append to ours, ${driver}`,
        of: { ...at("growing history", GROWING_SAVER), figure: "end" },
        to: { ...at("growing history", ours), figure: "end" },
        atLeast: 20,
      },
    ];
  }),
  lasts("opening 10,000 records", { ...at("open", HOLDFAST), size: 10_000 }, 300 * MS),
  lasts("opening 10,000 records after a kill", at("open after a kill", HOLDFAST), 300 * MS),
  lasts("opening the longest history", at("open a long history", HOLDFAST), 5000 * MS),
  lasts("opening the longest history after a kill", at("open a long history after a kill", HOLDFAST), 5000 * MS),
  ratio(
    "opening the longest history to opening 10,000 records",
    at("open a long history", HOLDFAST),
    { ...at("open", HOLDFAST), size: 10_000 },
    1.5,
  ),
  ...["append all", "read all", "open"].map(
    (name): Bar => ({
      kind: "growth",
      what: `growth of "${name}"`,
      of: at(name, HOLDFAST),
      to: at(name, RAW),
      within: 0.1,
    }),
  ),
];

const workload: Workload = {
  about: "records of 1 KB, each acknowledged only when it would survive the loss of power",
  cases,
  bars,
};
export default workload;

function cells<N extends LogName>(names: readonly N[], trial: (name: N, log: Log) => Trial): Case["cells"] {
  return Object.fromEntries(
    names.map((name) => [name, async () => ({ default: trial(name, (await LOGS[name]()).default) })]),
  );
}

function at(name: string, cell: LogName): Place {
  return { case: name, cell };
}

function ratio(what: string, of: Place, to: Place, atMost: number): Bar {
  return { kind: "ratio", what, of, to, atMost };
}

function lasts(what: string, of: Place, atMost: number): Bar {
  return { kind: "value", what, of, unit: "ns", atMost };
}
