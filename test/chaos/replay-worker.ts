import { readFileSync, writeSync } from "node:fs";
import { createHoldfast, SeededRandom } from "../../src/index.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import type { Plan } from "../histories/plan.ts";
import { HALF_COUNTER, live, Player } from "../histories/replay.ts";
import { refusedFor, stageFor } from "../histories/shapes.ts";
import { describe } from "./workload.ts";

/** What a worker testifies on fd 3, after it is durable and not before. */
export type ReplaySays =
  | { readonly said: "closed"; readonly callId: string; readonly status: string }
  | { readonly said: "reclaimed" | "grown" }
  | { readonly said: "refused" | "broken"; readonly what: string }
  | { readonly said: "done" };

interface Orders {
  readonly path: string;
  readonly shape: string;
  readonly seed: string;
  /** The file that holds the plan. */
  readonly plan: string;
  readonly life: number;
}

const { path, shape, seed, plan: file, life } = JSON.parse(process.argv[2] ?? "{}") as Orders;
const say = (line: ReplaySays) => writeSync(3, `${JSON.stringify(line)}\n`);

try {
  const plan = JSON.parse(readFileSync(file, "utf8")) as Plan;
  const player = new Player(new SeededRandom(`${seed} ${life}`));
  const { model, server } = await stageFor(shape, player, life * 10_000);
  let seen = 0;
  const holdfast = await createHoldfast({ store: sqlite(path), context: { counter: HALF_COUNTER } });
  const session = await live(holdfast, plan, {
    session: "replayed",
    model,
    player,
    share: 0.5,
    grown: () => say({ said: "grown" }),
    hear: (event) => {
      if (event.kind === "call-closed") say({ said: "closed", callId: event.callId, status: event.outcome.status });
      if (event.kind === "reclaimed") say({ said: "reclaimed" });
      for (const request of server.requests.slice(seen)) {
        const refused = refusedFor(request);
        if (refused !== undefined) say({ said: "refused", what: refused });
      }
      seen = server.requests.length;
    },
  });
  await session.close();
  await holdfast.close();
  await server.close();
  say({ said: "done" });
} catch (error) {
  say({ said: "broken", what: describe(error) });
  process.exit(1);
}
