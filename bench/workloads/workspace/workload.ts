import type { Bar, Case, Trial, Workload } from "../../harness/contract.ts";
import { byWay, holdfast, WARM } from "./trials.ts";
import { cline, copyTouched, fullCopy, opencode, stashCreate, statWalk, wink } from "./ways.ts";

const SIZES = [1_000, 10_000, 50_000] as const;
const WORK = "snapshot, three edits, rollback";
/** Apart from the peers, some of which remove the whole tree each time: a file system takes long to get over that. */
const BY_HAND = `${WORK}: by hand`;
const BY_PEERS = `${WORK}: by peers`;
const TOUCHED = "copy the touched files, synced";
const HOLDFAST = "Holdfast, durable";

const cell = (make: () => Trial) => async () => ({ default: make() });

const PEERS = {
  "shadow git as opencode": () => byWay("opencode", opencode, 3),
  "shadow git as Cline": () => byWay("cline", cline, 3),
  "shadow git as WINK": () => byWay("wink", wink, 3),
  "git stash create": () => byWay("stash", stashCreate, 3),
  "full copy": () => byWay("copy", fullCopy, 1),
  "stat walk": () => byWay("walk", statWalk, 3),
} as const;

const sizes = { sizes: SIZES, quick: { sizes: [1_000, 10_000], rounds: 1 } };
const cases: readonly Case[] = [
  {
    name: BY_HAND,
    ...sizes,
    rounds: 5,
    reference: TOUCHED,
    cells: { [TOUCHED]: cell(() => byWay("touched", copyTouched, 15, WARM)), [HOLDFAST]: cell(holdfast) },
  },
  {
    name: BY_PEERS,
    ...sizes,
    rounds: 3,
    reference: HOLDFAST,
    cells: {
      [HOLDFAST]: cell(holdfast),
      ...Object.fromEntries(Object.entries(PEERS).map(([name, make]) => [name, cell(make)])),
    },
  },
];

const bars: readonly Bar[] = [
  ...SIZES.map(
    (size): Bar => ({
      kind: "ratio",
      what: `${size} files, to copying the touched ones`,
      of: { case: BY_HAND, cell: HOLDFAST, size },
      to: { case: BY_HAND, cell: TOUCHED, size },
      atMost: 2,
    }),
  ),
  {
    kind: "growth",
    what: "with the number of files",
    of: { case: BY_HAND, cell: HOLDFAST },
    to: { case: BY_HAND, cell: TOUCHED },
    within: 0.1,
  },
  ...Object.keys(PEERS).flatMap((peer) =>
    SIZES.map(
      (size): Bar => ({
        kind: "ratio",
        what: `${size} files, to ${peer}`,
        of: { case: BY_PEERS, cell: HOLDFAST, size },
        to: { case: BY_PEERS, cell: peer, size },
        atMost: 1,
      }),
    ),
  ),
];

export default {
  about: "a workspace before and after a call, by the number of its files",
  cases,
  bars,
} satisfies Workload;
