import { describe, expect, test } from "vitest";
import { quiet, rig, writes } from "../support/calls.ts";
import { look, opened, run } from "../support/durable.ts";
import { collect, MemoryDisk } from "../support/stores.ts";
import { defineTool } from "../../src/index.ts";
import type { CallId } from "../../src/records/ids.ts";
import type { RecordDraft } from "../../src/records/kinds.ts";
import { sessionFold } from "../../src/turn/fold.ts";

const id = (text: string) => text as CallId;
const HALF = "\ud83d";

/** A post office that remembers what it was asked. */
function post() {
  const did: string[] = [];
  const mail = {
    run: async (_: object, { key }: { readonly key: string }) => (did.push(`sent ${key}`), null),
    undo: async ({ to }: { readonly to: string }) => void did.push(`took back ${to}`),
  };
  const send = defineTool<{ readonly key: string; readonly half?: boolean }>({
    name: "send",
    access: "write",
    effects: { mail },
    run: async ({ key, half }, call) => {
      await call.effect("mail", { to: key }, { key: half === true ? `${key}${HALF}` : key });
      return "sent";
    },
  });
  const fail = writes("fail", (_, call) => call.fail("no", "no"));
  /** Sends from inside, and fails or not. */
  const around = writes<{ readonly keys: readonly string[]; readonly fail?: boolean }>(
    "around",
    async ({ keys, fail: fails }, call) => {
      const ids: string[] = [];
      for (const key of keys) ids.push((await call.run({ name: "send", input: { key } })).callId);
      return fails === true ? call.fail("no", "no") : ids;
    },
  );
  return { did, tools: [send, fail, around] };
}

describe("a call whose id looks like that of one inside another", () => {
  test("[TX-25] [TX-32] keeps its effects when the other fails, here and in the next process", async () => {
    const { did, tools } = post();
    const { disk, deps, session } = await opened(new MemoryDisk(), { tools });
    for (const dotted of ["x.1", "functions.read:0", "x..1"])
      expect(await session.runTool({ id: id(dotted), name: "send", input: { key: dotted } })).toMatchObject({
        ok: true,
      });
    for (const other of ["x", "functions", "x."])
      expect(await session.runTool({ id: id(other), name: "fail", input: {} })).toMatchObject({ ok: false });
    const sent = ["sent x.1", "sent functions.read:0", "sent x..1"];
    expect(did).toEqual(sent);
    await deps.store.close();
    const again = await opened(disk, { tools });
    expect(did).toEqual(sent);
    expect(again.session.transactions.effects.of("x.1")).toMatchObject([{ key: "x.1", is: "happened" }]);
  });

  test("[TX-21] [TX-25] one that is inside another is undone with it, here and by a rewind in the next process", async () => {
    const { did, tools } = post();
    const options = { tools, checkpoints: { limit: 2 } };
    const { disk, deps, session } = await opened(new MemoryDisk(), options);
    await session.runTool({ id: id("a"), name: "around", input: { keys: ["1"], fail: true } });
    expect(did).toEqual(["sent 1", "took back 1"]);
    const { callId } = await session.runTool({ name: "around", input: { keys: ["2", "3", "4"] } });
    await session.checkpoint();
    await deps.store.close();
    // Only the last of those inside has a boundary that is still kept; the others belong to the call around them.
    const again = await opened(disk, options);
    const plan = await (await again.holdfast.look("s")).planRewind({ before: callId });
    expect(plan.effects.map(({ key }) => key)).toEqual(["4", "3", "2"]);
    expect((await again.session.rewind({ before: callId })).effects.map(({ key }) => key)).toEqual(["4", "3", "2"]);
    expect(did.slice(2)).toEqual(["sent 2", "sent 3", "sent 4", "took back 4", "took back 3", "took back 2"]);
  });

  test("[TX-21] [TX-31] one that is inside another gets an id that nobody has", async () => {
    const { did, tools } = post();
    const { session } = await opened(new MemoryDisk(), { tools });
    await session.runTool({ id: id("x.1"), name: "send", input: { key: "mine" } });
    const outer = await session.runTool({ id: id("x"), name: "around", input: { keys: ["a", "b"] } });
    expect(outer.output).toEqual(["x.2", "x.3"]);
    await session.rewind({ before: "x" });
    expect(did).toEqual(["sent mine", "sent a", "sent b", "took back b", "took back a"]);
    const { transactions } = rig([
      writes("wait", (_, call) => call.run({ name: "never", input: {} })),
      writes("never", () => new Promise(() => {})),
    ]);
    const stop = new AbortController();
    const outside = transactions.run({ id: "y", name: "wait", input: {} }, { signal: stop.signal });
    await quiet();
    await expect(transactions.begin({ id: "y.1", name: "theirs", input: {} })).rejects.toMatchObject({
      code: "CALL_OPEN",
    });
    stop.abort();
    await outside;
    expect(await (await transactions.begin({ id: "y.1", name: "theirs", input: {} })).commit(1)).toMatchObject({
      ok: true,
    });
  });

  test("[TURN-10] its boundary is its own: the call around another goes back to before that one, and nobody else's", () => {
    const opening = (callId: string, parent?: string): RecordDraft => ({
      kind: "call-opened",
      callId: id(callId),
      tool: "t",
      args: {},
      ...(parent === undefined ? {} : { parent: id(parent) }),
    });
    const closing = (callId: string): RecordDraft => ({
      kind: "call-closed",
      callId: id(callId),
      tool: "t",
      status: "success",
      effects: "none",
      output: "",
    });
    const drafts = [opening("x.1"), opening("x"), closing("x.1"), closing("x")];
    const inner = [
      opening("y"),
      opening("y.1", "y"),
      opening("y.2", "y.1"),
      closing("y.1"),
      closing("y.2"),
      closing("y"),
    ];
    const fold = sessionFold(10);
    const folded = [...drafts, ...inner].reduce((now, draft, at) => fold.step(now, draft, at + 1), fold.start([]));
    expect(folded.boundaries.map(({ callId, before }) => [callId, before])).toEqual([
      ["x.1", 2],
      ["x", 3],
      ["y.1", 7],
      ["y.2", 7],
      ["y", 7],
    ]);
    expect(folded.inside.size).toBe(0);
  });
});

describe("an id that has ended", () => {
  test("[TX-31] is refused, here and in the next process, and the first call's boundary stays", async () => {
    const { disk, deps, session } = await opened();
    await session.runTool({ id: id("X"), name: "step", input: { n: "1" } });
    const before = await look(session);
    const refusal = { code: "CALL_ENDED", details: { call: "X" } };
    await expect(session.runTool({ id: id("X"), name: "step", input: { n: "2" } })).rejects.toMatchObject(refusal);
    await expect(session.begin({ id: id("X"), name: "theirs", input: {} })).rejects.toMatchObject(refusal);
    await deps.store.close();
    const again = (await opened(disk)).session;
    await expect(again.runTool({ id: id("X"), name: "step", input: { n: "2" } })).rejects.toMatchObject(refusal);
    expect((await collect(again.read())).filter(({ kind }) => kind === "call-opened")).toHaveLength(1);
    await run(again, "3");
    await again.rewind({ after: "X" });
    expect(await look(again)).toMatchObject({ steps: before.steps, counter: 1 });
  });

  test("[TX-31] is free when it was taken back", async () => {
    const { session } = await opened();
    await session.runTool({ id: id("X"), name: "step", input: { n: "1" } });
    await session.rewind({ before: "X" });
    expect(await session.runTool({ id: id("X"), name: "step", input: { n: "2" } })).toMatchObject({ ok: true });
    await session.rewind({ before: "X" });
    expect(await look(session)).toMatchObject({ steps: [], counter: 0 });
  });

  test("[TX-31] [TX-32] is refused for as long as effects of it are relied on, and they stay", async () => {
    const { did, tools } = post();
    const idle = writes("idle", () => "idle");
    const { session } = await opened(new MemoryDisk(), { tools: [...tools, idle], checkpoints: { limit: 1 } });
    await session.runTool({ id: id("X"), name: "send", input: { key: "k" } });
    await session.runTool({ id: id("Y"), name: "idle", input: {} });
    await session.runTool({ id: id("Z"), name: "idle", input: {} }); // neither is within reach any more
    await expect(session.runTool({ id: id("X"), name: "fail", input: {} })).rejects.toMatchObject({
      code: "CALL_ENDED",
    });
    expect(await session.runTool({ id: id("Y"), name: "idle", input: {} })).toMatchObject({ ok: true });
    expect(did).toEqual(["sent k"]);
  });

  test("[TX-31] is refused to a state in memory, too", async () => {
    const { transactions } = rig([writes("go", () => "gone")]);
    await transactions.run({ id: "a", name: "go", input: {} });
    await expect(transactions.run({ id: "a", name: "go", input: {} })).rejects.toMatchObject({ code: "CALL_ENDED" });
    expect(transactions.pending).toEqual([]);
  });

  test("[TX-32] cannot be opened by hand over a call that relies on effects, to have them undone", async () => {
    const { did, tools } = post();
    const { session } = await opened(new MemoryDisk(), { tools });
    await session.runTool({ id: id("X"), name: "send", input: { key: "k" } });
    const opening = { kind: "call-opened", callId: id("X"), tool: "t", args: {} } as const;
    await expect(session.append(opening)).rejects.toMatchObject({ code: "RECORD_RESERVED", details: { call: "X" } });
    expect(did).toEqual(["sent k"]);
  });
});

describe("what could not be found again as it was written", () => {
  test("[TX-24] [TX-29] an effect's key that is missing, or its key or name with half a character, is refused before anything is done", async () => {
    const { did, tools } = post();
    const odd = defineTool({
      name: "odd",
      access: "write",
      effects: { [`mail${HALF}`]: { run: async () => (did.push("sent oddly"), null) } },
      run: (_, call) => call.effect(`mail${HALF}`, {}, { key: "k" }),
    });
    const unkeyed = defineTool({
      name: "unkeyed",
      access: "write",
      effects: { mail: { run: async () => (did.push("sent without a key"), null) } },
      run: (_, call) => (call.effect as (...given: readonly unknown[]) => unknown)("mail", {}),
    });
    const { session } = await opened(new MemoryDisk(), { tools: [...tools, odd, unkeyed] });
    const { reason, output } = await session.runTool({ name: "send", input: { key: "k", half: true } });
    expect([reason, output]).toEqual(["EFFECT_BAD_KEY", expect.stringContaining("half a character")]);
    expect(await session.runTool({ name: "odd", input: {} })).toMatchObject({ reason: "EFFECT_BAD_KEY" });
    expect(await session.runTool({ name: "send", input: { key: 7 } })).toMatchObject({ reason: "EFFECT_BAD_KEY" });
    const sent = await session.runTool({ name: "unkeyed", input: {} });
    expect([sent.reason, sent.output]).toEqual(["EFFECT_BAD_KEY", expect.stringContaining("effect: mail")]);
    expect(did).toEqual([]);
    expect(await session.runTool({ name: "send", input: { key: "whole 📮" } })).toMatchObject({ ok: true });
  });

  test("[TX-31] a call's id with half a character, or none, is refused", async () => {
    const { session } = await opened();
    for (const odd of [`call${HALF}`, "", 7 as unknown as string])
      await expect(session.begin({ id: id(odd), name: "theirs", input: {} })).rejects.toMatchObject({
        code: "CALL_BAD_ID",
      });
    expect([session.openCalls, session.transactions.pending]).toEqual([[], []]);
  });
});
