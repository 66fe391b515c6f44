import { callIdAt } from "../records/ids.ts";
import { describe, expect, test } from "vitest";
import { between, brief, collect, memoryDeps, said } from "../../test/support/stores.ts";
import { forkSession } from "./fork.ts";
import { openJournal } from "./open.ts";
import { dropBodies, retain } from "./retention.ts";
import { sweep } from "./sweep.ts";
import { verify } from "./verify.ts";

/** Checkpoints at 10, 20, 30, …; one record a second. */
async function made(count: number, text = "x") {
  const deps = memoryDeps();
  const journal = await openJournal(deps, "s", { leaseMs: 86_400_000 });
  for (let seq = 1; seq <= count; seq += 1) {
    deps.clock.advance(1_000);
    await journal.append(seq % 10 === 0 ? { kind: "checkpoint-kept", openCalls: [] } : said(text));
  }
  return { deps, journal };
}

describe("[JOURNAL-16] retention", () => {
  test("cuts at the oldest checkpoint that leaves the session within its bound, the record of the cut included", async () => {
    for (const [records, anchor] of [
      [7, 39],
      [16, 39],
      [17, 29],
      [26, 29],
      [27, 19],
      [36, 19],
      [37, 9],
      [44, 9],
    ] as const) {
      const { deps, journal } = await made(45);
      const { forgotten, withinBounds } = await retain(deps, journal, { records });
      const kept = await collect(journal.read());
      expect([records, forgotten, withinBounds]).toEqual([records, anchor, true]);
      expect(kept.length).toBeLessThanOrEqual(records);
      expect(kept[0]).toMatchObject({ kind: "checkpoint-kept", seq: anchor + 1 });
      expect(kept.at(-1)).toMatchObject({ kind: "history-cut", through: anchor, records: anchor });
    }
  });

  test("leaves alone what is within bounds", async () => {
    const { deps, journal } = await made(45);
    for (const bounds of [{}, { records: 45 }, { bytes: 1e6 }, { ageMs: 45_000 }, { records: 45, bytes: 1e6 }]) {
      expect(await retain(deps, journal, bounds)).toEqual({ forgotten: 0, withinBounds: true });
    }
    expect(journal.head.seq).toBe(45);
  });

  test("a record whose time is damaged has no age: it moves no bound, neither one that was given nor one that was not", async () => {
    const { deps, journal } = await made(45);
    const store = between(deps.store, {
      records: (records) => records.map((record) => (record.seq === 15 ? { ...record, at: "2026-?" } : record)),
    });
    for (const bounds of [{ records: 1_000 }, { ageMs: 100_000 }])
      expect(await retain({ ...deps, store }, journal, bounds)).toEqual({ forgotten: 0, withinBounds: true });
    expect(await retain({ ...deps, store }, journal, { ageMs: 27_000 })).toMatchObject({ forgotten: 19 });
  });

  test("keeps the newest checkpoint and what follows it even over the bound, and says so", async () => {
    const { deps, journal } = await made(45);
    expect(await retain(deps, journal, { records: 1 })).toEqual({ forgotten: 39, withinBounds: false });
    expect(brief(await collect(journal.read()))[0]).toBe("40:checkpoint-kept");
    const young = await made(5);
    expect(await retain(young.deps, young.journal, { records: 1 })).toEqual({ forgotten: 0, withinBounds: false });
  });

  test("counts tokens, by whoever counts them", async () => {
    const { deps, journal } = await made(45, "four");
    const counter = { name: "ten a record", exact: true, count: () => 10 };
    expect(await retain({ ...deps, counter }, journal, { tokens: 60 + 64 })).toEqual({
      forgotten: 39,
      withinBounds: true,
    });
    const other = await made(45, "x".repeat(400));
    expect(await retain(other.deps, other.journal, { tokens: 1_600 })).toEqual({ forgotten: 29, withinBounds: true });
    expect(await retain(other.deps, other.journal, { tokens: 10 })).toMatchObject({ withinBounds: false });
  });

  test("counts bytes of text, not characters", async () => {
    const { deps, journal } = await made(45, "\u{1F980}".repeat(100));
    const whole =
      41 * (Buffer.byteLength("\u{1F980}".repeat(100)) + '{"text":""}'.length) + 4 * '{"openCalls":[]}'.length;
    expect((await retain(deps, journal, { bytes: whole })).forgotten).toBe(0);
    expect((await retain(deps, journal, { bytes: whole - 1 })).forgotten).toBeGreaterThan(0);
  });

  test("bounds age", async () => {
    const { deps, journal } = await made(45);
    expect((await retain(deps, journal, { ageMs: 25_000 })).forgotten).toBe(19);
  });

  test.each([
    ["records", -1],
    ["records", Number.NaN],
    ["bytes", "many"],
    ["count", 5],
    ["ageMs", null],
  ])("refuses the bound %s: %s", async (option, value) => {
    const { deps, journal } = await made(20);
    await expect(retain(deps, journal, { [option]: value as number })).rejects.toMatchObject({
      code: "BAD_OPTION",
      details: { option },
    });
    expect(journal.head.seq).toBe(20);
  });

  test("leaves a session that opens, verifies, forks and is cut again", async () => {
    const { deps, journal } = await made(45);
    await retain(deps, journal, { records: 30 });
    await journal.close();
    await sweep(deps, { graceMs: 0 });
    const again = await openJournal(deps, "s");
    expect(again.opened.tail[0]).toMatchObject({ seq: 40 });
    expect(await verify(deps.store)).toMatchObject({ ok: true });
    await forkSession(deps, "s", { as: "child", after: 25 });
    await expect(forkSession(deps, "s", { as: "other", after: 10 })).rejects.toMatchObject({
      code: "FORK_POINT_UNKNOWN",
    });
    await retain(deps, again, { records: 10 });
    await sweep(deps, { graceMs: 0 });
    expect(await verify(deps.store)).toMatchObject({ ok: true });
    const child = await openJournal(deps, "child");
    expect((await collect(child.read())).map(({ seq }) => seq)).toEqual([20, 21, 22, 23, 24, 25]);
  });
});

test("[STORE-16] dropped bodies leave proof that they were there, and why they are not", async () => {
  const { deps, journal } = await made(12);
  expect(await dropBodies(deps.store, journal, [3, 4, 99], "a secret")).toMatchObject({ dropped: 2 });
  const entries = await collect(journal.read());
  expect(entries[2]).toMatchObject({ kind: "dropped", seq: 3, was: "user-said", reason: "a secret" });
  expect(await verify(deps.store)).toMatchObject({ ok: true, sessions: [{ records: 12, dropped: 2 }] });
  await journal.close();
  await expect(dropBodies(deps.store, journal, [5], "late")).rejects.toMatchObject({ code: "LEASE_LOST" });
});

test("[JOURNAL-25] somebody else writes before the last of many bodies is dropped", async () => {
  const { deps, journal } = await made(300);
  const other = await openJournal(deps, "other");
  let steps = 0;
  const store = between(deps.store, {
    before: async ({ kind }) => {
      if (kind === "drop") steps += 1;
      if (steps === 2) await other.append(said("meanwhile"));
      return undefined;
    },
  });
  const everything = Array.from({ length: 299 }, (_, index) => index + 1);
  expect(await dropBodies(store, journal, everything, "stale")).toMatchObject({ dropped: 299 });
  expect(other.head.seq).toBeGreaterThan(0);
});

test("[STORE-16] what recovery needs keeps its body until a checkpoint stands behind it", async () => {
  const { deps, journal } = await made(3);
  const callId = callIdAt(journal.session, 1, 0);
  const call = { callId, tool: "t" };
  const opened = await journal.append({ kind: "call-opened", ...call, args: {} });
  const closed = await journal.append({ kind: "call-closed", ...call, status: "success", output: "secret" });
  const both = [opened.last, closed.last];
  expect(await dropBodies(deps.store, journal, both, "a secret")).toMatchObject({ dropped: 0 });
  await journal.append({ kind: "checkpoint-kept", openCalls: [] });
  expect(await dropBodies(deps.store, journal, both, "a secret")).toMatchObject({ dropped: 2 });
});

test("[STORE-16] the cut falls at a checkpoint that has its body, and the one it falls at keeps it", async () => {
  const { deps, journal } = await made(3);
  const first = await journal.append({ kind: "checkpoint-kept", openCalls: [] });
  await journal.append(said("a"));
  const second = await journal.append({ kind: "checkpoint-kept", openCalls: [] });
  await journal.append(said("b"));
  expect(await dropBodies(deps.store, journal, [second.last], "stale")).toMatchObject({ dropped: 1 });
  await retain(deps, journal, { records: 3 });
  const [oldest] = await collect(journal.read());
  expect(oldest).toMatchObject({ kind: "checkpoint-kept", seq: first.last });
  expect(await dropBodies(deps.store, journal, [first.last], "stale")).toMatchObject({ dropped: 0 });
});
