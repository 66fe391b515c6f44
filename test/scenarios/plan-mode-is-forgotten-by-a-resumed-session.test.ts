import { expect, test } from "vitest";
import { defineTool } from "../../src/index.ts";
import { kernel, opened } from "../support/durable.ts";
import { expectDenied, inEveryWay, outcomes } from "../support/planning.ts";
import { collect, MemoryDisk } from "../support/stores.ts";

inEveryWay(
  "[MODE-8] the mode survives restarts, forks and rewinds, and its epoch only rises",
  async ({ session, disk, tool, turn, files }) => {
    const [before] = outcomes(
      await turn([{ calls: [{ name: "edit_file", input: { path: "a.txt" } }] }, { text: "ok" }]),
    );
    await session.setMode("plan", "let us think");
    const { epoch } = session.catalog.state;
    const kinds = (await collect(session.read())).map((entry) => entry.kind);
    expect(kinds.slice(-3)).toEqual(["mode-changed", "catalog-changed", "state-changed"]);
    await using forked = await session.fork({ before: before?.callId ?? "", as: "forked" });
    expect(forked.mode).toBe("plan"); // the boundary was in act mode, and going on from it opens nothing
    await session.rewind({ before: before?.callId ?? "" });
    expect([session.mode, await files()]).toEqual(["plan", []]);
    await session.close();
    const again = await kernel(disk, { tools: [tool({ name: "edit_file" })] }).holdfast.open("s");
    expect([again.mode, again.catalog.state.reason]).toEqual(["plan", "let us think"]);
    expect(again.catalog.state.epoch).toBe(epoch);
    expectDenied(await again.runTool({ name: "edit_file", input: {} }));
    await again.setMode("act");
    expect(again.catalog.state.epoch).toBe(epoch + 1);
    await again.close();
  },
);

test("[MODE-8] a rewind to a moment in plan mode is in plan mode, on record, with an epoch of its own", async () => {
  const read = defineTool({ name: "read", access: "read", run: () => "read" });
  const { session, disk } = await opened(new MemoryDisk(), { tools: [read] });
  await session.setMode("plan");
  const { callId } = await session.runTool({ name: "read", input: {} });
  await session.setMode("act");
  const { epoch } = session.catalog.state;
  const head = session.journal.head.seq;
  await session.rewind({ after: callId });
  expect([session.mode, session.catalog.state.epoch]).toEqual(["plan", epoch + 1]);
  const records = await collect(session.read({ from: head + 1 }));
  expect(records.find(({ kind }) => kind === "mode-changed")).toMatchObject({ mode: "plan" });
  expect(records.find(({ kind }) => kind === "catalog-changed")).toMatchObject({ epoch: epoch + 1 });
  await session.close();
  expect((await opened(disk, { tools: [read] })).session.mode).toBe("plan");
});
