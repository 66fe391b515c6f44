import { expect } from "vitest";
import { expectDenied, inEveryWay, outcomes } from "../support/planning.ts";

inEveryWay(
  "[MODE-3] a tool whose server calls it read-only is not offered and not run",
  async ({ session, turn, ran, requests }) => {
    await session.setMode("plan");
    const [outcome] = outcomes(await turn([{ calls: [{ name: "mcp_store", input: {} }] }, { text: "ok" }]));
    expect(requests[0]?.tools?.map(({ name }) => name)).not.toContain("mcp_store");
    expectDenied(outcome);
    expect(ran).toEqual([]);
  },
);
