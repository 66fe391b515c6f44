import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { salvageSqlite } from "../../src/stores/sqlite/entry.ts";
import type { Holdfast } from "../../src/turn/holdfast.ts";
import { scratchFolder } from "../support/places.ts";
import { holdfastAt } from "../support/sessions.ts";
import { collect, said } from "../support/stores.ts";

const folder = scratchFolder();

test("[R07] what a full disk left, somebody else's file and an unknown mode are three different refusals", async () => {
  const empty = join(folder, "empty.db");
  writeFileSync(empty, "");
  const foreign = join(folder, "foreign.db");
  writeFileSync(foreign, '{"type":"session"}\n');
  const odd = join(folder, "odd.db");
  await (await holdfastAt(odd)).close();
  const database = new DatabaseSync(odd);
  database.exec("UPDATE meta SET value = 'yolo' WHERE name = 'durability'");
  database.close();
  for (const [path, code] of [
    [empty, "STORE_EMPTY_FILE"],
    [foreign, "STORE_FOREIGN_FILE"],
    [odd, "STORE_BAD_MODE"],
  ] as const) {
    const before = readFileSync(path);
    const failure: unknown = await holdfastAt(path).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code, tryThis: expect.stringMatching(/\w/) as string });
    expect(readFileSync(path).equals(before)).toBe(true);
  }
});

/** A store with one session, of which this was taken away afterwards. */
async function lost(name: string, sql: string): Promise<Holdfast> {
  const path = join(folder, name, "store.db");
  mkdirSync(join(folder, name));
  const holdfast = await holdfastAt(path);
  const session = await holdfast.open("s");
  await session.append(said("precious"));
  await session.close();
  await holdfast.close();
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
  return holdfastAt(path);
}

test("[R07] a session whose row was lost comes back from what proves it", async () => {
  const again = await lost("row", "DELETE FROM sessions");
  const session = await again.open("s");
  expect((await collect(session.read())).map(({ kind }) => kind)).toContain("user-said");
  await session.close();
  await again.close();
});

test("[R07] a session of which nothing proves the row is damaged, never new", async () => {
  const again = await lost("all", "DELETE FROM sessions; DELETE FROM meta WHERE name LIKE 'session %'");
  await expect(again.open("s")).rejects.toMatchObject({ code: "SESSION_DAMAGED" });
  await expect(again.fork("s", { as: "t" })).rejects.toMatchObject({ code: "SESSION_DAMAGED" });
  await again.open("t");
  await again.close();
});

test("[R07] [CLI-4] [STORE-39] a file that was cut to nothing is refused, and what its log still holds is salvaged", async () => {
  const whole = join(folder, "crashed", "store.db");
  mkdirSync(join(folder, "crashed"));
  const holdfast = await holdfastAt(whole);
  const session = await holdfast.open("s");
  await session.append(["first", "second"].map(said));
  const cut = join(folder, "cut.db");
  copyFileSync(`${whole}-wal`, `${cut}-wal`); // as a crash leaves it: nothing was carried over yet
  writeFileSync(cut, "");
  await session.close();
  await holdfast.close();

  const log = readFileSync(`${cut}-wal`);
  await expect(holdfastAt(cut)).rejects.toMatchObject({ code: "STORE_EMPTY_FILE" });
  expect(readFileSync(`${cut}-wal`).equals(log)).toBe(true);
  const found = [...salvageSqlite(cut)].map(({ record }) => record);
  const texts = found.filter(({ kind }) => kind === "user-said").map(({ body }) => JSON.parse(body ?? "{}") as unknown);
  expect(texts).toEqual(expect.arrayContaining([{ text: "first" }, { text: "second" }]));
  expect(() => [...salvageSqlite(join(folder, "empty.db"))]).toThrow(/empty/);
});
