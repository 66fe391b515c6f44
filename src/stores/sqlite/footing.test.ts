import { copyFileSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { NFS, scratchFolder } from "../../../test/support/places.ts";
import type { SealedRecord } from "../../records/chain.ts";
import { appendOf, begin, expectBodies, rowOf, sealed, write } from "../../testing/pen.ts";
import { openSqlite, type SqliteOptions } from "./open.ts";

const folder = scratchFolder();
let places = 0;

async function written(options: SqliteOptions = {}) {
  places += 1;
  const path = join(folder, `${places}`, "store.db");
  const store = await openSqlite(path, options);
  const pen = await begin(store);
  await write(pen, '"acknowledged"');
  return { path, store, pen };
}

/** Longer than a tick of the clock that stamps folders. */
const quiet = () => sleep(100);

const GONE = { code: "STORE_GONE" };

const LOSSES: readonly (readonly [string, (path: string) => void])[] = [
  ["its file is removed", (path) => rmSync(path)],
  ["its log is removed", (path) => rmSync(`${path}-wal`)],
  ["all of it is removed", (path) => rmSync(dirname(path), { recursive: true })],
  ["its folder is moved", (path) => renameSync(dirname(path), `${dirname(path)}-moved`)],
  [
    "its file is replaced by a copy",
    (path) => {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
  ],
];

describe("[STORE-37] a store that loses its ground while it is open", () => {
  test.each(LOSSES)("acknowledges nothing more when %s, also not when all seems well again", async (_, lose) => {
    const { path, store, pen } = await written();
    await write(pen, '"still there"');
    lose(path);
    const { head } = pen;
    await expect(write(pen, '"into nowhere"')).rejects.toMatchObject(GONE);
    pen.head = head;
    mkdirSync(dirname(path), { recursive: true });
    await expect(write(pen, '"again"')).rejects.toMatchObject(GONE);
    await expect(store.shrink()).rejects.toMatchObject(GONE);
    await store.close();
  });

  test.each(LOSSES)("notices that %s also when nothing had changed in its folder for a while", async (_, lose) => {
    const { path, store, pen } = await written();
    await write(pen, '"seen"');
    await quiet();
    for (const body of ['"seen again"', '"not looked at"']) await write(pen, body);
    lose(path);
    await expect(write(pen, '"into nowhere"')).rejects.toMatchObject(GONE);
    await store.close();
  });

  test("reads nothing from a file that has taken its place", async () => {
    const { path, store } = await written();
    const other = await written();
    await other.store.close();
    copyFileSync(other.path, `${path}.other`);
    renameSync(`${path}.other`, path);
    await expect(expectBodies(store, "session", ['"acknowledged"'])).rejects.toMatchObject(GONE);
    await store.close();
  });

  test("with a rollback journal, too; and one that is not touched goes on", async () => {
    const options = { fileSystemAt: () => NFS, network: "rollback-journal" } as const;
    const { path, store, pen } = await written(options);
    await write(pen, '"more"');
    rmSync(path);
    await expect(write(pen, '"into nowhere"')).rejects.toMatchObject(GONE);
    await store.close();
  });
});

test("[STORE-47] a store whose files cannot be looked at says so, ends what was asked, and goes on afterwards", async () => {
  const { path, store, pen } = await written();
  const place = dirname(path);
  const session = await store.reading((read) => read.session(pen.session));
  const hidden = async (work: () => Promise<unknown>) => {
    renameSync(place, `${place}-moved`);
    symlinkSync(place, place); // leads to itself: the system refuses to follow it
    try {
      await expect(work()).rejects.toMatchObject({ code: "STORE_UNREACHABLE", details: { system: "ELOOP" } });
    } finally {
      rmSync(place);
      renameSync(`${place}-moved`, place);
    }
  };
  const [record] = sealed(pen.head, '"unclear"');
  const batch = appendOf(pen, [record as SealedRecord]);
  await hidden(() => store.commit(batch));
  await hidden(() => store.shrink());
  const beside = await openSqlite(path);
  await hidden(() => beside.close());
  expect(store.isDead(beside.owner)).toBe(true);
  const readings = Array.from({ length: 3 }, () => () => store.reading((read) => read.session(pen.session)));
  await hidden(() => Promise.all(readings.map((reading) => reading())));
  const { head } = await rowOf(store, "session");
  expect([session?.head.seq, head.seq]).toEqual([1, 2]); // it had reached the disk, which nobody could tell
  pen.head = head;
  await write(pen, '"after"');
  await expectBodies(store, "session", ['"acknowledged"', '"unclear"', '"after"']);
  await store.close();
});
