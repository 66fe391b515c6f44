import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { startChild } from "../../../test/support/children.ts";
import { scratchFolder } from "../../../test/support/places.ts";
import { brief, collect } from "../../../test/support/stores.ts";
import { HoldfastError } from "../../base/errors.ts";
import { createHoldfast, readEntries, toSessionId } from "../../index.ts";
import { sqlite } from "./entry.ts";

const folder = scratchFolder();
let places = 0;
const PAGE = 4096;

/** A closed store with two sessions and a fork; with `alive`, one whose writer was killed before it could release. */
async function made(alive = false): Promise<string> {
  places += 1;
  const path = join(folder, `${places}`, "store.db");
  const child = startChild(`
    import { createHoldfast } from "@/index.ts";
    import { sqlite } from "@/stores/sqlite/entry.ts";
    const holdfast = await createHoldfast({ store: sqlite(${JSON.stringify(path)}) });
    const one = await holdfast.open("one");
    for (let n = 0; n < 5; n += 1) await one.append({ kind: "user-said", text: "said " + n });
    const two = await holdfast.fork("one", { as: "two" });
    await two.append({ kind: "user-said", text: "in the fork" });
    await two.close();
    await one.append({ kind: "user-said", text: "last" });
    say("written");
    ${alive ? "await new Promise(() => setInterval(() => {}, 1000));" : "await one.close(); await holdfast.close();"}
  `);
  await child.said("written");
  if (alive) await child.kill();
  await child.ended();
  if (alive) {
    // What is examined is the file itself: the log goes into it, as the next opener would have it.
    const database = new DatabaseSync(path);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
  }
  return path;
}

function copyOf(path: string): string {
  places += 1;
  const to = join(folder, `${places}`);
  cpSync(join(path, ".."), to, { recursive: true });
  return join(to, "store.db");
}

function change(path: string, sql: string): string {
  const copy = copyOf(path);
  const database = new DatabaseSync(copy);
  database.exec(sql);
  database.close();
  return copy;
}

async function storiesIn(path: string): Promise<Readonly<Record<string, readonly string[]>>> {
  await using holdfast = await createHoldfast({ store: sqlite(path) });
  const stories: Record<string, readonly string[]> = {};
  for (const id of ["one", "two"]) stories[id] = brief(await collect(readEntries(holdfast.store, toSessionId(id))));
  return stories;
}

/** The page that holds the rows, and which of its bytes are in use. */
function rowsPage(path: string): { readonly start: number; readonly used: readonly number[] } {
  const database = new DatabaseSync(path);
  const root = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'sessions'").get() as {
    rootpage: number;
  };
  database.close();
  const start = (root.rootpage - 1) * PAGE;
  const bytes = readFileSync(path).subarray(start, start + PAGE);
  return { start, used: [...bytes.keys()].filter((at) => at < 12 || bytes[at] !== 0) };
}

function flipped(path: string, at: number, bit: number): string {
  const copy = copyOf(path);
  const bytes = readFileSync(copy);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
  writeFileSync(copy, bytes);
  return copy;
}

describe("[STORE-35] a damaged session", () => {
  test.each([
    ["its row is altered", "UPDATE sessions SET epoch = 77 WHERE id = 'one'"],
    ["its row is gone", "DELETE FROM sessions WHERE id = 'one'"],
  ])("is listed as that when %s, and listed as any other when it was mended", async (_, sql) => {
    const path = change(await made(), sql);
    await using holdfast = await createHoldfast({ store: sqlite(path) });
    const listed = await collect(holdfast.sessions());
    expect(listed.map(({ id }) => id)).toEqual(["one", "two"]);
    expect(listed[0]).toMatchObject({ code: "SESSION_DAMAGED", damaged: expect.stringContaining("row") });
    expect(listed[1]).not.toHaveProperty("damaged");
    await (await holdfast.open("one", { create: false })).close();
    expect((await collect(holdfast.sessions())).some((row) => "damaged" in row)).toBe(false);
  });

  test("is listed when the page of the rows cannot be read at all", async () => {
    const path = await made();
    const { start } = rowsPage(path);
    await using holdfast = await createHoldfast({ store: sqlite(flipped(path, start, 0)) });
    const listed = await collect(holdfast.sessions());
    expect(listed).toMatchObject(["one", "two"].map((id) => ({ id, code: "SESSION_DAMAGED" })));
    await expect(holdfast.open("one")).rejects.toMatchObject({ code: "STORE_DAMAGED" });
  });
});

describe("[STORE-34] damage to a session's own row", () => {
  test.each([
    ["of a closed store", false],
    ["of one whose writer died", true],
  ])("whichever byte of its page %s is altered, every record is read", async (_, alive) => {
    const path = await made(alive);
    const truth = await storiesIn(copyOf(path));
    const { start, used } = rowsPage(path);
    const lost: string[] = [];
    const stride = 3;
    for (const at of used.filter((byte) => byte < 16 || byte % stride === places % stride)) {
      const damaged = flipped(path, start + at, at % 8);
      const read = await storiesIn(damaged).catch((error: unknown) => (HoldfastError.is(error) ? error.code : error));
      if (JSON.stringify(read) !== JSON.stringify(truth)) lost.push(`byte ${at}: ${JSON.stringify(read)}`);
    }
    expect(lost).toEqual([]);
  });

  test.each([
    ["its head", "UPDATE sessions SET head_seq = 3 WHERE id = 'one'"],
    ["its epoch", "UPDATE sessions SET epoch = 77 WHERE id = 'one'"],
    ["its segments", "UPDATE sessions SET segments = '[[9,null]]' WHERE id = 'one'"],
    ["its id", "UPDATE sessions SET id = 'ond' WHERE id = 'one'"],
    ["all of it", "DELETE FROM sessions WHERE id = 'one'"],
  ])("%s is put right by whoever opens it to write, once, and it is told", async (_, sql) => {
    const path = change(await made(), sql);
    const before = (await storiesIn(path))["one"] ?? [];
    await using holdfast = await createHoldfast({ store: sqlite(path) });
    const session = await holdfast.open("one", { create: false });
    expect(session.recovered.mended).toMatch(/row|name/);
    await session.append({ kind: "user-said", text: "it goes on" });
    await session.close();
    expect((await holdfast.verify()).ok).toBe(true);
    const again = await holdfast.open("one", { create: false });
    expect(again.recovered).toEqual({ closedCalls: [], damaged: [] });
    const kinds = brief(await collect(again.read()));
    expect(kinds.slice(0, before.length)).toEqual(before);
    expect(kinds.slice(before.length).map((entry) => entry.split(":")[1])).toEqual(["session-recovered", "user-said"]);
    await again.close();
    const fork = await holdfast.open("two", { create: false });
    expect(fork.recovered.mended).toBeUndefined();
    await fork.close();
    await holdfast.sweep({ graceMs: 0 });
    expect((await holdfast.verify()).ok).toBe(true);
  });

  test.each([
    ["there is nothing beside it", "UPDATE sessions SET epoch = 77; DELETE FROM meta WHERE name LIKE 'session %'"],
    [
      "what is beside it is damaged, too",
      "UPDATE sessions SET epoch = 77; UPDATE meta SET value = replace(value, '2', '3') WHERE name LIKE 'session %'",
    ],
    [
      "acknowledged records are gone, too",
      "UPDATE sessions SET epoch = 77 WHERE id = 'one'; DELETE FROM records WHERE key = (SELECT max(key) FROM records WHERE key < 2 * 4294967296)",
    ],
    [
      "the chain is broken where it must prove it",
      "UPDATE sessions SET epoch = 77 WHERE id = 'one'; UPDATE records SET prev = hash WHERE key = (SELECT max(key) FROM records WHERE key < 2 * 4294967296)",
    ],
  ])("is refused when %s, and nothing is written", async (_, sql) => {
    const path = change(await made(true), sql);
    await using holdfast = await createHoldfast({ store: sqlite(path) });
    const rows = () => new DatabaseSync(path, { readOnly: true }).prepare("SELECT * FROM sessions").all();
    const before = rows();
    await expect(holdfast.open("one", { create: false })).rejects.toMatchObject({ code: "SESSION_DAMAGED" });
    expect(rows()).toEqual(before);
    expect((await holdfast.verify()).ok).toBe(false);
  });

  test("is rebuilt with what a living writer has appended since, and that writer goes on", async () => {
    const path = await made();
    await using holdfast = await createHoldfast({ store: sqlite(path) });
    const writer = await holdfast.open("one", { create: false });
    await writer.append({ kind: "user-said", text: "new" });
    const meddler = new DatabaseSync(path);
    meddler.exec("UPDATE sessions SET lease_until = lease_until + 1 WHERE id = 'one'");
    meddler.close();
    expect(brief(await collect(readEntries(holdfast.store, writer.id))).at(-1)).toMatch(/user-said$/);
    await writer.append({ kind: "user-said", text: "more" }); // it knows the whole row, and writes the whole row
    await writer.close();
    expect((await holdfast.verify()).ok).toBe(true);
  });
});
