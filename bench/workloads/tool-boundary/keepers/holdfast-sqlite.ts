import { join } from "node:path";
import { createHoldfast, SystemClock, SystemRandom, type TelemetryOptions } from "../../../../src/index.ts";
import { sqlite } from "../../../../src/stores/sqlite/entry.ts";
import type { Keeper, OpenKeeper } from "../keeper.ts";
import type { State } from "../shape.ts";
import { heard, type TracedCommit } from "../trace.ts";
import { mustSucceed, toolOver } from "./holdfast.ts";

/** The same in a durable session: what a call changed is on the disk, past the loss of power, when it returns. */
const keeper: Keeper = { pace: "fast", open: openHoldfast };
export default keeper;

/** `hear` is told of every commit. */
export async function openHoldfast(
  start: State,
  folder: string,
  hear: (commit: TracedCommit) => void = () => {},
  telemetry: TelemetryOptions = { sinks: [] },
): Promise<OpenKeeper> {
  const { slices, change, expect, read } = toolOver(start);
  const store = await sqlite(join(folder, "holdfast.db")).open({
    clock: new SystemClock(),
    random: new SystemRandom(),
  });
  let written = 0;
  const counted = heard(store, (commit) => {
    for (const size of commit) written += size;
    hear(commit);
  });
  const holdfast = await createHoldfast({ store: counted, slices, tools: [change], telemetry });
  let session = await holdfast.open("bench");
  const ids: string[] = [];
  return {
    async calls(changes, between) {
      expect(changes);
      for (const at of changes.keys()) {
        const outcome = await session.runTool({ name: "change", input: { at } });
        mustSucceed(outcome);
        ids.push(outcome.callId);
        await between();
      }
    },
    async rollback(after) {
      await session.rewind({ after: ids[after] ?? "" });
    },
    async state() {
      // As a stranger would: by opening what was closed.
      await session.close();
      session = await holdfast.open("bench");
      return read((slice) => session.state.session.get(slice));
    },
    written: () => written,
    async close() {
      await session.close();
      await holdfast.close();
    },
  };
}
