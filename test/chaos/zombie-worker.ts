/**
 * A process with one misbehaving tool. What it says on fd 3 it has seen.
 *
 *   node zombie-worker.ts '{"path": …, "folder": …, "tool": …, "delay": …}'
 */
import { writeSync } from "node:fs";
import { createHoldfast, defineTool } from "../../src/index.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import type { Testimony } from "./ledger.ts";
import { describe } from "./workload.ts";
import { attemptAll, good, MISBEHAVIOURS, steps } from "./zombie/tools.ts";

export interface ZombieOrders {
  readonly path: string;
  readonly folder: string;
  readonly tool: string;
  readonly delay: number;
}

const orders = JSON.parse(process.argv[2] ?? "{}") as ZombieOrders;
const say = (testimony: Testimony) => writeSync(3, `${JSON.stringify(testimony)}\n`);
const counts = { attempted: 0, refused: 0 };

async function work(): Promise<void> {
  const { path, folder, tool, delay } = orders;
  const misbehaviour = MISBEHAVIOURS[tool];
  if (misbehaviour === undefined) throw new TypeError(`no misbehaviour ${tool}`);
  const mischief = {
    delay,
    folder,
    attempt: (call: Parameters<typeof attemptAll>[0]) =>
      attemptAll(call, (refused) => {
        counts.attempted += 1;
        if (refused) counts.refused += 1;
      }),
    leave: (pid: number | undefined) => say({ kind: "left", pid: pid ?? 0 }),
  };
  const bad = defineTool({
    name: "bad",
    access: "write",
    effects: { none: { run: () => "never" } },
    async run(_, call) {
      call.dispatch(steps.added("bad"));
      await call.files.writeText("bad.txt", "bad");
      return misbehaviour.run(call, mischief);
    },
  });
  const hf = await createHoldfast({ store: sqlite(path), tools: [good, bad], slices: [steps], workspace: folder });
  const session = await hf.open("z");
  await session.runTool({ name: "good", input: { step: "before" } });
  say({ kind: "ready" });
  const stop = new AbortController();
  setTimeout(() => stop.abort(), delay);
  const drive =
    misbehaviour.drive ??
    (async () => {
      await session.runTool({ name: "bad", input: null }, { signal: stop.signal });
    });
  await drive(session, bad, stop);
  await session.runTool({ name: "good", input: { step: "after" } });
  await new Promise((resolve) => setTimeout(resolve, delay * 4 + 50)); // whoever is late has been by then
  await session.close();
  await hf.close();
  say({ kind: "survived", ...counts });
}

try {
  await work();
} catch (error) {
  say({ kind: "broken", what: describe(error) });
}
process.exit(0); // what a tool has left hanging must not keep it
