import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { scratchFolder } from "../../../test/support/places.ts";
import { memoryStore, said } from "../../../test/support/stores.ts";
import { createHoldfast, type Holdfast } from "../../index.ts";
import { toSessionId } from "../../records/ids.ts";
import { appendOf, applied, begin, linkOf, sealed, take, write } from "../../testing/pen.ts";
import { sqlite } from "./entry.ts";

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
