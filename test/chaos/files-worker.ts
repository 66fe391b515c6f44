/**
 * A real process that commits and rewinds calls with files until it is killed.
 *
 *   node files-worker.ts '{"root": …, "store": …, "seed": …}'
 */
import { writeSync } from "node:fs";
import { SeededRandom } from "../../src/index.ts";
import { type FilesPlace, openFiles, reached } from "./files-model.ts";
import type { Testimony } from "./ledger.ts";

const ACKS = 3;
const { seed, ...place } = JSON.parse(process.argv[2] ?? "{}") as FilesPlace & { readonly seed: string };

function say(testimony: Testimony): void {
  writeSync(ACKS, `${JSON.stringify(testimony)}\n`);
}

async function work(): Promise<never> {
  const random = new SeededRandom(seed);
  const { session } = await openFiles(place);
  const now = () => session.state.session.get(reached);
  say({ kind: "reached", n: now() });
  say({ kind: "ready" });
  for (;;) {
    const last = session.checkpoints.list().findLast(({ rewound, status }) => !rewound && status === "success");
    const back = random.below(6) === 0 && last !== undefined && now() > 0;
    const n = back ? now() - 1 : now() + 1;
    say({ kind: "aiming", n });
    if (back) {
      const { files } = await session.rewind({ before: last.callId });
      if ((files?.kept.length ?? 0) + (files?.unlike.length ?? 0) > 0)
        say({ kind: "broken", what: `a rewind kept ${JSON.stringify(files)}` });
    } else {
      const { ok, output } = await session.runTool({ name: "step", input: { n } });
      if (!ok) say({ kind: "broken", what: `call ${n} failed: ${JSON.stringify(output)}` });
    }
    if (now() === n) say({ kind: "reached", n });
    else say({ kind: "broken", what: `aimed at ${n}, and the session says ${now()}` });
  }
}

work().catch((error: unknown) => {
  say({ kind: "broken", what: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  process.exit(1);
});
