import { expect } from "vitest";
import type { ModelRequest } from "../../src/contracts/model.ts";
import { scripted } from "../support/loop.ts";
import { expectDenied, inEveryWay, outcomes } from "../support/planning.ts";

inEveryWay(
  "[MODE-7] a sub-agent of a session in plan mode is in plan mode",
  async ({ session, holdfast, tool, turn, ran }) => {
    const seen: unknown[] = [];
    const explore = tool({
      name: "explore",
      access: "read",
      run: async (_, call) => {
        await using child = await holdfast.open("child", { parent: session });
        await call.child(child);
        seen.push(child.mode, await child.runTool({ name: "edit_file", input: {} }));
        await expect(child.setMode("act")).rejects.toMatchObject({ code: "MODE_INHERITED" });
        return "explored";
      },
    });
    await session.catalog.add([explore]);
    await session.setMode("plan");
    const [outcome] = outcomes(await turn([{ calls: [{ name: "explore", input: {} }] }, { text: "ok" }]));
    expect(outcome?.ok).toBe(true);
    expect(ran).toEqual(["explore"]);
    expect(seen[0]).toBe("plan");
    expectDenied(seen[1] as never);
    await using again = await holdfast.open("child");
    expect(again.mode).toBe("plan"); // alone and reopened it stays what it was
  },
);

inEveryWay("[MODE-7] a flip of the parent reaches children that are open already", async ({ session, holdfast }) => {
  await using child = await holdfast.open("child", { parent: session });
  expect(child.mode).toBe("act");
  await session.setMode("plan");
  expectDenied(await child.runTool({ name: "edit_file", input: {} }));
  await expect(child.setMode("act")).rejects.toMatchObject({ code: "MODE_INHERITED" });
  await session.setMode("act");
  expect(child.mode).toBe("plan"); // nothing opens up by itself
  await child.setMode("act");
  expect((await child.runTool({ name: "edit_file", input: {} })).ok).toBe(true);
});

inEveryWay(
  "[MODE-7] a session that does not say whose it is inherits from the call in which it works",
  async ({ session, holdfast, tool, turn, ran }) => {
    await using elder = await holdfast.open("opened before, by somebody else".replaceAll(/[ ,]+/g, "-"));
    const seen: unknown[] = [];
    const explore = tool({
      name: "explore",
      access: "read",
      run: async () => {
        await using fresh = await holdfast.open("fresh");
        for (const helper of [fresh, elder]) {
          seen.push(helper.mode, (await helper.runTool({ name: "edit_file", input: {} })).reason);
          await expect(helper.setMode("act")).rejects.toMatchObject({ code: "MODE_INHERITED" });
        }
        return "explored";
      },
    });
    await session.catalog.add([explore]);
    await session.setMode("plan");
    await turn([{ calls: [{ name: "explore", input: {} }] }, { text: "ok" }]);
    expect(seen).toEqual(["plan", "denied", "plan", "denied"]);
    expect(ran).toEqual(["explore"]);
    expect(elder.mode).toBe("act"); // outside it is its own again
    expect((await elder.runTool({ name: "edit_file", input: {} })).ok).toBe(true);
  },
);

const asked: ModelRequest[] = [];
const inner = scripted((question) =>
  question.nth % 2 === 1
    ? { text: "I could only look." }
    : { calls: [{ name: "edit_file", input: { path: "leaked.txt" } }] },
);
const explorer = {
  name: "explorer",
  description: "Looks around.",
  model: {
    ...inner,
    ask: (request: ModelRequest, how: Parameters<typeof inner.ask>[1]) => {
      asked.push(request);
      return inner.ask(request, how);
    },
  },
};

inEveryWay(
  "[MODE-7] [AGENT-4] a sub-agent that a model calls in plan mode is offered nothing that changes files, and runs none",
  async ({ session, turn, ran, files, holdfast }) => {
    asked.length = 0;
    await session.setMode("plan");
    const [outcome] = outcomes(
      await turn([{ calls: [{ name: "explorer", input: { task: "look" } }] }, { text: "ok" }]),
    );
    expect(outcome).toMatchObject({ ok: true, output: "I could only look." });
    expect(asked[0]?.tools?.map(({ name }) => name)).not.toContain("edit_file");
    expect(asked[0]?.tools?.map(({ name }) => name)).toContain("look");
    expect(asked).toHaveLength(2); // it tried, and was told
    expect(JSON.stringify(asked[1]?.items)).toContain("Plan mode is on");
    expect(ran).toEqual([]);
    expect(await files()).toEqual([]);
    for await (const { id } of holdfast.sessions()) {
      if (!id.includes("agent")) continue;
      await using child = await holdfast.open(id);
      expect(child.mode).toBe("plan");
      expect(await child.files.list()).toEqual([]);
    }
  },
  { agents: [explorer] },
);
