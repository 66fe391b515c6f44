import type { Bar, Case, Trial, Workload } from "../../harness/contract.ts";
import { bareNode, command, doctor } from "./trials.ts";

const BARE = "node -e 0";
const START = "from the shell's prompt to its end";
const DOCTOR = "a session of so many bytes";
const cell = (make: () => Trial) => async () => ({ default: make() });

const cases: readonly Case[] = [
  {
    name: START,
    sizes: [1],
    rounds: 9,
    quick: { rounds: 3 },
    reference: BARE,
    cells: {
      [BARE]: cell(bareNode),
      "holdfast --help": cell(() => command(["--help"], "usage: holdfast COMMAND")),
      "holdfast --version": cell(() => command(["--version"], ".")),
      "holdfast sessions --help": cell(() => command(["sessions", "--help"], "usage: holdfast sessions")),
    },
  },
  {
    name: DOCTOR,
    sizes: [1_000_000],
    rounds: 7,
    quick: { rounds: 3 },
    reference: BARE,
    cells: { [BARE]: cell(bareNode), "holdfast doctor": cell(doctor) },
  },
];

const MILLISECOND = 1_000_000;
const bars: readonly Bar[] = [
  {
    kind: "value",
    what: "holdfast --help",
    of: { case: START, cell: "holdfast --help" },
    unit: "ns",
    atMost: 150 * MILLISECOND,
  },
  {
    kind: "value",
    what: "holdfast doctor on 1 MB",
    of: { case: DOCTOR, cell: "holdfast doctor" },
    unit: "ns",
    atMost: 500 * MILLISECOND,
  },
];

export default { about: "the command as it is installed, beside Node itself", cases, bars } satisfies Workload;
