import type { PlantedBug } from "./planted-bug.ts";

const WRITEBACK = "src/turn/writeback.ts";
const BOUNDARIES = "src/turn/boundaries.ts";
const COMMIT = "src/context/writeback/commit.ts";

/** One edit, or two that belong together, by which something durable is lost; the simulator must notice. */
function lost(name: string, ...edits: readonly (readonly [file: string, find: string, replace: string])[]): PlantedBug {
  const planted = edits.map(([file, find, replace]) => ({ file, find, replace }));
  return { name, edits: planted, rig: "sim", args: ["--cases", "300"] };
}

/** Bugs of writeback and boundaries: each loses what a session knew, or says that it is kept. */
export const WRITEBACK_BUGS: readonly PlantedBug[] = [
  lost(
    "boundary-without-a-flush",
    [
      BOUNDARIES,
      "const settled = await flushed(ground, boundary);",
      "const settled: Flushed = { committed: [], rejected: [] };",
    ],
    [BOUNDARIES, "const clean = (writeback?.pending.length ?? 0) === 0;", "const clean = true;"],
  ),
  lost("boundary-does-not-look-again", [
    BOUNDARIES,
    "const clean = (writeback?.pending.length ?? 0) === 0;",
    "const clean = true;",
  ]),
  lost("committed-and-not-kept", [
    WRITEBACK,
    "const changed = plan.pages === pages ? [] : [DurableState.committed(plan.pages)];",
    "const changed: never[] = [];",
  ]),
  lost("staged-and-forgotten", [
    WRITEBACK,
    "events: [StagedWritebacks.staged(numbered), WritebackCount.reached(count + numbered.length)],",
    "events: [WritebackCount.reached(count + numbered.length)],",
  ]),
  lost("numbers-given-twice", [
    WRITEBACK,
    "events: [StagedWritebacks.staged(numbered), WritebackCount.reached(count + numbered.length)],",
    "events: [StagedWritebacks.staged(numbered), WritebackCount.reached(count)],",
  ]),
  lost("shared-in-name-only", [
    WRITEBACK,
    "const plan = await this.#ground.shelves.commit(scope, this.#stillWaiting(staged), this.#world);",
    "const plan = planCommit(staged, { ...this.#world, pages: this.pages(scope) });",
  ]),
  lost("rewound-and-committed", [
    WRITEBACK,
    "const plan = planCommit(this.#stillWaiting(staged), { ...this.#world, pages });",
    "const plan = planCommit(staged, { ...this.#world, pages });",
  ]),
  lost("append-replaces", [
    COMMIT,
    'const before = kept?.type === "list" ? kept.list : [];',
    'const before = kept?.type === "list" && op !== "append" ? kept.list : [];',
  ]),
];
