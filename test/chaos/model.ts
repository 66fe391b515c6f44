import fc from "fast-check";
import { anyCommands } from "./model/commands.ts";
import { Book } from "./model/book.ts";
import { Place, removePlace } from "./model/place.ts";
import type { Rig } from "./rig.ts";
import { removeFolder, scratchFolder } from "./scratch.ts";
import { describe } from "./workload.ts";

/** At most; on average half as many. */
const COMMANDS = 120;

function commandsIn(found: readonly [Iterable<{ toString(): string }>] | null): string {
  return [...(found?.[0] ?? [])].map((command) => command.toString()).join(", ");
}

export const model: Rig = {
  about: `up to ${COMMANDS} commands through the door, on memory and SQLite at once, against a model; shrunk when they differ`,
  cases: 500,
  quickCases: 60,
  async run(tally, { cases, seed }) {
    const folder = scratchFolder("model");
    let nth = 0;
    const property = fc.asyncProperty(anyCommands(COMMANDS), async (commands) => {
      nth += 1;
      const places = [Place.onMemory(), Place.onSqlite(folder, `r${nth}`)];
      for (const place of places) await place.open();
      try {
        await fc.asyncModelRun(() => ({ model: new Book(), real: places }), commands);
        tally.count("commands", [...commands].length);
      } finally {
        for (const { hf } of places) await hf.close();
        removePlace(folder, `r${nth}`);
      }
      tally.done(`run ${nth}`, []);
    });
    const number = Number.parseInt(Buffer.from(seed).toString("hex").slice(-8), 16) | 0;
    const result = await fc.check(property, { numRuns: cases, seed: number });
    if (result.failed) {
      const { errorInstance, counterexample, counterexamplePath } = result;
      const least = `${commandsIn(counterexample)}, path ${counterexamplePath}: ${describe(errorInstance)}`;
      tally.done(`run ${nth}`, [`after ${result.numShrinks} shrinks ${least}`]);
    }
    removeFolder(folder);
  },
};
