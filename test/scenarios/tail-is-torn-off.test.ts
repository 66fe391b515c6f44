import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { scratchFolder } from "../support/places.ts";
import { holdfastAt, storyOf } from "../support/sessions.ts";
import { said } from "../support/stores.ts";

const folder = scratchFolder();
let places = 0;

async function madeThen(sql: string): Promise<string> {
  places += 1;
  const path = join(folder, `${places}`, "store.db");
  const holdfast = await holdfastAt(path);
  const session = await holdfast.open("s");
  for (const n of [2, 3, 4]) await session.append(said(`${n}`));
  await session.close();
  const other = await holdfast.open("other");
  await other.append(said("untouched"));
  await other.close();
  await holdfast.close();
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
  return path;
}

const LAST = "(SELECT max(key) FROM records WHERE key >> 32 = 1)";

test("[R05] [K43] a torn last record is quarantined and reported, the earlier ones load, and numbers continue", async () => {
  const path = await madeThen(`UPDATE records SET body = substr(body, 1, 5) WHERE key = ${LAST}`);
  const holdfast = await holdfastAt(path);
  const session = await holdfast.open("s");
  expect(session.recovered.damaged).toEqual([4]);
  const appended = await session.append([said("6"), said("7")]);
  expect(appended).toMatchObject({ first: 6, last: 7 });
  const story = ["session-created", "2", "3", "damaged body-altered", "session-recovered", "6", "7"];
  expect(await storyOf(session)).toEqual(story);
  await session.close();
  const again = await holdfast.open("s");
  expect(again.recovered.damaged).toEqual([]);
  expect(await storyOf(again)).toEqual(story);
  await again.close();
  await holdfast.close();
});

test("[K43] a last record that is gone altogether was acknowledged: the session is refused, the others open", async () => {
  const path = await madeThen(`DELETE FROM records WHERE key = ${LAST}`);
  const holdfast = await holdfastAt(path);
  await expect(holdfast.open("s")).rejects.toMatchObject({ code: "SESSION_DAMAGED" });
  expect(await storyOf(await holdfast.open("other"))).toEqual(["session-created", "untouched"]);
  await holdfast.close();
});

test("[K31] [MODE-13] one flipped byte anywhere in a record is named by its entry, and every other record loads", async () => {
  for (const column of ["kind", "at", "salt", "body_digest", "prev", "hash", "body"]) {
    const path = await madeThen(
      `UPDATE records SET ${column} = substr(${column}, 1, 3) || '~' || substr(${column}, 5) WHERE key & 4294967295 = 2 AND key >> 32 = 1`,
    );
    const holdfast = await holdfastAt(path);
    const session = await holdfast.open("s");
    expect([column, session.recovered.damaged]).toEqual([column, [2]]);
    const story = await storyOf(session);
    const served = story.filter((line) => !line.startsWith("damaged"));
    expect(served.slice(0, 4)).toEqual(["session-created", "3", "4", "session-recovered"]);
    // With its header whole, everybody knows that it was no change of the mode. Without, nobody does.
    const mode = column === "body" ? [] : ["boundary-crossed", "mode-changed", "catalog-changed", "state-changed"];
    expect([column, served.slice(4), session.mode]).toEqual([column, mode, mode.length === 0 ? "act" : "plan"]);
    await holdfast.close();
  }
});
