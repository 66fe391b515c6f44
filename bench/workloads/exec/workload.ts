import type { Bar, Case, Trial, Workload } from "../../harness/contract.ts";
import { byWay, kept, plainly, undone } from "./trials.ts";
import { commit, statWalk, tree } from "./ways.ts";

const SIZES = [1_000, 10_000, 50_000] as const;
const UNDONE = "a command that edits three files, undone";
const KEPT = "a command that makes many files, kept";
const WALK = "stat walk, changed files kept by hash";
const OVERLAY = "Holdfast overlay, durable";
const PORTABLE = "Holdfast portable, durable";
const PEERS = { "shadow git as opencode": tree, "shadow git as Cline": commit } as const;
const MS = 1e6;

const cell = (make: () => Trial) => async () => ({ default: make() });

const cases: readonly Case[] = [
  {
    name: UNDONE,
    sizes: SIZES,
    quick: { rounds: 1 },
    rounds: 3,
    reference: WALK,
    cells: {
      [WALK]: cell(() => byWay("walk", statWalk)),
      [OVERLAY]: cell(() => undone("overlay")),
      [PORTABLE]: cell(() => undone("portable")),
      ...Object.fromEntries(Object.entries(PEERS).map(([name, way]) => [name, cell(() => byWay(name, way))])),
    },
  },
  {
    name: KEPT,
    sizes: [3_000, 30_000],
    quick: { rounds: 1 },
    rounds: 3,
    reference: "a plain shell",
    cells: { "a plain shell": cell(plainly), [OVERLAY]: cell(() => kept("overlay")) },
  },
];

const bars: readonly Bar[] = [
  {
    kind: "value",
    what: "what the overlay adds at 50,000 files",
    of: { case: UNDONE, cell: OVERLAY, size: 50_000, figure: "added" },
    unit: "ns",
    atMost: 40 * MS,
  },
  ...([1_000, 10_000] as const).flatMap((size): Bar[] => [
    {
      kind: "ratio",
      what: `portable at ${size} files, to a stat walk by hand`,
      of: { case: UNDONE, cell: PORTABLE, size },
      to: { case: UNDONE, cell: WALK, size },
      atMost: 1.3,
    },
    ...Object.keys(PEERS).map(
      (peer): Bar => ({
        kind: "ratio",
        what: `portable at ${size} files, to ${peer}`,
        of: { case: UNDONE, cell: PORTABLE, size },
        to: { case: UNDONE, cell: peer, size },
        atMost: 1,
      }),
    ),
  ]),
  {
    kind: "value",
    what: "what keeping 30,000 new files adds",
    of: { case: KEPT, cell: OVERLAY, size: 30_000, figure: "added" },
    unit: "ns",
    atMost: 30_000 * 0.1 * MS,
  },
];

export default {
  about: "a command in a project, undone and kept, by the number of files",
  cases,
  bars,
} satisfies Workload;
