import { expect } from "vitest";
import { expectDenied, inEveryWay } from "../support/planning.ts";
import { collect } from "../support/stores.ts";

inEveryWay(
  "[CAT-8] what is offered while somebody plans has an epoch of its own, and its calls are judged by it",
  async ({ session, holdfast, tool, turn }) => {
    await using elder = await holdfast.open("elder");
    const before = (await elder.align()).catalog;
    const seen: (typeof before)[] = [];
    const explore = tool({
      name: "explore",
      access: "read",
      run: async () => {
        seen.push((await elder.align()).catalog);
        return "explored";
      },
    });
    await session.catalog.add([explore]);
    await session.setMode("plan");
    await turn([{ calls: [{ name: "explore", input: {} }] }, { text: "ok" }]);
    const [during] = seen;
    expect([during?.mode, during?.activeNames]).toEqual(["plan", ["look", "recall", "shell", "unified_file"]]);
    expect(during?.epoch).toBe(before.epoch + 1);
    // Outside it is its own again. What was offered inside stays what it was.
    const after = (await elder.align()).catalog;
    expect([after.mode, after.epoch]).toEqual(["act", before.epoch + 2]);
    expectDenied(await elder.runTool({ name: "edit_file", input: {}, epoch: during?.epoch ?? 0 }));
    expect((await elder.runTool({ name: "edit_file", input: {}, epoch: after.epoch })).ok).toBe(true);
    const told = (await collect(elder.read())).flatMap((entry) =>
      entry.kind === "catalog-changed" ? [{ epoch: entry.epoch, hash: entry.contentHash }] : [],
    );
    expect(told.slice(-3)).toEqual(
      [before, during, after].map((one) => ({ epoch: one?.epoch, hash: one?.contentHash })),
    );
  },
);
