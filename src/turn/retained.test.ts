import { describe, expect, test } from "vitest";
import { writes } from "../../test/support/calls.ts";
import { opened, run, step } from "../../test/support/durable.ts";
import { scripted, watch } from "../../test/support/loop.ts";
import { collect, MemoryDisk } from "../../test/support/stores.ts";
import type { KernelEvent } from "../contracts/event-sink.ts";
import type { Model } from "../contracts/model.ts";
import type { Item } from "../wire/item.ts";

describe("a session that keeps only so much", () => {
  const lived = async (disk: MemoryDisk) => {
    const first = await opened(disk);
    for (let nth = 0; nth < 12; nth += 1) {
      await watch(first.session.run(`question ${nth}`, { model: scripted([{ text: `answer ${nth}` }]) }));
      await run(first.session, `n${nth}`);
      await first.session.checkpoint();
    }
    const { records } = await first.session.callHistory();
    const characters = JSON.stringify(await collect(first.session.read())).length;
    await first.session.close();
    await first.deps.store.close();
    return { records, characters };
  };

  test.each([
    ["records", () => ({ records: 30 })],
    ["bytes", (characters: number) => ({ bytes: Math.floor(characters / 2) })],
    ["tokens", (characters: number) => ({ tokens: Math.floor(characters / 6) })],
  ])("[RECORD-8] cuts off the oldest at the next opening, by %s, and tells what went and why", async (_by, policy) => {
    const disk = new MemoryDisk();
    const { records: before, characters } = await lived(disk);
    const retention = policy(characters);
    const { session, holdfast } = await opened(disk, { retention });
    const { records, tombstones } = await session.callHistory();
    expect(records.length).toBeGreaterThan(0);
    expect(records.length).toBeLessThan(before.length);
    expect(records).toEqual(before.slice(-records.length));
    expect(tombstones).toEqual([
      expect.objectContaining({
        was: "records",
        reason: `retention: ${JSON.stringify(retention)}`,
        records: expect.any(Number),
      }),
    ]);
    expect(await holdfast.verify()).toMatchObject({ ok: true });
    // It goes on, and its state is whole.
    expect((await session.files.list()).length).toBe(12);
    const { end } = await watch(session.run("and?", { model: scripted([{ text: "yes" }]) }));
    expect(end).toMatchObject({ status: "done", text: "yes" });
  });

  test("[TURN-95] is forked from before the record of a cut as what it is: without the boundaries that are gone", async () => {
    const { holdfast, session } = await opened();
    for (const n of ["a", "b"]) await run(session, n);
    await session.checkpoint();
    await run(session, "c");
    await session.checkpoint();
    const last = await run(session, "d");
    const { forgotten } = await holdfast.retain(session, { records: 6 });
    const fork = await session.fork({ after: last, as: "fork" });
    for (const one of [fork, await holdfast.look("fork")]) {
      const boundaries = "boundaries" in one ? one.boundaries : one.checkpoints.list();
      expect(boundaries.map(({ callId }) => callId)).toEqual([last]);
    }
    expect(await fork.checkpoints.audit()).toMatchObject({ sound: [{ callId: last }], damaged: [] });
    const { records, tombstones } = await fork.callHistory();
    const reason = 'retention: {"records":6}';
    expect(tombstones).toMatchObject([{ was: "records", records: forgotten, through: forgotten, reason }]);
    expect([records.length, fork.journal.folded.history]).toEqual([1, 1]);
    await fork.close();
    // Told once: a fork of the fork has the record, and so has one from behind it.
    for (const from of ["fork", "s"]) {
      const next = await holdfast.fork(from, { as: `of-${from}` });
      expect((await next.callHistory()).tombstones).toHaveLength(1);
      await next.close();
    }
  });

  test("[TURN-86] is forked from where it begins, with its state, and not from before, without any", async () => {
    const disk = new MemoryDisk();
    await lived(disk);
    const { session, holdfast } = await opened(disk, { retention: { records: 30 } });
    const { anchor } = (await holdfast.look("s")).row;
    await expect(holdfast.fork("s", { as: "before", after: anchor.seq })).rejects.toMatchObject({
      code: "FORK_POINT_UNKNOWN",
      details: { oldest: anchor.seq + 1 },
    });
    const fork = await holdfast.fork("s", { as: "there", after: anchor.seq + 1 });
    expect((await fork.files.list()).length).toBeGreaterThan(0);
    await fork.close();
    await session.close();
  });

  test("[JOURNAL-23] keeps the question of a call that waits, so that its answer is told, and cuts when it has ended", async () => {
    const disk = new MemoryDisk();
    const asks = writes("asks", async () => "it was done", { approval: () => true });
    const first = await opened(disk, { tools: [asks] });
    const model = scripted([{ calls: [{ name: "asks", input: {} }] }]);
    expect((await watch(first.session.run("go", { model }))).end.status).toBe("waiting");
    for (let nth = 0; nth < 3; nth += 1) await first.session.checkpoint();
    await first.session.close();
    const { session, holdfast } = await opened(disk, { tools: [asks], retention: { records: 3 } });
    const [call] = session.waiting;
    expect(await holdfast.retain(session, { records: 3 })).toEqual({
      forgotten: 0,
      withinBounds: false,
      awaited: [call!.callId],
    });
    await session.reply(call!.callId, { approve: true });
    expect((await session.conversation()).map(({ kind }) => kind)).toEqual(["user", "call", "output"]);
    await session.checkpoint();
    expect(await holdfast.retain(session, { records: 3 })).toMatchObject({ withinBounds: true });
    await session.close();
  });

  test("[RECORD-8] cuts off what is older than it may be", async () => {
    const { holdfast, session, deps } = await opened(new MemoryDisk(), { retention: { ageMs: 30_000 } });
    await run(session, "old");
    await session.checkpoint();
    deps.clock.advance(60_000);
    await run(session, "new");
    await session.checkpoint();
    await run(session, "newest");
    await session.close();
    const again = await holdfast.open("s");
    const { records, tombstones } = await again.callHistory();
    expect(records.map(({ kwargs }) => kwargs["n"])).toEqual(["newest"]);
    expect(tombstones).toMatchObject([{ was: "records", reason: 'retention: {"ageMs":30000}' }]);
  });

  test("[RECORD-8] cuts while it stays open, too, between turns, and tells the model what the next process would", async () => {
    const disk = new MemoryDisk();
    const { session, deps } = await opened(disk, { retention: { records: 300 }, checkpoints: { limit: 5 } });
    const asked: (readonly Item[])[] = [];
    const model = scripted([{ text: "yes" }, { text: "again" }]);
    const ask: Model["ask"] = (request, options) => {
      asked.push(request.items);
      return model.ask(request, options);
    };
    await watch(session.run("well?", { model: { ...model, ask } }));
    for (let nth = 0; nth < 250; nth += 1) await run(session, `n${nth}`);
    await watch(session.run("and?", { model: { ...model, ask } }));
    const { records, tombstones } = await session.callHistory();
    expect(records.length).toBeLessThan(200);
    expect(tombstones).toMatchObject([{ was: "records", reason: 'retention: {"records":300}' }]);
    expect((await session.checkpoints.audit()).damaged).toEqual([]);
    await session.close();
    await deps.store.close();
    const again = await opened(disk);
    const told = await again.session.conversation();
    expect(callsIn(asked[1] ?? [])).toEqual(callsIn(told));
    expect((await again.session.files.list()).length).toBe(250);
  });

  test("[RECORD-8] [RECORD-1] gives no call the name of another, forgotten or kept, in this process or the next", async () => {
    const disk = new MemoryDisk();
    const names: string[] = [];
    const turns = async (opening: string, retention: { readonly records: number }) => {
      const { session, deps } = await opened(disk, { retention });
      for (let nth = 0; nth < 12; nth += 1) {
        const model = scripted([{ calls: [{ name: "step", input: { n: `${opening}${nth}` } }] }, { text: "done" }]);
        const { events } = await watch(session.run("go", { model }));
        names.push(...events.flatMap((event) => (event.kind === "call-opened" ? [event.callId] : [])));
        await session.checkpoint();
      }
      const { records } = await session.callHistory();
      expect(records.filter(({ method_name }) => method_name === "step").length).toBeGreaterThanOrEqual(12);
      await session.close();
      await deps.store.close();
    };
    await turns("a", { records: 1_000 });
    await turns("b", { records: 60 });
    await turns("c", { records: 60 });
    expect(names.length).toBe(36);
    expect(new Set(names).size).toBe(36);
  });

  test("[RECORD-8] leaves a turn and its calls alone, and cuts before the next", async () => {
    const { session } = await opened(new MemoryDisk(), { retention: { records: 30 } });
    for (let nth = 0; nth < 100; nth += 1) await run(session, `n${nth}`);
    const pending = await session.begin({ name: "step", input: { n: "open" } });
    for (let nth = 0; nth < 200; nth += 1) await run(session, `m${nth}`);
    const opening = async () =>
      (await collect(session.read())).filter((one) => one.kind === "call-opened" && one.callId === pending.id);
    expect(await opening()).toHaveLength(1);
    await pending.abort("over");
    await run(session, "next");
    expect(await opening()).toEqual([]);
  });

  test("[RECORD-8] [JOURNAL-23] cuts while a call waits that nobody ever answers, up to before its question", async () => {
    const disk = new MemoryDisk();
    const asks = writes("asks", async () => "it was done", { approval: true });
    const { session, holdfast, deps } = await opened(disk, { tools: [asks, step], retention: { records: 30 } });
    for (let nth = 0; nth < 100; nth += 1) await run(session, `n${nth}`);
    await session.checkpoint();
    const checkpoint = session.journal.head.seq;
    const model = scripted([{ calls: [{ name: "asks", input: {} }] }, { text: "Done." }]);
    expect((await watch(session.run("go", { model }))).end.status).toBe("waiting");
    for (let nth = 0; nth < 200; nth += 1) await run(session, `m${nth}`);
    expect((await holdfast.look("s")).row.anchor.seq).toBe(checkpoint - 1);
    const [call] = session.waiting;
    expect(await session.reply(call!.callId, { approve: true })).toMatchObject({ output: "it was done" });
    const { end } = await watch(session.run(undefined, { model }));
    expect(end).toMatchObject({ status: "done", text: "Done." });
    await session.close();
    await deps.store.close();
    const again = await opened(disk, { tools: [asks, step] });
    expect((await again.session.conversation()).slice(0, 2).map(({ kind }) => kind)).toEqual(["user", "call"]);
    expect((await again.session.files.list()).length).toBe(300);
    expect(await again.holdfast.verify()).toMatchObject({ ok: true });
  });

  test("[JOURNAL-23] [TELEMETRY-9] is told which calls keep it over its bounds, once until they are others", async () => {
    const heard: unknown[] = [];
    const emit = ({ kind, facts }: KernelEvent) => {
      if (kind === "upkeep-failed") heard.push(facts);
    };
    const asks = writes("asks", async () => "it was done", { approval: true });
    const { session } = await opened(new MemoryDisk(), {
      tools: [asks, step],
      retention: { records: 600 },
      telemetry: { sinks: [{ emit }] },
    });
    const asked = { name: "asks", input: {} };
    await watch(session.run("go", { model: scripted([{ calls: [asked, asked] }]) }));
    const [one, other] = session.waiting.map(({ callId }) => callId);
    const live = async (calls: number) => {
      for (let nth = 0; nth < calls; nth += 1) await run(session, `n${nth}`);
    };
    await live(720);
    expect(heard).toEqual([{ awaited: [one, other] }]);
    await session.reply(one!, { approve: true });
    await live(720);
    expect(heard).toEqual([{ awaited: [one, other] }, { awaited: [other] }]);
    await session.reply(other!, { approve: true });
    await live(360);
    expect(heard).toHaveLength(2);
  });

  test("[RECORD-8] [LOOP-18] a reply while it cuts is carried out once that is over, and once", async () => {
    const slow = Promise.withResolvers<void>();
    const asks = writes("asks", async () => "it was done", { approval: true });
    const { session, deps } = await opened(new MemoryDisk(), { tools: [asks, step], retention: { records: 30 } });
    for (let nth = 0; nth < 100; nth += 1) await run(session, `n${nth}`);
    await session.checkpoint();
    await watch(session.run("go", { model: scripted([{ calls: [{ name: "asks", input: {} }] }]) }));
    const [call] = session.waiting;
    const reply = () => session.reply(call!.callId, { approve: true });
    let replies: Promise<PromiseSettledResult<unknown>[]> | undefined;
    const commit = deps.store.commit.bind(deps.store);
    deps.store.commit = async (batch) => {
      if (batch.kind === "append" && batch.anchor !== undefined && replies === undefined) {
        replies = Promise.allSettled([reply(), reply()]);
        setImmediate(slow.resolve);
        await slow.promise;
        expect(session.journal.folded.waiting.size).toBe(1);
      }
      return commit(batch);
    };
    for (let nth = 0; nth < 200; nth += 1) await run(session, `m${nth}`);
    expect(await replies).toMatchObject([{ status: "fulfilled" }, { reason: { code: "CALL_NOT_WAITING" } }]);
  });

  test("[RECORD-8] refuses a bound that does not exist, and leaves the session free", async () => {
    const disk = new MemoryDisk();
    await expect(opened(disk, { retention: { record: 5 } as never })).rejects.toMatchObject({ code: "BAD_OPTION" });
    await expect(opened(disk)).resolves.toBeDefined();
  });
});

function callsIn(items: readonly Item[]): readonly (string | undefined)[] {
  return items.flatMap((item) => (item.kind === "output" ? [item.callId] : []));
}

test("[RECORD-9] a record that was dropped leaves a tombstone with its reason, and hides no other", async () => {
  const { holdfast, session } = await opened();
  await session.append({ kind: "user-said", text: "remember hunter2-of-old-times" });
  await run(session, "a");
  await session.close();
  holdfast.registerSecret("hunter2-of-old-times");
  const { dropped } = await holdfast.dropSecrets("s");
  const again = await holdfast.open("s");
  const { records, tombstones } = await again.callHistory();
  expect(records.map(({ method_name }) => method_name)).toEqual(["step"]);
  expect(tombstones).toEqual([
    { seq: dropped[0], at: expect.any(String), was: "user-said", reason: "it held a secret that was registered later" },
  ]);
});
