import { describe, expect, test } from "vitest";
import { counter, steps, writes } from "../../test/support/calls.ts";
import { opened, run, step } from "../../test/support/durable.ts";
import { quickjs } from "../../test/support/loop.ts";
import { collect, MemoryDisk } from "../../test/support/stores.ts";
import { sha256 } from "../base/hash.ts";
import type { CallId } from "../records/ids.ts";
import type { Session } from "./session.ts";

const CODE = { tools: [step], code: quickjs({ limits: { timeMs: 60_000 } }) };
const call = (session: Session, input: object) => session.runTool({ name: "run_code", input });
const COUNT = "return { n: context.conversation_history.length, input }";

async function newest(session: Session) {
  return (await session.callRecords()).at(-1);
}

describe("a program with a name", () => {
  test("[PGM-1] runs again by its name and by its digest, with other input, and leaves the same record but for the hit", async () => {
    const { session } = await opened(new MemoryDisk(), CODE);
    expect(await call(session, { code: COUNT, name: "count" })).toMatchObject({
      ok: true,
      output: { result: { n: 0 } },
    });
    const fresh = await newest(session);
    expect(fresh).toMatchObject({ program_source: `sha256:${sha256(COUNT)}`, artifact_hit: false });
    expect(await call(session, { name: "count", input: 7 })).toMatchObject({ output: { result: { n: 1, input: 7 } } });
    const again = await newest(session);
    expect(again).toMatchObject({ program_source: fresh?.program_source, artifact_hit: true, method_name: "run_code" });
    expect(Object.keys(again ?? {}).toSorted()).toEqual(Object.keys(fresh ?? {}).toSorted());
    expect(await call(session, { name: fresh?.program_source })).toMatchObject({ output: { result: { n: 2 } } });
    const source = await call(session, { code: `return context.content("${fresh?.program_source}")`, name: "source" });
    expect(source).toMatchObject({ output: { result: { ok: true, value: COUNT } } });
  });

  test("[PGM-1] one without a name is found by its digest as long as its call is kept", async () => {
    const { session } = await opened(new MemoryDisk(), CODE);
    await call(session, { code: COUNT });
    expect(await call(session, { name: `sha256:${sha256(COUNT)}` })).toMatchObject({ ok: true });
    expect(await newest(session)).toMatchObject({ artifact_hit: true });
  });

  test("[PGM-1] that nobody kept, or no name at all, is refused with what there is", async () => {
    const { session } = await opened(new MemoryDisk(), CODE);
    await call(session, { code: COUNT, name: "count" });
    expect(await call(session, { name: "cuont" })).toMatchObject({
      ok: false,
      reason: "program-unknown",
      output: expect.stringContaining("kept are count"),
    });
    expect(await call(session, { name: `sha256:${"0".repeat(64)}` })).toMatchObject({ reason: "program-unknown" });
    expect(await call(session, {})).toMatchObject({ ok: false, reason: "bad-arguments" });
    expect(await call(session, { code: "return 1", name: "../x" })).toMatchObject({ reason: "bad-arguments" });
    expect(await call(session, { code: `return 1//${"x".repeat(70_000)}`, name: "long" })).toMatchObject({
      reason: "bad-arguments",
    });
  });

  test("[PGM-2] is state: gone with a call that failed, taken back by a rewind, there after reopening and in a fork", async () => {
    const disk = new MemoryDisk();
    const { session, deps } = await opened(disk, CODE);
    expect(await call(session, { code: "throw new Error('no')", name: "bad" })).toMatchObject({ ok: false });
    expect(await call(session, { name: "bad" })).toMatchObject({ reason: "program-unknown" });
    await call(session, { code: "return 1", name: "one" });
    const { callId } = await call(session, { code: "return 2", name: "one" });
    await session.rewind({ before: callId });
    expect(await call(session, { name: "one" })).toMatchObject({ output: { result: 1 } });
    await session.close();
    await deps.store.close();
    const again = await opened(disk, CODE);
    expect(await call(again.session, { name: "one" })).toMatchObject({ output: { result: 1 } });
    const fork = await again.session.fork({ after: again.session.checkpoints.list().at(-1)!.callId, as: "fork" });
    expect(await call(fork, { name: "one" })).toMatchObject({ output: { result: 1 } });
  });

  test("[PGM-3] in which a secret was hidden is not run as something else", async () => {
    const { session } = await opened(new MemoryDisk(), CODE);
    const token = `ghp_${"a1B2".repeat(9)}`;
    await call(session, { code: `return "${token}".length`, name: "leaky" });
    expect(await call(session, { name: "leaky" })).toMatchObject({ ok: false, reason: "program-altered" });
    expect(JSON.stringify(await collect(session.read()))).not.toContain(token);
  });
});

describe("slices in a program", () => {
  test("[CODE-9] are read as they are now, what the program's own tools changed included", async () => {
    const { session } = await opened(new MemoryDisk(), CODE);
    await run(session, "a");
    const program = `
      const before = context.slices.steps;
      tools.step({ n: "b" });
      return { before, after: context.slices.steps, names: Object.keys(context.slices).includes("counter") }`;
    expect(await call(session, { code: program })).toMatchObject({
      output: { result: { before: ["a"], after: ["a", "b"], names: true } },
    });
  });

  test.each([
    ["one of them", "context.slices.steps = []"],
    ["what is in one", 'context.slices.steps.push("x")'],
    ["all of them", "context.slices = {}"],
    ["a new one", "context.slices.more = 1"],
    ["its input", "input.a = 2"],
  ])("[CODE-9] cannot be changed: %s", async (_what, program) => {
    const { session } = await opened(new MemoryDisk(), CODE);
    await run(session, "a");
    expect(await call(session, { code: program, input: { a: 1 } })).toMatchObject({
      ok: false,
      reason: "program-threw",
    });
    expect(session.state.session.get(steps)).toEqual(["a"]);
  });

  test("[CODE-9] count as read: what another call changed meanwhile is seen, never half", async () => {
    const gate = Promise.withResolvers<void>();
    const wait = writes("wait", async () => {
      await gate.promise;
      return 1;
    });
    const { session } = await opened(new MemoryDisk(), { ...CODE, tools: [step, wait] });
    const running = call(session, {
      code: "const n = context.slices.counter; if (n === 0) tools.wait({}); return [n, context.slices.counter]",
    });
    while ((await collect(session.read())).every((entry) => entry.kind !== "call-opened" || entry.tool !== "wait"))
      await new Promise((resolve) => setTimeout(resolve, 10));
    await run(session, "other");
    gate.resolve();
    expect(await running).toMatchObject({ ok: true, attempts: 2, output: { result: [1, 1] } });
    expect(session.state.session.get(counter)).toBe(1);
  });
});

describe("the history of a long session", () => {
  test("[CODE-10] is read from the journal piece by piece: what is not asked for is not read", async () => {
    const { session } = await opened(new MemoryDisk(), CODE);
    for (let nth = 0; nth < 600; nth += 1) await session.append({ kind: "user-said", text: `word ${nth}` });
    const told = await call(session, { code: "return 1" });
    expect(told).toMatchObject({ output: { history: { size: 600, read: 0 } } });
    const seen: number[] = [];
    const read = session.journal.read.bind(session.journal);
    session.journal.read = (options) => {
      seen.push((options?.to ?? 0) - (options?.from ?? 0) + 1);
      return read(options);
    };
    const program = "return context.conversation_history.slice(-2).map((r) => r.args[0] ?? r.method_name)";
    expect(await call(session, { code: program })).toMatchObject({ output: { result: ["word 599", "run_code"] } });
    expect(seen.reduce((sum, records) => sum + records, 0)).toBeLessThan(200);
  });

  test("[CODE-3] [CODE-10] of large records is walked in a small engine: they come in smaller blocks", async () => {
    const small = quickjs({ limits: { timeMs: 60_000, memoryBytes: 16 * 1024 * 1024 } });
    const { session } = await opened(new MemoryDisk(), { code: small });
    const kwargs = Object.fromEntries(Array.from({ length: 40 }, (_, nth) => [`field${nth}`, "x".repeat(1_900)]));
    const drafts = Array.from({ length: 150 }, (_, nth) => {
      const callId = `call_${nth}` as CallId;
      return [
        { kind: "call-opened", callId, tool: "step", args: { ...kwargs, nth } },
        { kind: "call-closed", callId, tool: "step", status: "success", output: nth },
      ] as const;
    }).flat();
    await session.append(drafts);
    const program = `let sum = 0; for (const r of context.conversation_history) sum += r.kwargs.nth;
      return [sum, context.conversation_history.at(-1).kwargs.nth, context.conversation_history[75].kwargs.nth]`;
    expect(await call(session, { code: program })).toMatchObject({ output: { result: [11_175, 149, 75] } });
  });

  test("[CODE-10] tells of a record that went in the meantime, and keeps the others in their places", async () => {
    const { session, holdfast } = await opened(new MemoryDisk(), CODE);
    for (const text of ["a", "b", "c"]) await session.append({ kind: "user-said", text });
    await call(session, { code: "return 1" });
    const [first] = (await collect(session.read())).filter(({ kind }) => kind === "user-said");
    await session.checkpoint();
    const { dropBodies } = await import("../journal/retention.ts");
    await dropBodies(holdfast.store, session.journal, [first?.seq ?? 0], "somebody asked");
    const program = "return context.conversation_history.slice(0, 2).map((r) => r.error_message ?? r.args[0])";
    expect(await call(session, { code: program })).toMatchObject({ output: { result: ["somebody asked", "b"] } });
  });

  test("[CODE-10] begins anew where retention has cut, while the session is open", async () => {
    const { session, holdfast } = await opened(new MemoryDisk(), CODE);
    for (const text of ["a", "b"]) await session.append({ kind: "user-said", text });
    expect(await call(session, { code: COUNT })).toMatchObject({ output: { result: { n: 2 } } });
    await session.checkpoint();
    await session.append({ kind: "user-said", text: "c" });
    await holdfast.retain(session, { records: 3 });
    const program = "return context.conversation_history.map((r) => r.args[0] ?? null)";
    expect(await call(session, { code: program })).toMatchObject({ output: { result: ["c"] } });
    expect((await session.callRecords()).map(({ args }) => args[0] ?? null)).toEqual(["c", null]);
  });
});
