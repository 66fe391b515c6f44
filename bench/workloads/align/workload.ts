import type { Bar, Case, Trial, Workload } from "../../harness/contract.ts";
import { wholeStation } from "./session.ts";
import { allNew, flipped, seedCheck, toolChanged, unchanged } from "./trials.ts";

const TOOLS = 200;
const SEED = "the seed's check, as text";
const NAME = "200 tools, 50 KB of prompt";
const cell = (make: () => Trial) => async () => ({ default: make() });

const cases: readonly Case[] = [
  {
    name: NAME,
    sizes: [20, TOOLS, 2_000],
    quick: { sizes: [20, TOOLS], rounds: 2 },
    rounds: 5,
    reference: SEED,
    cells: {
      [SEED]: cell(seedCheck),
      "nothing changed": cell(unchanged),
      "nothing changed, both looks of a session": cell(wholeStation),
      "mode flipped": cell(flipped),
      "one tool changed": cell(toolChanged),
      "every tool new": cell(allNew),
    },
  },
];

const MICROSECOND = 1_000;
const bar = (what: string, cellName: string, atMost: number, figure?: string): Bar => ({
  kind: "value",
  what,
  of: { case: NAME, cell: cellName, size: TOOLS, ...(figure === undefined ? {} : { figure }) },
  unit: "ns",
  atMost,
});

const bars: readonly Bar[] = [
  bar("full check when nothing changed", "nothing changed", 100 * MICROSECOND),
  bar(
    "both looks of a session when nothing changed",
    "nothing changed, both looks of a session",
    100 * MICROSECOND,
    "both looks",
  ),
  bar("snapshot, rendering and check after a mode flip", "mode flipped", 5_000 * MICROSECOND),
  bar("the same after one tool changed", "one tool changed", 5_000 * MICROSECOND),
];

export default { about: "prompt, tools and mode checked before a request", cases, bars } satisfies Workload;
