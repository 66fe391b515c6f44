import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Model, ModelRequest } from "../contracts/model.ts";
import type { Script, ScriptStep } from "../records/script.ts";
import { defineTool } from "../transaction/tool.ts";
import { hanging, quiet } from "../../test/support/calls.ts";
import { kernel, look, opened, OPTIONS, run, step } from "../../test/support/durable.ts";
import { scripted, watch } from "../../test/support/loop.ts";
import { outcomes } from "../../test/support/planning.ts";
import { between, collect, MemoryDisk, memoryDeps } from "../../test/support/stores.ts";
import { freshRoot, inWorkspace } from "../../test/support/workspaces.ts";
import { Plan } from "../state/default-slices.ts";
import { askUser } from "./ask-user.ts";
import { Holdfast } from "./holdfast.ts";
import { planTool } from "./plan-tool.ts";
import type { SessionOptions } from "./holdfast-options.ts";
import type { SubAgent } from "./sub-agent.ts";

const usage = { input: 10, output: 5 };
const delegates = (...tasks: readonly string[]): ScriptStep => ({
  calls: tasks.map((task) => ({ name: "helper", input: { task } })),
  usage,
});
const steps = (...names: readonly string[]): ScriptStep => ({
  calls: names.map((n) => ({ name: "step", input: { n } })),
  usage,
});

/** A session whose model may call a helper that says this. */
async function withHelper(
  says: Script,
  more: Partial<SubAgent> = {},
  options: SessionOptions = {},
  disk = new MemoryDisk(),
) {
  const requests: ModelRequest[] = [];
  const inner = scripted(says);
  const model: Model = {
    ...inner,
    ask: (request, how) => {
      requests.push(request);
      return inner.ask(request, how);
    },
  };
  const helper: SubAgent = { name: "helper", description: "Helps.", model, ...more };
  const one = await opened(disk, { tools: [step], ...options, agents: [helper] });
  return { ...one, requests, helper };
}

/** A process that dies when it has written this. */
function dyingAfter(what: string, disk: MemoryDisk, options: SessionOptions) {
  const { store, ...rest } = memoryDeps(disk);
  let dead = false;
  const dying = between(store, {
    before: () => {
      if (dead) throw new Error("gone");
      return undefined;
    },
    after: (batch) => {
      dead ||= JSON.stringify(batch).includes(what);
    },
  });
  return { holdfast: new Holdfast({ ...rest, store: dying }, options), store };
}

/** What is left to open again of a process that died in the middle of a rewind of a session with a child. */
async function diedRewinding() {
  const disk = new MemoryDisk();
  const helper = { name: "helper", description: "", model: scripted([steps("a"), { text: "done" }]) };
  const options = { ...OPTIONS, agents: [helper] };
  const { holdfast, store } = dyingAfter('"rewound"', disk, options);
  const session = await holdfast.open("s");
  const { callId } = await session.runTool({ name: "helper", input: { task: "t" } });
  await session.rewind({ before: callId }).catch(() => {});
  await store.close();
  return { disk, options, callId };
}

/** The one child there is. */
async function childOf(holdfast: { sessions(): AsyncIterable<{ readonly id: string }> }): Promise<string> {
  const ids = (await collect(holdfast.sessions())).map(({ id }) => id);
  return ids.find((id) => id.startsWith("s.agent-")) ?? "";
}

describe("a task", () => {
  test("[AGENT-1] is worked on in a session of its own, and its last words are the result", async () => {
    const { session, holdfast, requests } = await withHelper([steps("inner"), { text: "All done.", usage }]);
    const model = scripted([delegates("tidy up"), { text: "It is tidy." }]);
    const watched = await watch(session.run("go", { model }));
    expect(watched.end).toMatchObject({ status: "done", text: "It is tidy." });
    expect(outcomes(watched)[0]).toMatchObject({ ok: true, output: "All done." });
    expect(watched.events).toContainEqual(expect.objectContaining({ kind: "call-progress", text: "step\n" }));
    expect(JSON.stringify(requests[0]?.items)).toContain("tidy up");
    expect(JSON.stringify(requests[0]?.items)).not.toContain('"go"');
    await using child = await holdfast.open(await childOf(holdfast));
    expect((await look(child)).steps).toEqual(["inner"]);
    expect((await look(session)).steps).toEqual([]);
  });

  test("[PAGE-20] is the agent's plan in every request, until it writes one", async () => {
    const ownPlan = { name: "plan", input: { objective: "Sweep first.", steps: [] } };
    const { session, requests } = await withHelper(
      [steps("inner"), { calls: [ownPlan] }, { text: "All done." }],
      undefined,
      {
        tools: [step, planTool],
      },
    );
    const task = `tidy up the shed\n${"and more ".repeat(200)}`;
    await watch(session.run("go", { model: scripted([delegates(task), { text: "It is tidy." }]) }));
    const shown = requests.map(({ items }) => /Goal: ([^\\"]*)/.exec(JSON.stringify(items))?.[1]);
    expect(shown).toEqual(["tidy up the shed", "tidy up the shed", "Sweep first."]);
    expect(session.state.session.latest(Plan)).toBeUndefined();
  });

  test("[RECORD-10] [RECORD-1] in its parent's history the agent is the one who spoke", async () => {
    const { session } = await withHelper([{ text: "All done." }]);
    await run(session, "before");
    await watch(session.run("go", { model: scripted([delegates("tidy up"), { text: "It is tidy." }]) }));
    const records = await session.callRecords();
    expect(records.map(({ speaker, method_name, trace_id }) => [speaker, method_name, trace_id !== undefined])).toEqual(
      [
        ["tool", "step", false],
        ["user", "run", true],
        ["agent", "helper", true],
      ],
    );
    expect(new Set(records.slice(1).map(({ trace_id }) => trace_id)).size).toBe(1);
  });

  test("[AGENT-1] it has the tools it was given, and never a further sub-agent or somebody to ask", async () => {
    const extra = defineTool({ name: "extra", access: "read", run: () => "x" });
    const all = await withHelper([{ text: "ok" }], {}, { tools: [step, extra, askUser] });
    await watch(all.session.run("go", { model: scripted([delegates("t"), { text: "ok" }]) }));
    expect(all.requests[0]?.tools?.map(({ name }) => name)).toEqual(["extra", "recall", "step"]);
    const some = await withHelper(
      [{ text: "ok" }],
      { tools: ["extra"], instructions: "Be brief." },
      { tools: [step, extra] },
    );
    await watch(some.session.run("go", { model: scripted([delegates("t"), { text: "ok" }]) }));
    expect(some.requests[0]?.tools?.map(({ name }) => name)).toEqual(["extra", "recall"]);
    expect(JSON.stringify(some.requests[0]?.items)).toContain("Be brief.");
  });

  test("[AGENT-1] [AGENT-10] a tool that the session does not have is told by its name, to the model and in the journal", async () => {
    const { session } = await withHelper([{ text: "ok" }], { tools: ["nothing"] });
    const outcome = await session.runTool({ name: "helper", input: { task: "t" } });
    expect(outcome).toMatchObject({ ok: false, reason: "BAD_OPTION" });
    const faults = (await collect(session.read())).filter(({ kind }) => kind === "fault-raised");
    expect(faults).toMatchObject([{ fault: "agent-tools-unknown", detail: { agent: "helper", tools: ["nothing"] } }]);
    expect(outcome.output).toContain("agents.helper.tools");
    expect(outcome.output).toContain("tools that the session has: step");
  });

  test("[AGENT-1] several work at once, each for itself", async () => {
    const { session, holdfast } = await withHelper((request) => ({
      text: `did ${JSON.stringify(request).includes("one") ? 1 : 2}`,
    }));
    const watched = await watch(session.run("go", { model: scripted([delegates("one", "two"), { text: "ok" }]) }));
    expect(outcomes(watched).map(({ ok }) => ok)).toEqual([true, true]);
    expect((await collect(holdfast.sessions())).filter(({ id }) => id.includes("agent"))).toHaveLength(2);
  });
});

describe("a call that is discarded", () => {
  test("[AGENT-2] takes the sub-agent's work with it, in the folder, too", async () => {
    const at = freshRoot();
    const seen: boolean[] = [];
    const write = defineTool({
      name: "step",
      access: "write",
      run: (_, call) => call.files.writeText("a.txt", "below"),
    });
    const helper: SubAgent = { name: "helper", description: "", model: scripted([steps("a"), { text: "done" }]) };
    const wrapper = defineTool<{ readonly task: string }>({
      name: "wrapper",
      access: "write",
      run: async (input, call) => {
        const inner = await call.run({ name: "helper", input });
        seen.push(existsSync(join(at.root, "a.txt")));
        return call.fail("no", `after ${JSON.stringify(inner.output)}`);
      },
    });
    const { session, holdfast } = await inWorkspace({ tools: [write, wrapper], agents: [helper] }, at);
    const outcome = await session.runTool({ name: "wrapper", input: { task: "t" } });
    expect(outcome).toMatchObject({ ok: false, reason: "no" });
    expect(outcome.output).toContain('after "done"');
    seen.push(existsSync(join(at.root, "a.txt")));
    expect(seen).toEqual([true, false]); // it was committed for real, and taken back
    await session.close();
    await holdfast.close();
  });

  test("[AGENT-2] one that succeeds leaves it in the folder of the session", async () => {
    const at = freshRoot();
    const write = defineTool({
      name: "step",
      access: "write",
      run: (_, call) => call.files.writeText("a.txt", "from below"),
    });
    const helper: SubAgent = { name: "helper", description: "", model: scripted([steps("a"), { text: "done" }]) };
    const { session, holdfast, root } = await inWorkspace({ tools: [write], agents: [helper] }, at);
    expect((await session.runTool({ name: "helper", input: { task: "t" } })).ok).toBe(true);
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("from below");
    expect(await session.files.readText("a.txt")).toBe("from below");
    await session.close();
    await holdfast.close();
  });

  test.each<readonly [string, Script, Partial<SubAgent>, string, RegExp]>([
    [
      "meets its bound",
      [steps("a"), steps("b"), { text: "x" }],
      { limits: { steps: 1 } },
      "agent-limit",
      /limit of steps/,
    ],
    ["is cut off", [steps("a"), { text: "half", stop: "length" }], {}, "agent-stopped", /length.*said last: half/s],
    ["gets no answer", [steps("a"), { fault: "not-allowed" }], {}, "agent-failed", /did not answer/],
  ])("[AGENT-2] [AGENT-3] a sub-agent that %s has failed, and did nothing", async (_, says, more, reason, words) => {
    const { session, holdfast } = await withHelper(says, more);
    const outcome = await session.runTool({ name: "helper", input: { task: "t" } });
    expect(outcome).toMatchObject({ ok: false, reason });
    expect(outcome.output).toMatch(words);
    await using child = await holdfast.open(await childOf(holdfast));
    expect(await look(child)).toMatchObject({ steps: [], counter: 0, files: [] });
  });

  test("[AGENT-2] [AGENT-6] a stop reaches it, and what it had done goes", async () => {
    const { tool: hangs, reached } = hanging("hangs");
    const says = [steps("a"), { calls: [{ name: "hangs", input: {} }] }];
    const { session, holdfast } = await withHelper(says, {}, { tools: [step, hangs] });
    const stop = new AbortController();
    const turn = watch(session.run("go", { model: scripted([delegates("t"), { text: "x" }]), signal: stop.signal }));
    await reached;
    stop.abort();
    const { end } = await turn;
    expect(end.status).toBe("aborted");
    await using child = await holdfast.open(await childOf(holdfast));
    expect((await look(child)).steps).toEqual([]);
  });

  test("[AGENT-6] a stop that comes while its session is being opened leaves nobody who holds that", async () => {
    const { store, ...deps } = memoryDeps();
    const stop = new AbortController();
    const over = Promise.withResolvers<undefined>();
    const slow = between(store, {
      before: async (batch) => {
        if (stop.signal.aborted || !JSON.stringify(batch).includes("s.agent-")) return undefined;
        stop.abort();
        return over.promise;
      },
    });
    const agents = [{ name: "helper", description: "Helps.", model: scripted([]) }];
    const holdfast = new Holdfast({ ...deps, store: slow }, { ...OPTIONS, agents });
    const session = await holdfast.open("s");
    const { end } = await watch(session.run("go", { model: scripted([delegates("t")]), signal: stop.signal }));
    expect(end.status).toBe("aborted");
    over.resolve(undefined);
    await quiet();
    expect((await holdfast.look(await childOf(holdfast))).writer).toBe("closed");
  });

  test("[AGENT-11] its own journal has the turn to its end, also when it was stopped", async () => {
    const { tool: hang, reached } = hanging("hang", "write");
    const one = await withHelper([{ calls: [{ name: "hang", input: {} }] }], {}, { tools: [hang] });
    const turn = watch(one.session.run("go", { model: scripted([delegates("wait")]) }));
    await reached;
    await one.session.close();
    expect((await turn).end.status).toBe("aborted");
    const told = await Promise.all(
      [await childOf(one.holdfast), "s"].map(async (id) => collect((await one.holdfast.look(id)).read())),
    );
    for (const entries of told) expect(entries.map(({ kind }) => kind)).toContain("turn-ended");
    expect(JSON.stringify(told)).not.toMatch(/JOURNAL_CLOSED|CALL_CLOSED/);
  });

  test.each<readonly [string, Script, Partial<SubAgent>, string]>([
    ["stops without an end", [{ text: "half", stop: "length" }], {}, "stopped without finishing"],
    ["cannot be asked", [{ fault: "not-allowed" }], {}, "did not answer"],
    ["meets its bound", [steps("a"), steps("b")], { limits: { steps: 1 } }, "reached its limit of steps"],
  ])("[AGENT-3] one that %s is told as that, and what it did goes", async (_, says, more, words) => {
    const { session } = await withHelper(says, more);
    const { end } = await watch(session.run("go", { model: scripted([delegates("tidy up"), { text: "ok" }]) }));
    expect(end).toMatchObject({ status: "done" });
    const outputs = JSON.stringify((await session.conversation()).filter(({ kind }) => kind === "output"));
    expect(outputs).toContain(words);
    expect((await look(session)).steps).toEqual([]);
    await session.close();
  });

  test("[AGENT-1] a task that is none is refused", async () => {
    const { session } = await withHelper([{ text: "ok" }]);
    expect((await session.runTool({ name: "helper", input: { task: " " } })).reason).toBe("bad-arguments");
  });
});

describe("what it shares", () => {
  test("[AGENT-4] plan mode: it can be called, and changes nothing", async () => {
    const { session, requests, holdfast } = await withHelper([steps("a"), { text: "could not" }]);
    await session.setMode("plan");
    const watched = await watch(session.run("go", { model: scripted([delegates("t"), { text: "ok" }]) }));
    expect(outcomes(watched)[0]).toMatchObject({ ok: true, output: "could not" });
    expect(requests[0]?.tools?.map(({ name }) => name)).toEqual(["recall"]);
    await using child = await holdfast.open(await childOf(holdfast));
    expect(child.mode).toBe("plan");
    expect((await look(child)).steps).toEqual([]);
  });

  test("[AGENT-4] a flip while it works reaches it", async () => {
    const flipped = Promise.withResolvers<void>();
    const waits = defineTool({ name: "waits", access: "read", run: () => flipped.promise });
    const says = [{ calls: [{ name: "waits", input: {} }] }, steps("late"), { text: "ok" }];
    const { session, holdfast } = await withHelper(says, {}, { tools: [step, waits] });
    for await (const event of session.run("go", { model: scripted([delegates("t"), { text: "ok" }]) })) {
      if (event.kind !== "call-progress") continue;
      await session.setMode("plan");
      flipped.resolve();
    }
    await using child = await holdfast.open(await childOf(holdfast));
    expect((await look(child)).steps).toEqual([]);
  });

  test("[AGENT-5] tokens: what it spends counts in the turn that called it", async () => {
    const { session } = await withHelper([steps("a"), { text: "ok", usage }]);
    const model = scripted([delegates("t"), { text: "ok", usage }]);
    const { end } = await watch(session.run("go", { model }));
    expect(end.spent).toMatchObject({ steps: 2, input: 40, output: 20 });
  });

  test("[AGENT-5] the turn's bound ends it, also when several spend at once", async () => {
    const { session } = await withHelper(() => steps("a"));
    const model = scripted([delegates("one", "two"), { text: "ok", usage }]);
    const watched = await watch(session.run("go", { model, limits: { tokens: 100 } }));
    expect(outcomes(watched).map(({ reason }) => reason)).toEqual(["agent-limit", "agent-limit"]);
    expect(watched.end).toMatchObject({ status: "limit", limit: "tokens" });
    const { input, output } = watched.end.spent;
    expect(input + output).toBeLessThanOrEqual(100 + 2 * 15);
  });

  test("[AGENT-5] money and prices are the turn's", async () => {
    const { session } = await withHelper(() => steps("a"));
    const price = () => 1;
    const limits = { cost: 4, price };
    const watched = await watch(
      session.run("go", { model: scripted([delegates("t"), { text: "ok", usage }]), limits }),
    );
    expect(outcomes(watched)[0]?.reason).toBe("agent-limit");
    expect(watched.end.spent.cost).toBe(4);
  });

  test("[AGENT-6] consent is asked of whoever the turn asks", async () => {
    const asked: string[] = [];
    const careful = defineTool({ name: "careful", access: "read", approval: true, run: () => "did it" });
    const says = [{ calls: [{ name: "careful", input: {} }] }, { text: "ok" }];
    const { session } = await withHelper(says, {}, { tools: [careful] });
    const ask = async ({ tool }: { readonly tool: string }) => {
      asked.push(tool);
      return { approve: true } as const;
    };
    const watched = await watch(session.run("go", { model: scripted([delegates("t"), { text: "ok" }]), ask }));
    expect(outcomes(watched)[0]).toMatchObject({ ok: true, output: "ok" });
    expect(asked).toEqual(["careful"]);
    const { session: alone } = await withHelper(says, {}, { tools: [careful] });
    const outcome = await alone.runTool({ name: "helper", input: { task: "t" } });
    expect(outcome).toMatchObject({ ok: false, reason: "agent-waiting" });
    expect(outcome.output).toContain("consent for careful");
  });
});

describe("going back", () => {
  test("[AGENT-7] a rewind takes its work back, as its dry run says", async () => {
    const at = freshRoot();
    const write = defineTool({
      name: "step",
      access: "write",
      run: (_, call) => call.files.writeText("a.txt", "below"),
    });
    const helper: SubAgent = { name: "helper", description: "", model: scripted([steps("a"), { text: "done" }]) };
    const { session, holdfast, root } = await inWorkspace({ tools: [write], agents: [helper] }, at);
    const { callId } = await session.runTool({ name: "helper", input: { task: "t" } });
    const plan = await session.rewind({ before: callId, dryRun: true });
    expect(plan.agents).toMatchObject([{ callId, rewound: { done: false, calls: [expect.any(String)] } }]);
    expect(existsSync(join(root, "a.txt"))).toBe(true);
    const report = await session.rewind({ before: callId });
    expect(report.agents).toMatchObject([{ callId, rewound: { done: true } }]);
    expect(existsSync(join(root, "a.txt"))).toBe(false);
    await session.close();
    await holdfast.close();
  });

  test("[AGENT-7] what a rewind of the state left of its files, a rewind of the files takes back, once", async () => {
    const { session, holdfast } = await withHelper([steps("a"), { text: "done" }, steps("b"), { text: "done" }]);
    const first = await run(session, "first");
    const delegate = async () => (await session.runTool({ name: "helper", input: { task: "t" } })).callId;
    const callId = await delegate();
    const state = ["state", "conversation"] as const;
    expect((await session.rewind({ before: callId, scope: state })).agents).toBeUndefined();
    const files = { after: first, scope: "files" } as const;
    const done = { callId, rewound: { calls: [expect.any(String)] } };
    expect((await session.rewind({ ...files, dryRun: true })).agents).toMatchObject([done]);
    expect((await session.rewind(files)).agents).toMatchObject([done]);
    expect((await (await holdfast.look(await childOf(holdfast))).state())["steps"]).toEqual([]);
    const second = await delegate();
    expect((await session.rewind({ after: first })).agents).toMatchObject([{ callId: second }]);
  });

  test("[AGENT-7] a rewind of the conversation alone leaves its files", async () => {
    const { session } = await withHelper([steps("a"), { text: "done" }]);
    const { callId } = await session.runTool({ name: "helper", input: { task: "t" } });
    expect(await session.rewind({ before: callId, scope: "conversation" })).not.toHaveProperty("agents");
  });

  test("[AGENT-7] a fork takes back nothing of the origin's, and makes no session to look for it", async () => {
    const { session, holdfast } = await withHelper([steps("a"), { text: "done" }]);
    const { callId } = await session.runTool({ name: "helper", input: { task: "t" } });
    await using fork = await session.fork({ after: callId, as: "fork" });
    const before = await collect(holdfast.sessions());
    expect(await fork.rewind({ before: callId })).not.toHaveProperty("agents");
    expect(await collect(holdfast.sessions())).toHaveLength(before.length);
    await using child = await holdfast.open(await childOf(holdfast));
    expect((await look(child)).steps).toEqual(["a"]);
  });

  test("[AGENT-7] a sub-agent that is no longer among the agents is taken back all the same", async () => {
    const disk = new MemoryDisk();
    const { session, holdfast } = await withHelper([steps("a"), { text: "done" }], {}, {}, disk);
    const { callId } = await session.runTool({ name: "helper", input: { task: "t" } });
    const id = await childOf(holdfast);
    await session.close();
    const { holdfast: next } = kernel(disk);
    await using again = await next.open("s");
    expect((await again.rewind({ before: callId })).agents).toMatchObject([
      { callId, session: id, rewound: { done: true } },
    ]);
    await using child = await next.open(id);
    expect((await look(child)).steps).toEqual([]);
  });

  test("[AGENT-7] all of it is taken back, however few boundaries a session keeps", async () => {
    const says = [steps("a"), steps("b"), steps("c"), steps("d"), { text: "done" }];
    const { session, holdfast } = await withHelper(says, {}, { checkpoints: { limit: 2 } });
    const { callId } = await session.runTool({ name: "helper", input: { task: "t" } });
    const { agents = [] } = await session.rewind({ before: callId });
    expect(agents.map(({ rewound, why }) => [rewound?.calls.length, why])).toEqual([[4, undefined]]);
    await using child = await holdfast.open(await childOf(holdfast));
    expect(await look(child)).toMatchObject({ steps: [], files: [] });
  });

  test("[AGENT-7] where its beginning is no longer kept, what is left is told", async () => {
    const { session, holdfast } = await withHelper([steps("a"), steps("b"), { text: "done" }]);
    const { callId } = await session.runTool({ name: "helper", input: { task: "t" } });
    const id = await childOf(holdfast);
    const child = await holdfast.open(id);
    await child.checkpoint();
    await holdfast.retain(child, { records: 1 });
    await run(child, "c");
    await child.close();
    const { agents = [] } = await session.rewind({ before: callId });
    expect(agents).toMatchObject([{ callId, session: id, why: expect.stringContaining("no longer kept") }]);
  });

  test("[AGENT-12] after a crash in the middle of a rewind, by the next opening, once", async () => {
    const { disk, options, callId } = await diedRewinding();
    const { holdfast: next, deps } = kernel(disk, options);
    await next.open("s");
    const id = await childOf(next);
    const child = await next.open(id);
    expect(await look(child)).toMatchObject({ steps: [], files: [] });
    await run(child, "b");
    await deps.store.close();
    const last = kernel(disk, options).holdfast;
    const again = await last.open("s");
    const told = (await collect(again.read())).filter(({ kind }) => kind === "agents-returned");
    expect(told).toMatchObject([{ calls: [callId] }]);
    expect((await look(await last.open(id))).steps).toEqual(["b"]);
  });

  test("[AGENT-12] after a crash in the middle of an opening after a crash, by the next one", async () => {
    const disk = new MemoryDisk();
    const { tool: hangs, reached } = hanging("hangs");
    const says = [steps("a"), { calls: [{ name: "hangs", input: {} }] }];
    const { session, deps, helper } = await withHelper(says, {}, { tools: [step, hangs] }, disk);
    void session.runTool({ name: "helper", input: { task: "t" } }).catch(() => {});
    await reached;
    await deps.store.close(); // the process is gone
    const options = { ...OPTIONS, tools: [step, hangs], agents: [helper] };
    const { holdfast, store } = dyingAfter('"session-recovered"', disk, options);
    await holdfast.open("s").catch(() => {});
    await store.close(); // and so is the next
    const last = kernel(disk, options).holdfast;
    expect((await last.open("s")).recovered.closedCalls).toEqual([]);
    expect((await look(await last.open(await childOf(last)))).steps).toEqual([]);
  });

  test("[AGENT-12] no session is made to look for work that somebody has deleted meanwhile", async () => {
    const { disk, options, callId } = await diedRewinding();
    const { holdfast: next } = kernel(disk, options);
    await next.delete(await childOf(next));
    const again = await next.open("s");
    expect((await collect(next.sessions())).map(({ id }) => id)).toEqual(["s"]);
    expect((await collect(again.read())).at(-1)).toMatchObject({ kind: "agents-returned", calls: [callId] });
  });

  test("[AGENT-7] of one that had done nothing there is nothing to take back", async () => {
    const { session, holdfast } = await withHelper([{ text: "done" }]);
    const { callId } = await session.runTool({ name: "helper", input: { task: "t" } });
    const { agents = [] } = await session.rewind({ before: callId });
    expect(agents).toEqual([{ callId, session: await childOf(holdfast) }]);
  });

  test("[AGENT-7] also of a call that ended while the rewind had still to begin", async () => {
    const { session, holdfast } = await withHelper([steps("a"), { text: "done" }]);
    const first = await run(session, "first");
    const { checkpoints } = session;
    const snapshot = checkpoints.snapshot.bind(checkpoints);
    checkpoints.snapshot = async (...at) => {
      await session.runTool({ name: "helper", input: { task: "t" } });
      return snapshot(...at);
    };
    const { calls, agents = [] } = await session.rewind({ before: first });
    expect([calls.length, agents.map(({ rewound }) => rewound?.done)]).toEqual([2, [true]]);
    expect((await look(await holdfast.open(await childOf(holdfast)))).steps).toEqual([]);
  });

  test("[AGENT-8] after a crash, also more of them than a session keeps boundaries", async () => {
    const disk = new MemoryDisk();
    const hang = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let hanging = 0;
    const hangs = defineTool({
      name: "hangs",
      access: "read",
      run: () => {
        hang[hanging]?.resolve();
        hanging += 1;
        return new Promise(() => {});
      },
    });
    const says = [steps("a"), { calls: [{ name: "hangs", input: {} }] }];
    const options = { tools: [step, hangs], checkpoints: { limit: 2 } };
    const helper: SubAgent = {
      name: "helper",
      description: "Helps.",
      get model() {
        return scripted(says);
      },
    };
    const { session, deps } = await opened(disk, { ...options, agents: [helper] });
    for (const task of ["1", "2", "3"]) void session.runTool({ name: "helper", input: { task } }).catch(() => {});
    await Promise.all(hang.map(({ promise }) => promise));
    await deps.store.close(); // the process is gone
    const { holdfast: next } = kernel(disk, { ...options, agents: [helper] });
    await using again = await next.open("s");
    expect(again.recovered.closedCalls).toHaveLength(3);
    for (const { id } of await collect(next.sessions())) {
      if (!id.includes(".agent-")) continue;
      await using child = await next.open(id);
      expect((await look(child)).steps).toEqual([]);
    }
  });

  test("[AGENT-8] after a crash in the middle, opening the session takes it back", async () => {
    const disk = new MemoryDisk();
    const { tool: hangs, reached } = hanging("hangs");
    const says = [steps("a"), { calls: [{ name: "hangs", input: {} }] }];
    const { session, deps, holdfast, helper } = await withHelper(says, {}, { tools: [step, hangs] }, disk);
    void session.runTool({ name: "helper", input: { task: "t" } }).catch(() => {});
    await reached;
    const id = await childOf(holdfast);
    await deps.store.close(); // the process is gone
    const { holdfast: next } = kernel(disk, { tools: [step, hangs], agents: [helper] });
    const again = await next.open("s");
    expect(again.recovered.closedCalls).toHaveLength(1);
    await using child = await next.open(id);
    expect((await look(child)).steps).toEqual([]);
    expect((await collect(again.read())).filter(({ kind }) => kind === "fault-raised")).toEqual([]);
    await again.close();
    await using third = await next.open("s");
    expect(third.recovered.closedCalls).toEqual([]); // and once is enough
  });

  test("[AGENT-8] [AGENT-7] also when tools that it may use are only added after the opening", async () => {
    const disk = new MemoryDisk();
    const { tool: late, reached } = hanging("late");
    const says = [steps("kept"), { text: "Done." }, steps("lost"), { calls: [{ name: "late", input: {} }] }];
    const { session, deps, helper } = await withHelper(says, { tools: ["step", "late"] }, {}, disk);
    await session.catalog.add([late]);
    const { callId } = await session.runTool({ name: "helper", input: { task: "one" } });
    void session.runTool({ name: "helper", input: { task: "two" } }).catch(() => {});
    await reached;
    await deps.store.close(); // the process is gone
    const { holdfast: next } = kernel(disk, { tools: [step], agents: [helper] });
    const again = await next.open("s");
    expect((await collect(again.read())).filter(({ kind }) => kind === "fault-raised")).toEqual([]);
    const report = await again.rewind({ before: callId });
    expect(report.agents).toMatchObject([{ callId, rewound: { done: true } }]);
    expect(report.agents?.[0]).not.toHaveProperty("why");
    const children = (await collect(next.sessions())).map(({ id }) => id).filter((id) => id.startsWith("s.agent-"));
    expect(children).toHaveLength(2);
    for (const id of children) {
      await using child = await next.open(id);
      expect((await look(child)).steps).toEqual([]);
    }
  });

  test("[AGENT-8] one that somebody else has taken meanwhile is left to them, and that is told", async () => {
    const disk = new MemoryDisk();
    const { tool: hangs, reached } = hanging("hangs");
    const says = [steps("a"), { calls: [{ name: "hangs", input: {} }] }];
    const { session, deps, holdfast, helper } = await withHelper(says, {}, { tools: [step, hangs] }, disk);
    void session.runTool({ name: "helper", input: { task: "t" } }).catch(() => {});
    await reached;
    const id = await childOf(holdfast);
    await deps.store.close(); // the process is gone
    await using held = await kernel(disk, { tools: [step, hangs] }).holdfast.open(id);
    await using again = await kernel(disk, { tools: [step, hangs], agents: [helper] }).holdfast.open("s");
    const faults = (await collect(again.read())).filter(({ kind }) => kind === "fault-raised");
    expect(faults).toMatchObject([{ fault: "agent-not-taken-back" }]);
    expect((await look(held)).steps).toEqual(["a"]);
  });
});

describe("names", () => {
  const model = scripted([{ text: "ok" }]);
  const agent = (name: string): SubAgent => ({ name, description: "d", model });
  const named = (name: string) => defineTool({ name, access: "read", run: () => "x" });

  test.each<[string, SessionOptions, string]>([
    ["an agent like a tool", { tools: [named("helper")], agents: [agent("helper")] }, "helper"],
    ["two agents", { agents: [agent("helper"), agent("helper")] }, "helper"],
    ["an agent like a tool of the kernel", { agents: [agent("recall")] }, "recall"],
    ["two tools", { tools: [named("a"), named("b"), named("a")] }, "a"],
  ])("[AGENT-9] [CAT-9] of %s are refused", async (_, options, name) => {
    await expect(opened(undefined, options)).rejects.toMatchObject({
      code: "TOOL_NAME_TAKEN",
      details: { tool: name },
    });
  });

  test("[AGENT-9] of an agent are refused to a tool that comes later, and one tool given twice is one", async () => {
    const { session } = await opened(undefined, { tools: [step, step], agents: [agent("helper")] });
    await expect(session.catalog.add([named("helper")])).rejects.toMatchObject({ code: "TOOL_NAME_TAKEN" });
    expect(session.catalog.snapshot().activeNames).toEqual(["helper", "recall", "step"]);
  });
});
