import { expect, test } from "vitest";
import { between, brief, collect, memoryDeps, MemoryDisk, said } from "../../test/support/stores.ts";
import { callIdAt, toSessionId } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";
import { Holdfast } from "./holdfast.ts";
import { INTERRUPTED } from "./recover.ts";

const id = (n: number) => callIdAt(toSessionId("s"), 1, n);
const opens = (n: number): RecordDraft => ({ kind: "call-opened", callId: id(n), tool: `tool-${n}`, args: {} });
const closes = (n: number): RecordDraft => ({
  kind: "call-closed",
  callId: id(n),
  tool: `tool-${n}`,
  status: "success",
});

/** What a crash leaves: the store is gone, the lease was never released. */
async function crashedAfter(drafts: readonly RecordDraft[]) {
  const disk = new MemoryDisk();
  const deps = memoryDeps(disk);
  const session = await new Holdfast(deps).open("s");
  for (const draft of drafts) await session.append(draft);
  await deps.store.close();
  return disk;
}

test("[TURN-1] [K42] calls that a crash left open are closed once, as canceled, with unknown effects", async () => {
  const disk = await crashedAfter([opens(1), opens(2), closes(1), opens(3)]);
  const first = new Holdfast(memoryDeps(disk));
  const session = await first.open("s");
  expect(session.recovered).toEqual({ closedCalls: [id(2), id(3)], damaged: [] });
  expect(session.openCalls).toEqual([]);
  const entries = await collect(session.read({ from: 6 }));
  expect(entries).toMatchObject([
    { kind: "call-closed", callId: id(2), tool: "tool-2", status: "canceled", effects: "unknown", output: INTERRUPTED },
    { kind: "call-closed", callId: id(3), tool: "tool-3", status: "canceled", effects: "unknown", output: INTERRUPTED },
    { kind: "session-recovered", closedCalls: [id(2), id(3)], damaged: [], previousWriter: "died" },
  ]);
  await session.close();
});

test("[TURN-1] [K42] opening again changes nothing, after a clean close and after another crash", async () => {
  const disk = await crashedAfter([opens(1)]);
  const seen: string[][] = [];
  for (const clean of [false, true, false, true]) {
    const deps = memoryDeps(disk);
    const session = await new Holdfast(deps).open("s");
    seen.push(brief(await collect(session.read())));
    if (clean) await session.close();
    await deps.store.close();
  }
  expect(new Set(seen.map((lines) => lines.join()))).toEqual(
    new Set(["1:session-created,2:call-opened,3:call-closed,4:session-recovered"]),
  );
});

test("[TURN-1] a session closed with open calls gets them closed, too, and a quiet one gets nothing", async () => {
  const deps = memoryDeps();
  const holdfast = new Holdfast(deps);
  const session = await holdfast.open("s");
  await session.append([opens(1), opens(2), closes(2)]);
  expect(session.openCalls).toEqual([id(1)]);
  await session.close();
  const again = await holdfast.open("s");
  expect(again.recovered.closedCalls).toEqual([id(1)]);
  expect((await collect(again.read())).at(-1)).toMatchObject({ previousWriter: "closed" });
  await again.close();
  const head = again.journal.head.seq;
  const quiet = await holdfast.open("s");
  expect([quiet.recovered, quiet.journal.head.seq]).toEqual([{ closedCalls: [], damaged: [] }, head]);
});

test("[TURN-2] damage in the tail is journalled once and never served", async () => {
  const disk = await crashedAfter([said("1"), opens(1), closes(1), said("2"), said("3")]);
  const damage = (seqs: readonly number[]) => {
    const { store, ...deps } = memoryDeps(disk);
    return new Holdfast({
      ...deps,
      store: between(store, {
        records: (records) => records.map((record) => (seqs.includes(record.seq) ? { ...record, body: "{}" } : record)),
      }),
    });
  };
  const session = await damage([2, 5]).open("s");
  expect(session.recovered).toEqual({ closedCalls: [], damaged: [2, 5] });
  expect((await collect(session.read())).at(-1)).toMatchObject({ kind: "session-recovered", damaged: [2, 5] });
  const head = session.journal.head.seq;
  await session.close();
  const again = await damage([2, 5]).open("s");
  expect([again.recovered.damaged, again.journal.head.seq]).toEqual([[], head]);
  await again.close();
  const more = await damage([2, 5, 6]).open("s");
  expect(more.recovered.damaged).toEqual([6]);
});

test("[TURN-2] a call whose closing record is damaged is closed again; one whose opening is damaged is not", async () => {
  const disk = await crashedAfter([opens(1), closes(1), opens(2), closes(2)]);
  const open = (seq: number) => {
    const { store, ...deps } = memoryDeps(disk);
    const damaged = between(store, {
      records: (records) => records.map((record) => (record.seq === seq ? { ...record, salt: "x" } : record)),
    });
    return new Holdfast({ ...deps, store: damaged }).open("s");
  };
  const first = await open(2);
  expect(first.recovered).toEqual({ closedCalls: [], damaged: [2] });
  await first.close();
  const second = await open(5);
  expect(second.recovered.closedCalls).toEqual([id(2)]);
});

test("[TURN-1] calls opened before a checkpoint are known behind it, and calls closed before it stay closed", async () => {
  const filler = Array.from({ length: 600 }, (_, n) => said(`${n}`));
  const disk = await crashedAfter([opens(1), opens(2), closes(2), ...filler, opens(3)]);
  const deps = memoryDeps(disk);
  const session = await new Holdfast(deps).open("s");
  expect(session.journal.opened.tail.length).toBeLessThan(100);
  expect(session.recovered.closedCalls).toEqual([id(1), id(3)]);
  expect(session.openCalls).toEqual([]);
  await deps.store.close();

  // The newest checkpoint and a closing record before it are damaged: an older checkpoint still knows the truth.
  const twice = await crashedAfter([opens(1), closes(1), ...filler, ...filler]);
  const { store, ...rest } = memoryDeps(twice);
  const newest = (await store.reading((read) => read.session(toSessionId("s"))))?.checkpoint ?? 0;
  expect(newest).toBeGreaterThan(800);
  const damaged = between(store, {
    records: (records) =>
      records.map((record) => ([3, newest].includes(record.seq) ? { ...record, salt: "x" } : record)),
  });
  const survivor = await new Holdfast({ ...rest, store: damaged }).open("s");
  expect(survivor.recovered).toEqual({ closedCalls: [], damaged: [3, newest] });
});

test("[TURN-1] checkpoints keep opening bounded, whatever the length of the session", async () => {
  const deps = memoryDeps();
  const holdfast = new Holdfast(deps);
  const session = await holdfast.open("s");
  for (let n = 0; n < 20; n += 1) await session.append(Array.from({ length: 100 }, (_, m) => said(`${n}/${m}`)));
  await session.close();
  const again = await holdfast.open("s");
  expect(again.journal.opened.tail.length).toBeLessThanOrEqual(400);
  expect(again.journal.opened.tail[0]).toMatchObject({ kind: "checkpoint-kept" });
});

test("[TURN-3] a fork of a session with open calls closes them for itself and says where it comes from", async () => {
  const deps = memoryDeps();
  const holdfast = new Holdfast(deps);
  const session = await holdfast.open("s");
  await session.append([opens(1), said("x")]);
  const fork = await holdfast.fork("s", { as: "child", after: 2 });
  expect(brief(await collect(fork.read()))).toEqual([
    "1:session-created",
    "2:call-opened",
    "3:forked",
    "4:call-closed",
    "5:session-recovered",
    "6:forked",
  ]);
  expect((await collect(fork.read())).at(-1)).toMatchObject({ from: "s", after: 2 });
  expect(session.openCalls).toEqual([id(1)]);
  await session.append(closes(1));
  expect(brief(await collect(session.read())).at(-1)).toBe("4:call-closed");
});
