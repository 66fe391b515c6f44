import { expect } from "vitest";
import { expectDenied, inEveryWay, outcomes } from "../support/planning.ts";

inEveryWay(
  "[MODE-2] of a tool of several actions only those that read are offered, and run",
  async ({ session, turn, files, requests }) => {
    await session.setMode("plan");
    const calls = ["read", "write", "WRITE", undefined].map((action) => ({
      name: "unified_file",
      input: action === undefined ? {} : { action },
    }));
    const ended = outcomes(await turn([{ calls }, { text: "ok" }]));
    expect(ended.filter(({ ok }) => ok).map(({ output }) => output)).toEqual(["read"]);
    for (const denied of ended.filter(({ ok }) => !ok)) expectDenied(denied, /its action can be read/);
    expect(JSON.stringify(requests[0]?.tools?.find(({ name }) => name === "unified_file"))).not.toContain('"write"');
    expect(await files()).toEqual([]);
  },
);

inEveryWay(
  "[MODE-2] an action that the tool's own schema fills in counts as what it is",
  async ({ session, tool, turn, files }) => {
    const validate = (value: unknown) => ({ value: { action: "write", ...(value as object) } });
    await session.catalog.add([
      tool({
        name: "defaulting",
        actions: { field: "action", access: { read: "read", write: "write" } },
        input: { "~standard": { version: 1, vendor: "test", validate } },
      }),
    ]);
    await session.setMode("plan");
    const [outcome] = outcomes(await turn([{ calls: [{ name: "defaulting", input: {} }] }, { text: "ok" }]));
    expectDenied(outcome, /its action can be read/);
    expect(await files()).toEqual([]);
  },
);
