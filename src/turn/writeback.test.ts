import { describe, expect, test } from "vitest";
import { steps, writes } from "../../test/support/calls.ts";
import { kernel, opened } from "../../test/support/durable.ts";
import { scripted, watch } from "../../test/support/loop.ts";
import { between, collect, ioError, MemoryDisk, memoryDeps } from "../../test/support/stores.ts";
import { HoldfastError } from "../base/errors.ts";
import type { WritebackTuple } from "../context/writeback/tuple.ts";
import { textOf } from "../wire/item.ts";
import { Holdfast } from "./holdfast.ts";
import type { Session } from "./session.ts";
import { outOfReach } from "./writeback.ts";
import { StagedWritebacks } from "./writeback-slices.ts";

const rule = (value: string, more: Partial<WritebackTuple> = {}): WritebackTuple => ({
  kind: "constraint",
  page: "R1",
  field: "text",
  op: "set-with-version",
  value,
  version: "",
  scope: "session",
  ...more,
});
const liking = (value: string, more: Partial<WritebackTuple> = {}): WritebackTuple => ({
  kind: "preference",
  page: "style",
  field: "notes",
  op: "append",
  value,
  scope: "session",
  ...more,
});
const kindsOf = async (session: Session) =>
  (await collect(session.read())).map(({ kind }) => kind).filter((kind) => kind.startsWith("writeback"));
const requestOf = async (session: Session, text = "go on") => {
  await watch(session.run(text, { model: scripted([{ text: "ok" }]) }));
  return session.context.view!.items.map((item) => ("parts" in item ? textOf(item.parts) : "")).join("\n");
};
const wanting = writes<{ readonly fail?: boolean }>("want", ({ fail }, call) => {
  call.dispatch(StagedWritebacks.wanted({ ...rule("Never push."), by: "host" }));
  call.dispatch(steps.added("wanted"));
  return fail === true ? call.fail("no", "no") : "wanted";
});

describe("a change of a durable page", () => {
  test("[WRITEBACK-1] [W01] leaves two records when it was staged and committed, and nothing waits", async () => {
    const { session } = await opened();
    const staged = await session.writeback.stage(rule("Never push."));
    expect(session.writeback.pending).toEqual([staged]);
    expect(await session.writeback.commit()).toEqual({ committed: [staged], rejected: [] });
    expect(await kindsOf(session)).toEqual(["writeback-staged", "writeback-committed"]);
    expect(session.writeback.pending).toEqual([]);
    expect(await requestOf(session)).toContain("Never push.");
  });

  test("[WRITEBACK-8] [W02] that was rejected cannot be committed, changes nothing and keeps its reason", async () => {
    const { session } = await opened();
    const staged = await session.writeback.stage(rule("Never push."));
    await session.writeback.reject(staged!.id, "NOT_NOW");
    await expect(session.writeback.commit([staged!.id])).rejects.toMatchObject({ code: "WRITEBACK_NOT_STAGED" });
    await expect(session.writeback.reject(staged!.id, "again")).rejects.toMatchObject({ code: "WRITEBACK_NOT_STAGED" });
    expect(session.writeback.pages("session")).toEqual({});
    expect((await collect(session.read())).filter(({ kind }) => kind === "writeback-rejected")).toMatchObject([
      { page: "constraint:R1", reason: "NOT_NOW", change: { id: staged!.id, value: "Never push." } },
    ]);
  });

  test("[WRITEBACK-8] that validation rejects is settled with the reason's code, beside what is committed", async () => {
    const { session } = await opened();
    await session.writeback.stage(rule("Never push."));
    await session.writeback.stage(rule("x", { field: "mood" }));
    const { committed, rejected } = await session.writeback.commit();
    expect([committed.length, rejected.length, session.writeback.pending.length]).toEqual([1, 1, 0]);
    const records = await collect(session.read());
    expect(records.find(({ kind }) => kind === "writeback-rejected")).toMatchObject({ reason: "SCHEMA_INVALID" });
  });

  test("[WRITEBACK-3] [W04] rests on a handle of this conversation, also after reopening", async () => {
    const { disk, session } = await opened();
    await watch(session.run("Remember: I like tabs.", { model: scripted([{ text: "I will." }]) }));
    const handle = session.context.view!.pages[0]!.handle;
    await session.close();
    const again = (await opened(disk)).session;
    await again.writeback.stage(liking("tabs", { evidence: handle }), "model");
    await again.writeback.stage(liking("spaces", { evidence: `${handle.slice(0, -1)}a` }), "model");
    const { committed, rejected } = await again.writeback.commit();
    expect(committed).toMatchObject([{ value: "tabs" }]);
    expect(rejected).toMatchObject([{ rejection: { code: "PROVENANCE_UNRESOLVED" } }]);
  });

  test("[WRITEBACK-15] wanted inside a call is staged with it, and goes with it when it fails", async () => {
    const { session } = await opened(undefined, { tools: [wanting] });
    await session.runTool({ name: "want", input: { fail: true } });
    expect(session.writeback.pending).toEqual([]);
    await session.runTool({ name: "want", input: {} });
    const { committed } = await session.writeback.commit();
    expect(committed).toMatchObject([{ value: "Never push.", id: "s.000001" }]);
    expect(await kindsOf(session)).toEqual(["writeback-staged", "writeback-committed"]);
  });

  test("[WRITEBACK-11] [W16] that says what the page says is not written; when the page is gone, it is", async () => {
    const { session } = await opened(undefined, { tools: [wanting] });
    const empty = await session.runTool({ name: "want", input: { fail: true } });
    await session.writeback.stage(rule("Never push."));
    await session.writeback.commit();
    const { seq } = session.journal.head;
    expect(await session.writeback.stage(rule("Never push."))).toBeUndefined();
    expect(session.journal.head.seq).toBe(seq);
    await session.rewind({ after: empty.callId });
    expect(session.writeback.pages("session")).toEqual({});
    expect(await session.writeback.stage(rule("Never push."))).toBeDefined();
    expect((await session.writeback.commit()).committed).toHaveLength(1);
  });

  test("[WRITEBACK-13] [W13] has a number that rises and is given once, across restarts, rewinds and forks", async () => {
    const { disk, session } = await opened(undefined, { tools: [wanting] });
    const place = await session.runTool({ name: "want", input: { fail: true } });
    const ids: string[] = [];
    const staged = async (one: Session, value: string) => {
      ids.push((await one.writeback.stage(liking(value)))!.id);
      await one.writeback.commit();
    };
    await staged(session, "a");
    await session.rewind({ after: place.callId });
    await staged(session, "b");
    const fork = await session.fork({ after: place.callId, as: "f" });
    await staged(fork, "c");
    await session.close();
    await staged((await opened(disk)).session, "d");
    expect(ids).toEqual(["s.000001", "s.000002", "f.000001", "s.000003"]);
    expect(new Set(ids).size).toBe(4);
  });
});

describe("another process", () => {
  test("[WRITEBACK-10] [W12] is told what was staged, and reconciles it once", async () => {
    const { disk, deps, session } = await opened();
    const staged = await session.writeback.stage(rule("Never push."));
    await deps.store.close(); // the process dies here: nothing is let go of
    const again = (await opened(disk)).session;
    expect(again.recovered.staged).toEqual([staged!.id]);
    expect(again.writeback.pending).toEqual([]);
    expect(await kindsOf(again)).toEqual(["writeback-staged", "writeback-committed"]);
    await again.close();
    const third = (await opened(disk)).session;
    expect(third.recovered.staged).toBeUndefined();
    expect(await kindsOf(third)).toHaveLength(2);
    expect(await requestOf(third)).toContain("Never push.");
  });

  test("[WRITEBACK-10] is refused a session that does not know whether it was reconciled, and finds it the next time", async () => {
    const { disk, deps, session } = await opened();
    await session.writeback.stage(rule("Never push."));
    await deps.store.close();
    const flaky = memoryDeps(disk);
    const store = between(flaky.store, {
      after: (batch) => {
        if (JSON.stringify(batch).includes("writeback-committed")) throw ioError();
      },
    });
    await expect(new Holdfast({ ...flaky, store }).open("s")).rejects.toMatchObject({ code: "WRITEBACK_UNREACHABLE" });
    await flaky.store.close();
    const third = (await opened(disk)).session;
    expect([third.writeback.pending, await kindsOf(third)]).toEqual([[], ["writeback-staged", "writeback-committed"]]);
    expect(await requestOf(third)).toContain("Never push.");
  });

  test("[WRITEBACK-10] finds a shared change that was written and not told of, and it counts once", async () => {
    const disk = new MemoryDisk();
    const dying = memoryDeps(disk);
    let dead = false;
    const store = between(dying.store, {
      before: (batch) => {
        if (dead) throw new Error("gone");
        // The shelf is written; what this session would say of it is not.
        dead = batch.kind === "release";
        return undefined;
      },
    });
    const first = await new Holdfast({ ...dying, store }).open("s");
    await first.writeback.stage(liking("short", { scope: "project" }));
    await expect(first.writeback.commit()).rejects.toMatchObject({ code: "WRITEBACK_UNREACHABLE" });
    await dying.store.close();
    const again = (await opened(disk)).session;
    expect(again.recovered.staged).toEqual(["s.000001"]);
    expect(again.writeback.pages("project")["preference:style"]?.fields["notes"]).toMatchObject({
      list: [{ value: "short" }],
    });
    expect(again.writeback.pending).toEqual([]);
  });
});

describe("scopes", () => {
  test("[WRITEBACK-12] what is written for the project or the user is shown in other sessions; a session's own is not", async () => {
    const disk = new MemoryDisk();
    const { holdfast } = kernel(disk);
    const one = await holdfast.open("one");
    for (const scope of ["session", "project", "user"] as const)
      await one.writeback.stage(liking(`for the ${scope}`, { scope, page: scope }));
    expect((await one.writeback.commit()).committed).toHaveLength(3);
    const two = await holdfast.open("two");
    const text = await requestOf(two);
    expect(text).toContain("for the project");
    expect(text).toContain("for the user");
    expect(text).not.toContain("for the session");
    expect((await collect(holdfast.sessions())).map(({ id }) => id)).toEqual(["one", "two"]);
  });

  test("[WRITEBACK-5] [W03] two sessions that replace what both have seen: the second destroys nothing", async () => {
    const { holdfast } = kernel(new MemoryDisk());
    const [one, two] = [await holdfast.open("one"), await holdfast.open("two")];
    const shared = { scope: "project" } as const;
    await one.writeback.stage(rule("Never push.", shared));
    await two.writeback.stage(rule("Always push.", shared));
    expect((await one.writeback.commit()).committed).toHaveLength(1);
    expect((await two.writeback.commit()).rejected).toMatchObject([{ rejection: { code: "DESTRUCTIVE_OP" } }]);
    const version = two.writeback.version({ ...rule(""), ...shared });
    await two.writeback.stage(rule("Push on Fridays.", { ...shared, version }));
    expect((await two.writeback.commit()).committed).toHaveLength(1);
  });
});

describe("a store out of reach", () => {
  const failing = (times: number) => {
    const deps = memoryDeps();
    let left = 0;
    const store = between(deps.store, {
      before: (batch) => {
        if (batch.kind === "append" && left > 0) {
          left -= 1;
          throw new HoldfastError("STORE_BUSY");
        }
        return undefined;
      },
    });
    return { deps, holdfast: new Holdfast({ ...deps, store }), fail: () => (left = times) };
  };

  test("[WRITEBACK-14] [W15] is tried again", async () => {
    const { holdfast, fail } = failing(1);
    const session = await holdfast.open("s");
    await session.writeback.stage(rule("Never push."));
    fail();
    expect((await session.writeback.commit()).committed).toHaveLength(1);
  });

  test("[WRITEBACK-14] [W15] is a typed failure in the end, and what is staged stays staged", async () => {
    const { holdfast, fail, deps } = failing(100);
    const session = await holdfast.open("s");
    await session.writeback.stage(rule("Never push."));
    fail();
    const failure = await session.writeback.commit().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "WRITEBACK_UNREACHABLE", details: { staged: ["s.000001"] } });
    expect(session.writeback.pages("session")).toEqual({});
    await deps.store.close();
    const next = (await opened(deps.disk)).session;
    expect(next.recovered.staged).toEqual(["s.000001"]);
  });
});

test("[WRITEBACK-14] only a store out of reach is waited for: any other failure is thrown on", () => {
  const unreachable = new HoldfastError("WRITEBACK_UNREACHABLE", { staged: [] });
  expect(outOfReach(unreachable)).toBe(unreachable);
  const other = new HoldfastError("STORE_BUSY");
  expect(() => outOfReach(other)).toThrow(other);
});

test("[WRITEBACK-19] what a rewind took back is not committed by a commit that was on its way", async () => {
  const { session } = await opened();
  const { callId } = await session.runTool({ name: "step", input: { n: "a" } });
  await session.writeback.stage(liking("tabs"));
  const soon = () => new Promise((resolve) => setTimeout(resolve, 20));
  const gate = Promise.withResolvers<void>();
  const held = session.state.truth.gate.run(() => gate.promise);
  const rewinding = session.rewind({ after: callId });
  await soon();
  const flushing = session.writeback.commit(); // it waits behind the rewind
  await soon();
  gate.resolve();
  await Promise.all([held, rewinding]);
  expect(await flushing).toEqual({ committed: [], rejected: [] });
  expect(session.writeback.pages("session")).toEqual({});
  expect(await kindsOf(session)).toEqual(["writeback-staged"]);
});

test("[WRITEBACK-16] [W17] the same inputs leave the same journal, byte for byte", async () => {
  const journals = await Promise.all(
    [1, 2].map(async () => {
      const { session } = await opened();
      await session.writeback.stage(rule("Never push."));
      await session.writeback.stage(liking("tabs"));
      await session.writeback.stage(rule("x", { field: "mood" }));
      await session.writeback.commit();
      return JSON.stringify(await collect(session.read()));
    }),
  );
  expect(journals[0]).toBe(journals[1]);
});

test.each<readonly [string, () => unknown, RegExp]>([
  [
    "throws",
    () => {
      throw new Error("the list of words is gone");
    },
    /could not tell: .*the list of words is gone/,
  ],
  ["answers later", async () => undefined, /neither words nor nothing/],
  ["answers a number", () => 0, /neither words nor nothing/],
])(
  "[WRITEBACK-21] a check of the host's that %s rejects the change, and keeps no session from its boundaries",
  async (_how, check, why) => {
    const predicates = [check as () => string | undefined];
    const { session } = await opened(undefined, { writeback: { predicates } });
    await session.writeback.stage({
      kind: "preference",
      page: "p",
      field: "notes",
      op: "append",
      value: "x",
      scope: "session",
    });
    await session.setMode("plan");
    expect(session.mode).toBe("plan");
    expect(session.writeback.pending).toEqual([]);
    const [rejected] = (await collect(session.read())).filter(({ kind }) => kind === "writeback-rejected");
    expect(rejected).toMatchObject({ reason: "PREDICATE_REFUSED", change: { detail: expect.stringMatching(why) } });
    await session.close();
  },
);
