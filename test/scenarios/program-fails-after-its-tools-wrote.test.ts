import { expect, test } from "vitest";
import { quickjs } from "../../src/adapters/quickjs/entry.ts";
import { counter, steps, writes } from "../support/calls.ts";
import { opened, step } from "../support/durable.ts";
import { scripted, watch } from "../support/loop.ts";
import { MemoryDisk } from "../support/stores.ts";

// Programs of a model call several tools and fail in the middle. What came before the failure must not stay.
const mail = writes<{ readonly to: string }>("mail", async () => "sent", { access: "external" });
const OPTIONS = { tools: [step, mail], code: quickjs({ limits: { timeMs: 60_000 } }) };
const HASTY = { ...OPTIONS, code: quickjs({ limits: { timeMs: 1_000 } }) };
const code = (text: string) => ({ name: "run_code", input: { code: text } });

test("[CODE-6] tools of a program commit with it", async () => {
  const { session } = await opened(new MemoryDisk(), OPTIONS);
  const outcome = await session.runTool(code('return ["a", "b"].map((n) => tools.step({ n }))'));
  expect(outcome).toMatchObject({ ok: true, output: { result: ["a", "b"], log: [] } });
  expect(session.state.session.get(steps)).toEqual(["a", "b"]);
  expect(await session.files.exists("b.txt")).toBe(true);
  const records = await session.callRecords();
  expect(records.map(({ method_name, depth }) => [method_name, depth])).toEqual([
    ["step", 1],
    ["step", 1],
    ["run_code", 0],
  ]);
});

test.each([
  ["throws", 'throw new Error("changed my mind")', "program-threw"],
  ["never ends", "while (true) {}", "program-out-of-time"],
  ["uses up its memory", "const a = []; while (true) a.push(new Array(100000).fill(1))", "program-out-of-memory"],
])(
  "[CODE-6] a program that %s leaves nothing of what its tools did",
  async (_how, end, reason) => {
    const { session } = await opened(new MemoryDisk(), reason === "program-out-of-time" ? HASTY : OPTIONS);
    const outcome = await session.runTool(code(`tools.step({ n: "a" }); tools.step({ n: "b" }); ${end}`));
    expect(outcome).toMatchObject({ ok: false, reason });
    expect(session.state.session.get(steps)).toEqual([]);
    expect(session.state.session.get(counter)).toBe(0);
    expect(await session.files.exists("a.txt")).toBe(false);
    expect(await session.runTool(code("return 1"))).toMatchObject({ ok: true });
  },
  90_000,
);

test("[CODE-6] a tool that fails can be caught, and its own changes are undone", async () => {
  const { session } = await opened(new MemoryDisk(), OPTIONS);
  const text = 'tools.step({ n: "a" }); try { tools.step({ n: "b", fail: true }) } catch (e) { return e.message }';
  expect(await session.runTool(code(text))).toMatchObject({
    ok: true,
    output: { result: expect.stringContaining("no") },
  });
  expect(session.state.session.get(steps)).toEqual(["a"]);
});

test("[CODE-6] what could not be undone, and another program, cannot be called from one", async () => {
  const { session } = await opened(new MemoryDisk(), OPTIONS);
  const outcome = await session.runTool(code("return Object.keys(tools)"));
  expect(outcome).toMatchObject({ output: { result: expect.arrayContaining(["step"]) } });
  expect(JSON.stringify(outcome.output)).not.toMatch(/mail|run_code/);
});

test("[CODE-1] [CODE-8] a program answers what happened before from the records, and fetches what a call returned", async () => {
  const { session } = await opened(new MemoryDisk(), OPTIONS);
  const program = `
    const failed = context.conversation_history.filter((r) => r.speaker === "tool" && !r.outcome_summary.ok);
    const last = context.conversation_history.findLast((r) => r.method_name === "step" && r.outcome_summary.ok);
    return { failed: failed.map((r) => r.kwargs.n), last: context.content(last.outcome_summary.value),
      miss: context.content(99999).code, users: context.conversation_history.filter((r) => r.speaker === "user").length };`;
  const model = scripted([
    {
      calls: [
        { name: "step", input: { n: "a" } },
        { name: "step", input: { n: "b", fail: true } },
      ],
    },
    { calls: [{ name: "run_code", input: { code: program } }] },
    { text: "b failed" },
  ]);
  const { end, events } = await watch(session.run("which step failed?", { model }));
  expect(end).toMatchObject({ status: "done" });
  const ran = events.find((event) => event.kind === "call-closed" && event.outcome.tool === "run_code");
  expect(ran).toMatchObject({
    outcome: {
      output: {
        result: { failed: ["b"], last: { ok: true, value: "a" }, miss: "no-match", users: 1 },
        history: { size: 3, read: expect.any(Number) },
      },
    },
  });
});

test("[CODE-6] plan mode does not offer programs, and runs none", async () => {
  const { session } = await opened(new MemoryDisk(), OPTIONS);
  await session.setMode("plan");
  expect(await session.runTool(code("return 1"))).toMatchObject({ ok: false, reason: "denied" });
});
