import type { Bar, Case, Trial, Workload } from "../../harness/contract.ts";
import { forkHere, forkRaw, payHere, payRaw, retainHere, retainRaw, sweepHere, sweepRaw } from "./trials.ts";

const RAW = "raw node:sqlite";
const OURS = "holdfast";
const cell = (make: () => Trial) => async () => ({ default: make() });
const sizes = [100, 1_000, 10_000];
const quick = { sizes: [100, 1_000], rounds: 3 };

const cases: readonly Case[] = [
  { name: "a fork", sizes, quick, reference: RAW, cells: { [RAW]: cell(forkRaw), [OURS]: cell(forkHere) } },
  { name: "a cut", sizes, quick, reference: RAW, cells: { [RAW]: cell(retainRaw), [OURS]: cell(retainHere) } },
  { name: "a sweep", sizes, quick, reference: RAW, cells: { [RAW]: cell(sweepRaw), [OURS]: cell(sweepHere) } },
  { name: "200 effects", sizes, quick, reference: RAW, cells: { [RAW]: cell(payRaw), [OURS]: cell(payHere) } },
];

/** A checkpoint tells of every key that was ever used, and comes every hundred calls or so: those weigh a little more. */
const WITHIN: Readonly<Record<string, number>> = { "200 effects": 0.25 };

const bars: readonly Bar[] = cases.map(({ name }) => ({
  kind: "growth",
  what: `growth of ${name} with the history`,
  of: { case: name, cell: OURS },
  to: { case: name, cell: RAW },
  within: WITHIN[name] ?? 0.1,
}));

export default {
  about: "forks, cuts, sweeps and effects behind a growing history, beside rows written by hand",
  cases,
  bars,
} satisfies Workload;
