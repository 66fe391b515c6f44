import { expect } from "vitest";
import type { Model } from "../../src/contracts/model.ts";
import { beforeTheEnd, expectDenied, inEveryWay, outcomes } from "../support/planning.ts";

inEveryWay(
  "[MODE-4] [A15] a tool that came after the request is not run for it, and is offered by the next",
  async ({ session, tool, turn, ran, requests }) => {
    const fresh = tool({ name: "fresh", access: "read", run: () => "here" });
    let added = false;
    const wrap = (model: Model) =>
      beforeTheEnd(model, async () => {
        if (!added) await session.catalog.add([fresh, tool({ name: "fresh_writer" })]);
        added = true;
      });
    await session.setMode("plan");
    const calls = ["fresh", "fresh_writer"].map((name) => ({ name, input: {} }));
    const ended = outcomes(await turn([{ calls }, { calls }, { text: "ok" }], { wrap }));
    expect(ended.filter(({ ok }) => ok).map(({ tool: name }) => name)).toEqual(["fresh"]);
    for (const denied of ended.filter(({ ok }) => !ok)) expectDenied(denied);
    expect(ran).toEqual(["fresh"]);
    expect(requests.map(({ tools }) => tools?.some(({ name }) => name === "fresh"))).toEqual([false, true, true]);
  },
);
