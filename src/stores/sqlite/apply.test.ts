import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { scratchFolder } from "../../../test/support/places.ts";
import { memoryStore, said } from "../../../test/support/stores.ts";
import { createHoldfast, type Holdfast } from "../../index.ts";
import { toSessionId } from "../../records/ids.ts";
import { appendOf, applied, begin, linkOf, sealed, take, write } from "../../testing/pen.ts";
import { sqlite } from "./entry.ts";
import { openSqlite } from "./open.ts";
import { nodeSqlite, type SqliteDriver, type SqliteStatement } from "./vendor.ts";

const folder = scratchFolder();
let places = 0;

/** Two sessions in a closed store, to which this was done; opened again. */
async function after(sql: string): Promise<Holdfast> {
  places += 1;
  const path = join(folder, `${places}.db`);
  const open = () => createHoldfast({ store: sqlite(path, { durability: "process" }) });
  const holdfast = await open();
  for (const id of ["one", "two"]) {
    const session = await holdfast.open(id);
    await session.append(said("hunter2-of-old-times"));
    await session.close();
  }
  await holdfast.close();
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
  return open();
}

const LOST = "DELETE FROM sessions WHERE id = 'one'; DELETE FROM meta WHERE name LIKE 'session %'";
const ALTERED = "UPDATE sessions SET epoch = 77 WHERE id = 'one'";
const damaged = { code: "SESSION_DAMAGED" };

describe("a damaged session", () => {
  test.each([
    ["whose row is altered", ALTERED],
    ["whose row is lost", LOST],
  ])("[STORE-35] %s keeps its name: no fork takes it", async (_, sql) => {
    await using holdfast = await after(sql);
    await expect(holdfast.fork("two", { as: "one" })).rejects.toMatchObject(damaged);
  });

  test("[STORE-35] [REDACT-10] nothing is dropped from its neighbour while nobody knows what it shares with it", async () => {
    await using holdfast = await after(ALTERED);
    holdfast.registerSecret("hunter2-of-old-times");
    await expect(holdfast.dropSecrets("two")).rejects.toMatchObject(damaged);
  });

  test("[STORE-35] with records beyond its newest is written by nobody: what is appended there would not be found again", async () => {
    await using holdfast = await after(`
      CREATE TEMP TABLE beyond AS SELECT * FROM records WHERE key IN (SELECT max(key) FROM records GROUP BY key >> 32);
      UPDATE beyond SET key = key + 1;
      INSERT INTO records SELECT * FROM beyond;`);
    await expect(holdfast.open("one")).rejects.toMatchObject(damaged);
  });
});

test("[STORE-14] a sweep removes no more than it is told at once, also where one segment has several gaps", async () => {
  const store = memoryStore();
  const origin = await begin(store, "origin");
  const records = await write(origin, '"1"', '"2"', '"3"', '"4"', '"5"');
  const fork = {
    kind: "fork",
    from: origin.session,
    session: toSessionId("fork"),
    at: "2026-01-01T00:00:00.000Z",
  } as const;
  applied(await store.commit({ ...fork, after: linkOf(records[2]!) }));
  const pen = await take(store, "fork");
  const anchor = linkOf(records[0]!);
  applied(await store.commit(appendOf(pen, sealed(pen.head, '"own"'), { anchor })));
  applied(await store.commit({ kind: "delete", session: origin.session, epoch: origin.epoch }));
  const swept: number[] = [];
  for (let more = true; more; ) {
    const receipt = applied(await store.commit({ kind: "sweep", limit: 1, candidates: [] }));
    swept.push(receipt.records);
    more = receipt.more;
  }
  expect(swept.filter((count) => count > 0)).toEqual([1, 1, 1]); // the first, the fourth and the fifth
  expect(Math.max(...swept)).toBe(1);
});

test("[STORE-49] a step of a sweep reads the rows of sessions whole that somebody has written since, and their neighbours, and no others", async () => {
  let whole = 0;
  const driver = await nodeSqlite();
  const counting: SqliteDriver = {
    ...driver,
    open: (path, how) => {
      const connection = driver.open(path, how);
      const prepare = (sql: string): SqliteStatement => {
        const statement = connection.prepare(sql);
        const all: SqliteStatement["all"] = (...values) => {
          const rows = statement.all(...values);
          if (/^SELECT id, created_at.* ORDER BY id/.test(sql)) whole += rows.length;
          return rows;
        };
        return new Proxy(statement, {
          get: (of, name) => (name === "all" ? all : (of[name as "run"].bind(of) as unknown)),
        });
      };
      return { exec: (sql) => connection.exec(sql), prepare, close: () => connection.close() };
    },
  };
  const store = await openSqlite(join(folder, "forks.db"), { durability: "process", driver: counting });
  const origin = await begin(store, "origin");
  const [record] = await write(origin, '"1"');
  const fork = { kind: "fork", from: origin.session, after: linkOf(record!), at: "2026-01-01T00:00:00.000Z" } as const;
  for (let nth = 1; nth < 600; nth += 1)
    applied(await store.commit({ ...fork, session: toSessionId(`fork-${String(nth).padStart(3, "0")}`) }));
  const step = async () => {
    whole = 0;
    applied(await store.commit({ kind: "sweep", limit: 256, candidates: [] }));
    return whole;
  };
  expect([await step(), await step()]).toEqual([600, 0]);
  await take(store, "fork-300");
  expect(await step()).toBe(256);
  expect(await step()).toBe(0);
  const gone = await take(store, "fork-400");
  applied(await store.commit({ kind: "delete", session: gone.session, epoch: gone.epoch }));
  expect(await step()).toBeLessThanOrEqual(2 * 256);
  await store.close();
});
