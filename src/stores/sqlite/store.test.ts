import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { scratchFolder } from "../../../test/support/places.ts";
import { testTogether } from "../../../test/support/together.ts";
import type { AppendBatch, Store } from "../../contracts/store.ts";
import { FixedClock } from "../../base/clock.ts";
import { genesisOf, type Link, seal } from "../../records/chain.ts";
import { toSessionId } from "../../records/ids.ts";
import { appendOf, applied, begin, expectBodies, write } from "../../testing/pen.ts";
import { HandSetClock } from "../../testing/store-laws/context.ts";
import { sweepAll } from "../../testing/store-laws/sweeping.ts";
import { openSqlite, type SqliteOptions } from "./open.ts";
import { nodeSqlite } from "./vendor.ts";

const session = toSessionId("two-writers");
const folder = scratchFolder();
const stores: Store[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});

const appendAfter = (after: Link, epoch: number): AppendBatch => {
  const record = seal(after, { kind: "user-said", at: "2026-01-01T00:00:00.000Z", version: 1, salt: "00", body: "{}" });
  return { kind: "append", session, epoch, after, records: [record], blobs: [], references: [], leaseMs: 10 };
};
const tipOf = (batch: AppendBatch): Link => batch.records.at(-1) as Link;

testTogether(
  "[STORE-5] a holder that remembers the row as it left it is refused once another store has taken over",
  async () => {
    const [slow, quick] = [await openSqlite(join(folder, "s.db")), await openSqlite(join(folder, "s.db"))];
    stores.push(slow, quick);
    await slow.commit({ kind: "create", session, at: "2026-01-01T00:00:00.000Z", genesis: genesisOf(session) });
    await slow.commit({ kind: "lease", session, owner: slow.owner, leaseMs: 10 });
    const first = appendAfter(genesisOf(session), 1);
    expect(await slow.commit(first)).toMatchObject({ ok: true, last: 1 });

    await quick.commit({ kind: "lease", session, owner: quick.owner, leaseMs: 10, over: 1 });
    const late = appendAfter(tipOf(first), 1);
    expect(await slow.commit(late)).toEqual({ ok: false, conflict: { kind: "lease-lost", epoch: 2 } });

    const rightful = appendAfter(tipOf(first), 2);
    expect(await quick.commit(rightful)).toMatchObject({ ok: true, last: 2 });
    expect(await slow.commit({ kind: "release", session, epoch: 1 })).toMatchObject({ ok: false });
    const row = await slow.reading((read) => read.session(session));
    expect(row).toMatchObject({ epoch: 2, owner: quick.owner, head: { seq: 2, hash: tipOf(rightful).hash } });
  },
);

test.each(["lease", "renew", "append"] as const)(
  "[STORE-31] %s: what waited for somebody else's transaction runs from when it is written",
  async (kind) => {
    const path = join(folder, `${kind}.db`);
    const clock = new HandSetClock();
    const store = await openSqlite(path, { clock });
    stores.push(store);
    await store.commit({ kind: "create", session, at: "2026-01-01T00:00:00.000Z", genesis: genesisOf(session) });
    const lease = { kind: "lease", session, owner: store.owner, leaseMs: 10 } as const;
    if (kind !== "lease") await store.commit(lease);

    const stopped = new DatabaseSync(path);
    stopped.exec("BEGIN IMMEDIATE");
    const asked = store.commit(
      kind === "lease"
        ? lease
        : kind === "renew"
          ? { kind, session, epoch: 1, leaseMs: 10 }
          : appendAfter(genesisOf(session), 1),
    );
    await pause(20); // it has tried, and tries again
    clock.pass(60_000);
    stopped.exec("ROLLBACK");
    stopped.close();
    expect(await asked).toMatchObject({ ok: true });
    const row = await store.reading((read) => read.session(session));
    expect(row?.leaseUntil).toBe(clock.now() + 10);
  },
);

/** How many connections to the store's file are open, and how many were at most. */
async function countedConnections(path: string) {
  const driver = await nodeSqlite();
  const count = { open: 0, most: 0 };
  const counting: SqliteOptions["driver"] = {
    ...driver,
    open(file, options) {
      const connection = driver.open(file, options);
      if (file !== path) return connection;
      count.open += 1;
      count.most = Math.max(count.most, count.open);
      return {
        exec: (sql) => connection.exec(sql),
        prepare: (sql) => connection.prepare(sql),
        close() {
          connection.close();
          count.open -= 1;
        },
      };
    },
  };
  return { count, driver: counting };
}

test("[STORE-32] two hundred readers at once use a handful of connections, and all are answered", async () => {
  const path = join(folder, "readers.db");
  const { count, driver } = await countedConnections(path);
  const store = await openSqlite(path, { driver });
  stores.push(store);
  await store.commit({ kind: "create", session, at: "2026-01-01T00:00:00.000Z", genesis: genesisOf(session) });
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, nth) =>
      store
        .reading(async (read) => {
          if (nth % 3 === 0) await pause(1);
          if (nth % 7 === 0) throw new Error("mine");
          return (await read.session(session))?.id;
        })
        .catch((error: unknown) => (error as Error).message),
    ),
  );
  expect(answers).toEqual(Array.from({ length: 200 }, (_, nth) => (nth % 7 === 0 ? "mine" : session)));
  expect(count.most).toBeLessThanOrEqual(9);
  expect(count.open).toBeLessThanOrEqual(3);
  await store.close();
  expect(count.open).toBe(0);
});

test("[STORE-32] readers that wait for each other are told that the store is busy, and the next one is answered", async () => {
  const clock = new FixedClock();
  const store = await openSqlite(join(folder, "nested.db"), { busyLimit: 50, clock });
  stores.push(store);
  let inside = 0;
  const nested = Array.from({ length: 8 }, () =>
    store.reading(() => {
      inside += 1;
      return store.reading(async () => 1);
    }),
  );
  while (inside < 8) await pause(1);
  clock.advance(51);
  const results = await Promise.allSettled(nested);
  const busy = results.filter(({ status }) => status === "rejected");
  expect(busy.length).toBeGreaterThan(0);
  for (const result of busy) expect(result).toMatchObject({ reason: { code: "STORE_BUSY" } });
  expect(await Promise.all(Array.from({ length: 20 }, () => store.reading(async () => 2)))).toEqual(Array(20).fill(2));
});

test("[STORE-33] the file shrinks by what was freed, step by step, while others write", async () => {
  const path = join(folder, "shrinks.db");
  const store = await openSqlite(path, { durability: "process" });
  stores.push(store);
  const pen = await begin(store);
  const { head: before } = pen;
  for (let n = 0; n < 40; n += 1) await write(pen, JSON.stringify("x".repeat(200_000)));
  const keep = await write(pen, '"kept"');
  applied(await store.commit(appendOf(pen, [], { anchor: { seq: 40, hash: keep[0]?.prev ?? before.hash } })));
  await sweepAll(store);
  let ended = false;
  const shrinking = store.shrink().finally(() => {
    ended = true;
  });
  await write(pen, '"meanwhile"');
  expect(ended).toBe(false);
  const { bytes, whole } = await shrinking;
  expect(bytes).toBeGreaterThan(7_000_000);
  expect(whole).toBe(true);
  expect(statSync(path).size).toBeLessThan(200_000);
  await write(pen, '"after"');
  await expectBodies(store, "session", ['"kept"', '"meanwhile"', '"after"']);
  expect(await store.reading((read) => read.structure())).toEqual([]);
});

test("[HOST-7] everything that a store makes beside its file is told, so that commands are kept from it", async () => {
  const path = join(folder, "beside.db");
  const store = await openSqlite(path);
  stores.push(store);
  await store.blobs.put(new Uint8Array(100_000));
  const made = readdirSync(folder).filter((name) => name.startsWith("beside.db") && name !== "beside.db");
  expect(made.length).toBeGreaterThan(3);
  for (const name of made) expect(store.beside).toContain(name.slice("beside.db".length));
});

describe("[STORE-43] a body that was dropped", () => {
  const SAID = "nobody-may-read-this-again";
  let places = 0;
  const dropping = async (mayLinger: boolean, busyLimit = 10_000) => {
    places += 1;
    const path = join(folder, `dropped-${places}.db`);
    const store = await openSqlite(path, { durability: "process", busyLimit });
    stores.push(store);
    const pen = await begin(store);
    await write(pen, JSON.stringify(SAID.repeat(16_000)));
    const { size: before } = statSync(`${path}-wal`);
    const { session, epoch } = pen;
    const seqs = [pen.head.seq];
    applied(await store.commit({ kind: "drop", session, epoch, seqs, reason: "a test", mayLinger }));
    const { size: after } = statSync(`${path}-wal`);
    const isFound = () => [path, `${path}-wal`].some((file) => readFileSync(file).includes(SAID));
    return { store, path, written: after - before, isFound };
  };

  test("is wiped, or, where it has merely grown old, not written once more", async () => {
    expect((await dropping(false)).written).toBeGreaterThan(400_000);
    expect((await dropping(true)).written).toBeLessThan(40_000);
  });

  test.each(["in the same transaction", "in a later one"])(
    "is wiped also behind one that has merely grown old, %s",
    async (when) => {
      const { store, path } = await dropping(true);
      const pen = await begin(store, "other");
      for (let nth = 0; nth < 2; nth += 1) await write(pen, JSON.stringify(SAID.repeat(16_000)));
      const { session, epoch, head } = pen;
      const drop = (seq: number, mayLinger: boolean) =>
        store.commit({ kind: "drop", session, epoch, seqs: [seq], reason: "a test", mayLinger });
      const { size: before } = statSync(`${path}-wal`);
      const old = drop(head.seq - 1, true);
      if (when === "in a later one") await old;
      await Promise.all([old, drop(head.seq, false)]);
      expect(statSync(`${path}-wal`).size - before).toBeGreaterThan(400_000);
    },
  );

  test.each([false, true])(
    "is in none of the store's files once space was given back (lingering: %s)",
    async (linger) => {
      const { store, isFound } = await dropping(linger);
      expect(isFound()).toBe(true); // in the log
      expect(await store.shrink()).toMatchObject({ whole: true });
      expect(isFound()).toBe(false);
    },
  );

  test("is gone also when somebody frees more meanwhile than a step gives back", async () => {
    const { store, isFound } = await dropping(true);
    const pen = await begin(store, "other");
    const seqs: number[] = [];
    for (let nth = 0; nth < 4; nth += 1) {
      await write(pen, JSON.stringify("x".repeat(4_000_000)));
      seqs.push(pen.head.seq);
    }
    const { session, epoch } = pen;
    const shrinking = store.shrink();
    for (const seq of seqs)
      applied(await store.commit({ kind: "drop", session, epoch, seqs: [seq], reason: "a test", mayLinger: true }));
    expect(await shrinking).toMatchObject({ whole: true });
    expect(isFound()).toBe(false);
  });

  test("may be found where the file was made so that no space can be given back, and that is told", async () => {
    const path = join(folder, "rigid.db");
    await (await openSqlite(path)).close();
    const database = new DatabaseSync(path);
    database.exec("PRAGMA auto_vacuum = NONE; VACUUM");
    database.close();
    const store = await openSqlite(path);
    stores.push(store);
    const pen = await begin(store);
    await write(pen, JSON.stringify(SAID.repeat(16_000)));
    const { session, epoch, head } = pen;
    const seqs = [head.seq];
    applied(await store.commit({ kind: "drop", session, epoch, seqs, reason: "a test", mayLinger: true }));
    expect(await store.shrink()).toMatchObject({ whole: false });
    expect(readFileSync(path).includes(SAID)).toBe(true);
  });

  test("may be found while somebody reads from before, and that is told", async () => {
    const { store, path, isFound } = await dropping(true, 50);
    const reader = new DatabaseSync(path);
    reader.exec("BEGIN; SELECT count(*) FROM records");
    expect(await store.shrink()).toMatchObject({ whole: false });
    expect(isFound()).toBe(true);
    reader.close();
    expect(await store.shrink()).toMatchObject({ whole: true });
    expect(isFound()).toBe(false);
  });
});

test("[STORE-19] [STORE-32] readers that still wait for their turn when the store closes are told so", async () => {
  const store = await openSqlite(join(folder, "closes.db"), { busyLimit: Number.POSITIVE_INFINITY });
  const gate = Promise.withResolvers<void>();
  const reading = Array.from({ length: 8 }, () => store.reading(() => gate.promise));
  // Heard at once: told while the others are still awaited, it would be a rejection that nobody handles.
  const late = store.reading(async () => "too late").catch((error: unknown) => error);
  const closing = store.close();
  gate.resolve();
  await Promise.all(reading);
  expect(await late).toMatchObject({ code: "STORE_CLOSED" });
  await closing;
});
