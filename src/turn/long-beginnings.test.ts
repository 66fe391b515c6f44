import { describe, expect, test } from "vitest";
import { kernel, stagedSizes } from "../../test/support/durable.ts";
import { collect, MemoryDisk } from "../../test/support/stores.ts";
import { defineSlice } from "../state/slice.ts";
import { defineTool } from "../transaction/tool.ts";
import type { Session } from "./session.ts";

const BEGINNING = Array.from({ length: 200 }, (_, n) => `row ${n} of a table that comes with the program`);
const table = defineSlice("table", { initial: BEGINNING, on: { added: (now, row: string) => [...now, row] } });
const add = defineTool<string>({
  name: "add",
  access: "write",
  run: (row, call) => {
    call.dispatch(table.added(row));
    return "added";
  },
});
const KNOWING = { slices: [table], tools: [add] };
const STRANGE = { slices: [], tools: [] };

async function checkpoint(session: Session): Promise<string> {
  const { last } = await session.checkpoint();
  return JSON.stringify(await collect(session.read({ from: last, to: last })));
}

describe("a slice that begins with much", () => {
  test("[TURN-91] is told of once: no checkpoint says it, and the next one writes only what has changed", async () => {
    const { holdfast } = kernel(new MemoryDisk(), KNOWING);
    const session = await holdfast.open("s");
    const sizes = stagedSizes(session);
    const { length } = JSON.stringify(BEGINNING);
    for (const row of ["a", "b", "c"]) {
      await session.runTool({ name: "add", input: row });
      expect(await checkpoint(session)).not.toContain("row 7 of a table");
    }
    expect(sizes.map((size) => Math.floor(size / length))).toEqual([1, 1, 1, 1]);
    await session.close();
  });

  test("[TURN-91] is known in full to a process that does not know it, which goes on and goes back", async () => {
    const disk = new MemoryDisk();
    const first = await kernel(disk, KNOWING).holdfast.open("s");
    const { callId } = await first.runTool({ name: "add", input: "a" });
    await first.checkpoint();
    await first.runTool({ name: "add", input: "b" });
    await first.close();
    const stranger = await kernel(disk, STRANGE).holdfast.open("s");
    expect(stranger.state.root.get("table")).toEqual([...BEGINNING, "a", "b"]);
    await stranger.checkpoint();
    await stranger.rewind({ before: callId });
    expect(stranger.state.root.get("table")).toEqual(BEGINNING);
    expect(stranger.state.truth.parts.get("table")?.initial).toEqual(BEGINNING);
    expect(await checkpoint(stranger)).not.toContain("row 7 of a table");
    await stranger.close();
    const again = await kernel(disk, KNOWING).holdfast.open("s");
    expect(again.state.session.get(table)).toEqual(BEGINNING);
    await again.close();
  });
});
