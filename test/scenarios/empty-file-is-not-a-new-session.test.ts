import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { scratchFolder } from "../support/places.ts";
import { holdfastAt } from "../support/sessions.ts";
import { said } from "../support/stores.ts";

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

test("[R07] a session whose row was lost is damaged, never new", async () => {
  const path = join(folder, "lost", "store.db");
  mkdirSync(join(folder, "lost"));
  const holdfast = await holdfastAt(path);
  const session = await holdfast.open("s");
  await session.append(said("precious"));
  await session.close();
  await holdfast.close();
  const database = new DatabaseSync(path);
  database.exec("DELETE FROM sessions");
  database.close();
  const again = await holdfastAt(path);
  await expect(again.open("s")).rejects.toMatchObject({ code: "SESSION_DAMAGED" });
  await expect(again.fork("s", { as: "t" })).rejects.toMatchObject({ code: "SESSION_DAMAGED" });
  await again.open("t");
  await again.close();
});
