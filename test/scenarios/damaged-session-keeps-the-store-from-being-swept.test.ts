import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { createHoldfast, type Holdfast, readEntries, toSessionId } from "../../src/index.ts";
import { openSqlite, sqlite } from "../../src/stores/sqlite/entry.ts";
import { startChild } from "../support/children.ts";
import { desk } from "../support/cli.ts";
import { scratchFolder } from "../support/places.ts";
import { brief, collect } from "../support/stores.ts";

// A disk damaged a session's row and what was kept beside it. The session could be neither opened nor deleted, and because
// of that one session nothing was ever swept from the store again.

const folder = scratchFolder();
let places = 0;

const WITNESS = "UPDATE meta SET value = replace(value, '2', '3') WHERE name = 'session one'";
const BOTH = `UPDATE sessions SET epoch = 77 WHERE id = 'one'; ${WITNESS}`;

async function made(path: string): Promise<void> {
  await using holdfast = await createHoldfast({ store: sqlite(path) });
  const one = await holdfast.open("one");
  for (let n = 0; n < 3; n += 1) await one.append({ kind: "user-said", text: `said ${n}` });
  const two = await holdfast.fork("one", { as: "two" });
  await two.append({ kind: "user-said", text: "in the fork" });
  await (await holdfast.open("other")).append({ kind: "user-said", text: "elsewhere" });
  await one.append({ kind: "user-said", text: "only here" });
}

function change(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

async function damaged(sql: string): Promise<string> {
  places += 1;
  const path = join(folder, `${places}`, "store.db");
  await made(path);
  change(path, sql);
  return path;
}

const names = async (holdfast: Holdfast) => (await collect(holdfast.sessions())).map(({ id }) => id);
const storyOf = async (holdfast: Holdfast, id: string) =>
  brief(await collect(readEntries(holdfast.store, toSessionId(id))));

describe("[STORE-44] a session whose row and witness are damaged", () => {
  test.each([
    ["both are altered", BOTH],
    ["the row is gone", `DELETE FROM sessions WHERE id = 'one'; ${WITNESS}`],
    ["both are gone", "DELETE FROM sessions WHERE id = 'one'; DELETE FROM meta WHERE name = 'session one'"],
  ])("is given up when %s, and the store is whole without it", async (_, sql) => {
    const path = await damaged(sql);
    await using holdfast = await createHoldfast({ store: sqlite(path) });
    await expect(holdfast.open("one")).rejects.toMatchObject({ code: "SESSION_DAMAGED" });
    await expect(holdfast.delete("one")).rejects.toMatchObject({ code: "SESSION_DAMAGED" });
    await expect(holdfast.sweep()).rejects.toMatchObject({ code: "SESSION_DAMAGED" });
    const before = [await storyOf(holdfast, "two"), await storyOf(holdfast, "other")];

    const plan = await holdfast.forgetDamaged("one", { dryRun: true });
    expect(plan).toEqual({ session: "one", damaged: expect.stringContaining("row") });
    await expect(holdfast.open("one")).rejects.toMatchObject({ code: "SESSION_DAMAGED" });
    expect(await holdfast.forgetDamaged("one")).toEqual(plan);

    expect(await names(holdfast)).toEqual(["other", "two"]);
    expect((await holdfast.sweep({ graceMs: 0 })).records).toBeGreaterThan(0);
    expect([await storyOf(holdfast, "two"), await storyOf(holdfast, "other")]).toEqual(before);
    expect(await holdfast.verify()).toMatchObject({ ok: true });
    await expect(holdfast.forgetDamaged("one")).rejects.toMatchObject({ code: "SESSION_UNKNOWN" });
    const anew = await holdfast.open("one");
    expect(anew.recovered.mended).toBeUndefined();
    await anew.append({ kind: "user-said", text: "anew" });
    await anew.close();
    await (await holdfast.open("two", { create: false })).close();
  });

  /** Puts the rows out of order: behind this one SQLite finds none by its name. */
  async function outOfOrder(sql: string): Promise<string> {
    const witnesses = "UPDATE meta SET value = replace(value, '2', '3') WHERE name IN ('session other', 'session two')";
    const path = await damaged(`${witnesses}; ${sql}`);
    const bytes = readFileSync(path);
    bytes.write("z", bytes.indexOf("other2026-"));
    writeFileSync(path, bytes);
    return path;
  }

  test("goes also when it lies where it is not found", async () => {
    await using holdfast = await createHoldfast({
      store: sqlite(await outOfOrder("UPDATE sessions SET epoch = 77 WHERE id = 'two'")),
    });
    for (const id of ["two", "other", "zther"]) await holdfast.forgetDamaged(id);
    expect(await names(holdfast)).toEqual(["one"]);
    await holdfast.sweep({ graceMs: 0 });
    expect(await holdfast.verify()).toMatchObject({ ok: true });
  });

  test("goes under its own name and under the one that altered bytes gave it; what lies out of order is not lost", async () => {
    const path = await outOfOrder("SELECT 1");
    await using holdfast = await createHoldfast({ store: sqlite(path) });
    // Its row is whole and not found.
    await expect(holdfast.open("two")).rejects.toMatchObject({ code: "SESSION_DAMAGED" });
    await expect(holdfast.forgetDamaged("two")).rejects.toMatchObject({ code: "SESSION_SOUND" });
    await holdfast.forgetDamaged("other");
    await expect(holdfast.sweep()).rejects.toMatchObject({ code: "SESSION_DAMAGED" });
    await holdfast.forgetDamaged("zther");
    await holdfast.sweep({ graceMs: 0 });
    expect(await names(holdfast)).toEqual(["one", "two"]);
    for (const id of ["one", "two"]) await (await holdfast.open(id, { create: false })).close();
    expect(await holdfast.verify()).toMatchObject({ ok: true });
  });

  test("is not given up while it, or its neighbour, can be put right", async () => {
    const path = await damaged(`${BOTH}; UPDATE sessions SET epoch = 77 WHERE id = 'two'`);
    await using holdfast = await createHoldfast({ store: sqlite(path) });
    for (const whole of ["two", "other"]) {
      await expect(holdfast.forgetDamaged(whole)).rejects.toMatchObject({ code: "SESSION_SOUND" });
      expect(await holdfast.store.commit({ kind: "forget", session: toSessionId(whole) })).toMatchObject({
        conflict: { kind: "session-sound" },
      });
    }
    // All rows are put right or none, so the one that nothing proves was in the way of the other.
    await expect(holdfast.open("two")).rejects.toMatchObject({ code: "SESSION_DAMAGED" });
    await holdfast.forgetDamaged("one");
    const two = await holdfast.open("two", { create: false });
    expect(two.recovered.mended).toContain("checksum");
    await two.close();
    expect(await holdfast.verify()).toMatchObject({ ok: true });
  });

  test("is not given up while another process has the store open, however long it sleeps", async () => {
    const path = await damaged("SELECT 1");
    const child = startChild(`
      import { createHoldfast } from "@/index.ts";
      import { sqlite } from "@/stores/sqlite/entry.ts";
      const holdfast = await createHoldfast({ store: sqlite(${JSON.stringify(path)}) });
      await holdfast.open("one");
      say("open");
      await new Promise(() => setInterval(() => {}, 1000));
    `);
    await child.said("open");
    change(path, BOTH);
    await using holdfast = await createHoldfast({ store: sqlite(path) });
    await expect(holdfast.forgetDamaged("one")).rejects.toMatchObject({ code: "STORE_SHARED" });
    await child.kill();
    await child.ended();
    await holdfast.forgetDamaged("one");
    expect(await names(holdfast)).toEqual(["other", "two"]);
  });

  test("is not given up while this process has it open", async () => {
    const path = await damaged("SELECT 1");
    await using holdfast = await createHoldfast({ store: sqlite(path) });
    await holdfast.open("one");
    const second = await holdfast.open("other");
    change(path, `UPDATE sessions SET epoch = 77, checksum = 'x' WHERE id = 'one'; ${WITNESS}`);
    await second.append({ kind: "user-said", text: "the row that was seen last is another" });
    await expect(holdfast.forgetDamaged("one")).rejects.toMatchObject({ code: "SESSION_BUSY" });
    change(path, "DELETE FROM sessions WHERE id = 'one'");
    await expect(holdfast.forgetDamaged("one", { dryRun: true })).rejects.toMatchObject({ code: "SESSION_BUSY" });
  });

  test("leaves nobody who wrote it once a way into a new one of its name", async () => {
    const path = await damaged(BOTH);
    const store = await openSqlite(path);
    await using holdfast = await createHoldfast({ store });
    await holdfast.forgetDamaged("one");
    const anew = await holdfast.open("one");
    const session = toSessionId("one");
    for (const epoch of [1, 2, 3, 77, 78])
      expect(await store.commit({ kind: "delete", session, epoch })).toMatchObject({
        conflict: { kind: "lease-lost" },
      });
    await anew.close();
  });
});

describe("holdfast delete --damaged", () => {
  const at = desk();

  test("[CLI-30] tells what is wrong and how to save the records first, and gives the session up when told to", async () => {
    const path = join(at.folder, "store.db");
    await made(path);
    const store = ["--store", path] as const;
    expect(await at.run("delete", "one", "--damaged", "--yes", ...store)).toMatchObject({
      code: 3,
      err: expect.stringContaining("SESSION_SOUND"),
    });
    change(path, BOTH);
    expect(await at.run("delete", "one", "--yes", ...store)).toMatchObject({
      code: 3,
      err: expect.stringContaining("--damaged"),
    });
    expect(await at.run("delete", "one", "--damaged", ...store)).toMatchObject({ code: 2 });
    const before = readFileSync(path);
    const plan = await at.run("delete", "one", "--damaged", "--dry-run", ...store);
    expect(plan).toMatchObject({ code: 0, out: expect.stringMatching(/^would give up one: .*checksum/) });
    expect(plan.out).toContain("verify --salvage");
    expect(readFileSync(path)).toEqual(before);
    expect(await at.run("delete", "ome", "--damaged", "--yes", ...store)).toMatchObject({
      code: 3,
      err: expect.stringMatching(/SESSION_UNKNOWN[\s\S]*one/),
    });
    expect(await at.json("delete", "one", "--damaged", "--yes", ...store)).toEqual({
      ok: true,
      dryRun: false,
      session: "one",
      damaged: expect.stringContaining("checksum"),
    });
    expect(await at.json("gc", "--grace", "0s", ...store)).toMatchObject({ ok: true });
    expect(await at.json("verify", ...store)).toMatchObject({ ok: true });
  });
});
