import { expect } from "vitest";
import { kernel } from "../support/durable.ts";
import { expectDenied, inEveryWay, outcomes } from "../support/planning.ts";
import { collect } from "../support/stores.ts";

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
