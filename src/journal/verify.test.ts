import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { scratchFolder } from "../../test/support/places.ts";
import { openSqlite, said } from "../../test/support/stores.ts";
import { SystemClock } from "../base/clock.ts";
import { SystemRandom } from "../base/random.ts";
import { openJournal } from "./open.ts";
import { verify } from "./verify.ts";

const folder = scratchFolder();
let places = 0;

async function made() {
  places += 1;
  const path = join(folder, `${places}`, "store.db");
  const store = await openSqlite(path);
  const deps = { store, clock: new SystemClock(), random: new SystemRandom() };
  const journal = await openJournal(deps, "s");
  const small = await journal.stageBlob(Buffer.from("small"));
  const large = await journal.stageBlob(Buffer.alloc(70_000, 7));
  await journal.append([said("1"), said("2"), { ...said("3"), blobs: [small.ref, large.ref] }, said("4")], {
    staged: [small, large],
  });
  await journal.close();
  const other = await openJournal(deps, "other");
  await other.append(said("x"));
  await other.close();
  await store.close();
  return { path, small: small.ref.name, large: large.ref.name };
}

async function verdictAfter(path: string, sql: string) {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
  const store = await openSqlite(path);
  try {
    return await verify(store);
  } finally {
    await store.close();
  }
}

const KEY = (1n << 32n).toString();

test("[JOURNAL-18] verify finds nothing wrong with a whole store, and counts what it checked", async () => {
  const { path } = await made();
  expect(await verdictAfter(path, "SELECT 1")).toEqual({
    ok: true,
    structure: [],
    sessions: [
      { session: "other", records: 1, dropped: 0, damaged: [] },
      { session: "s", records: 4, dropped: 0, damaged: [] },
    ],
    blobs: { checked: 2, left: 0, faults: [] },
  });
});

test.each([
  [
    "a flipped body",
    `UPDATE records SET body = body || ' ' WHERE key = ${KEY} + 2`,
    { seq: 2, detail: "body-altered" },
  ],
  ["a flipped header", `UPDATE records SET at = 'x' WHERE key = ${KEY} + 2`, { seq: 2, detail: "header-altered" }],
  ["a lost body", `UPDATE records SET body = NULL WHERE key = ${KEY} + 2`, { seq: 2, detail: "body-missing" }],
  ["a lost row", `DELETE FROM records WHERE key = ${KEY} + 2`, { seq: 2, detail: "missing" }],
  ["a lost last row", `DELETE FROM records WHERE key = ${KEY} + 4`, { seq: 4, detail: "missing" }],
  [
    "a row that stands where another belongs",
    `UPDATE records SET key = key + 4000 WHERE key = ${KEY} + 2; UPDATE records SET key = ${KEY} + 2 WHERE key = ${KEY} + 3; UPDATE records SET key = ${KEY} + 3 WHERE key = ${KEY} + 4002`,
    { seq: 2, detail: "header-altered" },
  ],
])("[JOURNAL-18] verify names %s", async (_, sql, damaged) => {
  const { path } = await made();
  const report = await verdictAfter(path, sql);
  expect(report.ok).toBe(false);
  expect(report.sessions.find(({ session }) => session === "s")?.damaged[0]).toMatchObject(damaged);
  expect(report.sessions.find(({ session }) => session === "other")?.damaged).toEqual([]);
});

test.each([
  ["a session's flipped head", "UPDATE sessions SET head_seq = 3 WHERE id = 's'", "does not match its checksum"],
  ["a session's lost row", "DELETE FROM sessions WHERE id = 's'", "2 sessions are known by name, 1 have a row"],
  ["a session's lost name", "DELETE FROM session_names", "missing from the list of names"],
])("[JOURNAL-18] verify names %s", async (_, sql, detail) => {
  const { path } = await made();
  const report = await verdictAfter(path, sql);
  expect(report.ok).toBe(false);
  expect(report.structure.join("\n")).toContain(detail);
});

test("[JOURNAL-18] verify names content that is missing, altered, or that a sweep would take from a record", async () => {
  const first = await made();
  writeFileSync(join(`${first.path}.blobs`, first.large.slice(7, 9), first.large), "altered");
  expect((await verdictAfter(first.path, "SELECT 1")).blobs.faults).toEqual([{ name: first.large, fault: "corrupt" }]);

  const second = await made();
  const report = await verdictAfter(second.path, `UPDATE blobs SET content = x'00' WHERE name = '${second.small}'`);
  expect(report.blobs.faults).toEqual([{ name: second.small, fault: "corrupt" }]);

  const third = await made();
  const gone = await verdictAfter(third.path, `DELETE FROM blobs WHERE name = '${third.small}'`);
  expect(gone.blobs.faults).toEqual([{ name: third.small, fault: "missing" }]);

  const fourth = await made();
  const unlisted = await verdictAfter(fourth.path, `DELETE FROM blob_references WHERE name = '${fourth.small}'`);
  expect(unlisted).toMatchObject({ ok: false, blobs: { faults: [{ name: fourth.small, fault: "unlisted" }] } });
});

test("[JOURNAL-18] verify of one session looks at that one, and tells damaged from unknown", async () => {
  const { path } = await made();
  const database = new DatabaseSync(path);
  database.exec("UPDATE sessions SET epoch = 77 WHERE id = 'other'; DELETE FROM meta WHERE name = 'session other'");
  database.close();
  const store = await openSqlite(path);
  expect((await verify(store, { session: "s" as never })).sessions.map(({ session }) => session)).toEqual(["s"]);
  await expect(verify(store, { session: "other" as never })).rejects.toMatchObject({ code: "SESSION_DAMAGED" });
  await expect(verify(store, { session: "nobody" as never })).rejects.toMatchObject({ code: "SESSION_UNKNOWN" });
  await store.close();
});

test("[JOURNAL-18] a whole page of damaged sessions hides no later one", async () => {
  places += 1;
  const path = join(folder, `${places}`, "store.db");
  const store = await openSqlite(path, { durability: "process" });
  const deps = { store, clock: new SystemClock(), random: new SystemRandom() };
  for (let n = 100; n < 400; n += 1) await (await openJournal(deps, `s${n}`)).close();
  await (await openJournal(deps, "z")).close();
  await store.close();
  const report = await verdictAfter(path, "UPDATE sessions SET epoch = 77 WHERE id < 't'");
  expect(report.structure.length).toBe(300);
  expect(report.sessions).toHaveLength(301);
  expect(report.sessions.at(-1)).toEqual({ session: "z", records: 0, dropped: 0, damaged: [] });
});

test("[JOURNAL-18] verify tells how far it is, and can be aborted", async () => {
  const { path } = await made();
  const store = await openSqlite(path);
  const seen: unknown[] = [];
  await verify(store, { progress: (done) => void seen.push(done) });
  expect(seen.at(-1)).toEqual({ sessions: 2, records: 5, blobs: 2 });
  await expect(verify(store, { signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
  await store.close();
});
