import { expect, test } from "vitest";
import { Plan } from "../state/default-slices.ts";
import { opened } from "../../test/support/durable.ts";
import { scripted, watch } from "../../test/support/loop.ts";
import { MemoryDisk } from "../../test/support/stores.ts";
import { defineTool } from "../transaction/tool.ts";
import { planTool } from "./plan-tool.ts";

const plan = (...statuses: readonly ("todo" | "doing" | "done")[]) => ({
  objective: "tidy up",
  steps: statuses.map((status, at) => ({ title: `step ${at + 1}`, status })),
});
const OPTIONS = { tools: [planTool] };

test("[TOOL-15] the plan is state, and stands in the next request while it is active", async () => {
  const { session } = await opened(undefined, OPTIONS);
  const requests: string[] = [];
  const model = scripted([{ calls: [{ name: "plan", input: plan("doing", "todo") }] }, { text: "on it" }]);
  const watching: typeof model = {
    ...model,
    ask: (request, how) => {
      requests.push(JSON.stringify(request.items));
      return model.ask(request, how);
    },
  };
  await watch(session.run("go", { model: watching }));
  expect(session.state.session.latest(Plan)).toEqual({ ...plan("doing", "todo"), status: "active" });
  expect(requests[0]).not.toContain("tidy up");
  expect(requests[1]).toContain("tidy up");
});

test("[TOOL-15] it survives a reopening, goes back with a rewind, and goes with a call that fails", async () => {
  const disk = new MemoryDisk();
  const { session } = await opened(disk, OPTIONS);
  await session.runTool({ name: "plan", input: plan("todo") });
  const { callId, output } = await session.runTool({ name: "plan", input: { ...plan("done"), status: "done" } });
  expect(output).toBe("The plan is done: 1 of 1 steps done.");
  await session.close();
  const planner = defineTool({
    name: "planner",
    access: "write",
    run: async (_, call) => {
      await call.run({ name: "plan", input: plan("doing") });
      return call.fail("no", "no");
    },
  });
  const { session: again } = await opened(disk, { tools: [planTool, planner] });
  expect(again.state.session.latest(Plan)?.status).toBe("done");
  await again.runTool({ name: "planner", input: {} });
  expect(again.state.session.latest(Plan)?.status).toBe("done");
  await again.rewind({ before: callId });
  expect(again.state.session.latest(Plan)).toEqual({ ...plan("todo"), status: "active" });
});

test("[TOOL-15] in plan mode it is offered and runs", async () => {
  const { session } = await opened(undefined, OPTIONS);
  await session.setMode("plan");
  expect(session.catalog.snapshot().activeNames).toContain("plan");
  expect((await session.runTool({ name: "plan", input: plan("todo") })).ok).toBe(true);
});

test.each([
  [{}, "objective: must be a string"],
  [{ objective: "x", status: "maybe" }, "status: must be one of active, done, abandoned"],
  [{ objective: "x", steps: [{ title: "a", status: "later" }] }, "steps[0]: must be { title, status }"],
  [{ objective: "x", steps: "none" }, "steps: must be a list"],
])("[TOOL-15] %j is refused with what would do", async (input, words) => {
  const { session } = await opened(undefined, OPTIONS);
  const outcome = await session.runTool({ name: "plan", input });
  expect(outcome).toMatchObject({ ok: false, reason: "bad-arguments" });
  expect(outcome.output).toContain(words);
});
