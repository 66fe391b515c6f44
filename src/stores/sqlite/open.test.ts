import Database from "better-sqlite3";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, test } from "vitest";
import { startChild } from "../../../test/support/children.ts";
import { meddling } from "../../../test/support/meddling.ts";
import { NFS, scratchFolder } from "../../../test/support/places.ts";
import { testTogether } from "../../../test/support/together.ts";
import { HoldfastError } from "../../base/errors.ts";
import { SeededRandom } from "../../base/random.ts";
import type { Store } from "../../contracts/store.ts";
import { begin, expectBodies, rowOf, write } from "../../testing/pen.ts";
import { inspectSqlite } from "./inspect.ts";
import { FileLocks } from "./lock.ts";
import { openSqlite, type SqliteOptions } from "./open.ts";
import { salvageSqlite } from "./salvage.ts";
import { APPLICATION_ID, STORE_VERSION } from "./schema.ts";
import { betterSqlite3, nodeSqlite } from "./vendor.ts";

const folder = scratchFolder();
let count = 0;
const opened: Store[] = [];

function freshPath(): string {
  count += 1;
  const place = join(folder, `place-${count}`);
  mkdirSync(place);
  return join(place, "store.db");
}

async function open(path: string, options: SqliteOptions = {}): Promise<Store> {
  const store = await openSqlite(path, options);
  opened.push(store);
  return store;
}

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

/** Everything in the folder of a path, byte for byte. */
function bytesAround(path: string): Record<string, string> {
  const place = join(path, "..");
  return Object.fromEntries(
    readdirSync(place)
      .filter((entry) => statSync(join(place, entry)).isFile())
      .map((entry) => [entry, readFileSync(join(place, entry), "hex")]),
  );
}

async function madeStore(options: SqliteOptions = {}): Promise<string> {
  const path = freshPath();
  const store = await openSqlite(path, options);
  await write(await begin(store), '"one"');
  await store.close();
  return path;
}

function classOf(path: string): unknown {
  const database = new DatabaseSync(path, { readOnly: true });
  const row = database.prepare("SELECT value FROM meta WHERE name = 'durability'").get();
  database.close();
  return row?.["value"];
}

function change(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

describe("[STORE-21] [R07] what is not our store is refused, each in its own way, and left as it is", () => {
  const cases: readonly (readonly [string, string, (path: string) => void])[] = [
    ["an empty file", "STORE_EMPTY_FILE", (path) => writeFileSync(path, "")],
    ["a text file", "STORE_FOREIGN_FILE", (path) => writeFileSync(path, '{"kind":"session"}\n'.repeat(100))],
    ["a file of one byte", "STORE_FOREIGN_FILE", (path) => writeFileSync(path, "x")],
    ["zeros", "STORE_FOREIGN_FILE", (path) => writeFileSync(path, Buffer.alloc(8_192))],
    ["a gzip", "STORE_FOREIGN_FILE", (path) => writeFileSync(path, Buffer.from("1f8b0800000000000003", "hex"))],
    ["another SQLite file", "STORE_FOREIGN_FILE", (path) => change(path, "CREATE TABLE theirs (x)")],
    [
      "another SQLite file with a log",
      "STORE_FOREIGN_FILE",
      (path) => change(path, "PRAGMA journal_mode = WAL; CREATE TABLE theirs (x)"),
    ],
    ["a folder", "STORE_FOREIGN_FILE", (path) => mkdirSync(path)],
    ["a pipe", "STORE_FOREIGN_FILE", (path) => void spawnSync("mkfifo", [path])],
    ["a link to nowhere", "STORE_FOREIGN_FILE", (path) => symlinkSync(join(path, "..", "gone"), path)],
    ["a link to itself", "STORE_FOREIGN_FILE", (path) => symlinkSync(path, path)],
  ];
  test.each(cases)("%s", async (_, code, make) => {
    const path = freshPath();
    make(path);
    const before = existsSync(path) && statSync(path).isFile() ? bytesAround(path) : undefined;
    await expect(open(path)).rejects.toMatchObject({ code });
    await expect(open(path, { create: false })).rejects.toMatchObject({ code });
    if (before !== undefined) expect(bytesAround(path)).toEqual(before);
  });

  test("a device", async () => {
    await expect(open("/dev/null")).rejects.toMatchObject({ code: "STORE_FOREIGN_FILE" });
    await expect(open("/dev/null", { create: false })).rejects.toMatchObject({ code: "STORE_FOREIGN_FILE" });
  });

  test("a link to a store is not followed", async () => {
    const path = await madeStore();
    const link = join(path, "..", "link.db");
    symlinkSync(path, link);
    await expect(open(link)).rejects.toMatchObject({ code: "STORE_FOREIGN_FILE" });
  });

  test("a store of a newer schema is too new, also beside a log that was not moved into it", async () => {
    const path = await madeStore();
    change(path, `PRAGMA user_version = ${STORE_VERSION + 1}`);
    const before = bytesAround(path);
    await expect(open(path)).rejects.toMatchObject({ code: "STORE_TOO_NEW", details: { version: STORE_VERSION + 1 } });
    expect(bytesAround(path)).toEqual(before);

    const other = await madeStore();
    const copy = freshPath();
    const writer = new DatabaseSync(other);
    writer.exec(`PRAGMA journal_mode = WAL; PRAGMA user_version = ${STORE_VERSION + 7}`);
    copyFileSync(other, copy);
    copyFileSync(`${other}-wal`, `${copy}-wal`);
    writer.close();
    const main = readFileSync(copy);
    const log = readFileSync(`${copy}-wal`);
    await expect(open(copy)).rejects.toMatchObject({ code: "STORE_TOO_NEW", details: { version: STORE_VERSION + 7 } });
    expect(readFileSync(copy).equals(main)).toBe(true);
    expect(readFileSync(`${copy}-wal`).equals(log)).toBe(true);
  });

  test("a store that names a durability class we do not know has a bad mode", async () => {
    for (const sql of [
      "UPDATE meta SET value = 'eventual' WHERE name = 'durability'",
      "DELETE FROM meta WHERE name = 'durability'",
    ]) {
      const path = await madeStore();
      change(path, sql);
      const before = readFileSync(path);
      await expect(open(path)).rejects.toMatchObject({ code: "STORE_BAD_MODE" });
      expect(readFileSync(path).equals(before)).toBe(true);
    }
  });

  test("our mark without our tables, or without a version, is damage", async () => {
    for (const sql of [
      `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 1; CREATE TABLE x (y)`,
      `PRAGMA application_id = ${APPLICATION_ID}; CREATE TABLE x (y)`,
    ]) {
      const path = freshPath();
      change(path, sql);
      await expect(open(path)).rejects.toMatchObject({ code: "STORE_DAMAGED" });
    }
    const path = await madeStore();
    truncateSync(path, 4_096);
    await expect(open(path)).rejects.toMatchObject({ code: "STORE_DAMAGED" });
  });
});

describe("[STORE-22] the durability class is set, read back and kept", () => {
  test.each(["power", "process"] as const)("%s", async (durability) => {
    const path = freshPath();
    expect((await open(path, { durability })).durability).toBe(durability);
    const kept = new DatabaseSync(path, { readOnly: true });
    expect(kept.prepare("SELECT value FROM meta WHERE name = 'durability'").get()).toEqual({ value: durability });
    expect(kept.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    kept.close();
  });

  test("a store that changes class says so, both ways", async () => {
    const path = freshPath();
    for (const durability of ["power", "process", "power"] as const) {
      await (await openSqlite(path, { durability })).close();
      const kept = new DatabaseSync(path, { readOnly: true });
      expect(kept.prepare("SELECT value FROM meta WHERE name = 'durability'").get()).toEqual({ value: durability });
      kept.close();
    }
  });

  test("whoever only looks leaves the class as it is", async () => {
    const path = freshPath();
    await (await openSqlite(path, { durability: "process" })).close();
    const looking = await open(path, { durability: "kept" });
    expect([looking.durability, classOf(path)]).toEqual(["process", "process"]);
    const made = freshPath();
    expect([(await open(made, { durability: "kept" })).durability, classOf(made)]).toEqual(["power", "power"]);
  });

  testTogether("the weakest class of those who have it open is noted, until one is alone", async () => {
    const path = freshPath();
    const careless = await openSqlite(path, { durability: "process" });
    const careful = await openSqlite(path, { durability: "power" });
    expect([careful.durability, classOf(path)]).toEqual(["power", "process"]);
    await careless.close();
    await careful.close();
    await (await openSqlite(path)).close();
    expect(classOf(path)).toBe("power");
    const first = await open(path, { durability: "power" });
    await open(path, { durability: "process" });
    expect([first.durability, classOf(path)]).toEqual(["power", "process"]);
  });

  test.each([
    ["synchronous", /PRAGMA synchronous = \d/, "PRAGMA synchronous = 1"],
    ["the journal mode", /PRAGMA journal_mode = \w+/, "SELECT 1"],
  ])("a driver that ignores %s is not trusted", async (_, ignored, instead) => {
    const path = freshPath();
    const driver = await meddling((sql) => sql.replace(ignored, instead));
    await expect(open(path, { driver })).rejects.toMatchObject({ code: "STORE_NOT_DURABLE" });
    expect(readdirSync(join(path, ".."))).toEqual([]);
  });

  test("every connection that writes runs with a full sync, also the one after a failure", async () => {
    const synced: unknown[] = [];
    let fail = false;
    const driver = await meddling((sql, connection) => {
      if (sql === "BEGIN IMMEDIATE") synced.push(connection.prepare("PRAGMA synchronous").get()?.["synchronous"]);
      if (sql === "COMMIT" && fail) throw Object.assign(new Error("disk I/O error"), { errcode: 10 });
      return sql;
    });
    const store = await open(freshPath(), { driver });
    const pen = await begin(store);
    fail = true;
    await expect(write(pen, '"lost"')).rejects.toMatchObject({ code: "STORE_IO" });
    fail = false;
    await write(pen, '"kept"');
    await expectBodies(store, "session", ['"kept"']);
    expect(synced.length).toBeGreaterThan(3);
    expect(new Set(synced)).toEqual(new Set([2]));
  });
});

describe("[STORE-23] a network file system", () => {
  test("is refused, and nothing is made there", async () => {
    const path = freshPath();
    for (const type of [NFS, 0xff534d42, 0xff534d42 | 0, 0x65735546]) {
      await expect(open(path, { fileSystemAt: () => type })).rejects.toMatchObject({ code: "STORE_ON_NETWORK" });
    }
    expect(readdirSync(join(path, ".."))).toEqual([]);
  });

  test("is used with the rollback journal when asked for, and survives a crash in the middle of a commit", async () => {
    const options: SqliteOptions = { fileSystemAt: () => NFS, network: "rollback-journal" };
    const path = await madeStore(options);
    const crashed = freshPath();
    const writer = new DatabaseSync(path);
    expect(writer.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "delete" });
    // A cache of one page makes SQLite write into the file before the end of the transaction: a copy now is a crash.
    writer.exec("PRAGMA cache_size = 1; BEGIN IMMEDIATE; UPDATE records SET body = printf('%.9000c', 'x')");
    writer.exec(
      "WITH RECURSIVE n (v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 50) INSERT INTO blobs (name, size, content) SELECT 'b' || v, 1, randomblob(9000) FROM n",
    );
    copyFileSync(path, crashed);
    copyFileSync(`${path}-journal`, `${crashed}-journal`);
    writer.exec("ROLLBACK");
    writer.close();
    expect(readFileSync(crashed).equals(readFileSync(path))).toBe(false);
    const store = await open(crashed, options);
    await expectBodies(store, "session", ['"one"']);
  });

  test("local disks are not mistaken for one", async () => {
    for (const ext4 of [0xef53, 0x9123683e, 0x01021994]) await open(freshPath(), { fileSystemAt: () => ext4 });
  });
});

describe("[STORE-24] an engine with the log bug", () => {
  const old = (version: string) => async () =>
    meddling((sql) => sql.replace("SELECT sqlite_version() AS version", `SELECT '${version}' AS version`));

  test.each(["3.51.2", "3.50.4", "3.7.17", "2.99.99"])("%s has the store to itself", async (version) => {
    const path = freshPath();
    const driver = await old(version)();
    const alone = await openSqlite(path, { driver });
    await expect(open(path, { driver })).rejects.toMatchObject({ code: "STORE_ENGINE_TOO_OLD" });
    await expect(open(path)).rejects.toMatchObject({ code: "STORE_ENGINE_TOO_OLD" });
    await alone.close();
    const safe = await openSqlite(path);
    await expect(open(path, { driver })).rejects.toMatchObject({ code: "STORE_ENGINE_TOO_OLD" });
    await safe.close();
    await (await openSqlite(path, { driver })).close();
  });

  test("shares a store that has a rollback journal instead of a log", async () => {
    const path = freshPath();
    const options: SqliteOptions = { network: "rollback-journal", fileSystemAt: () => NFS };
    const first = await open(path, { ...options, driver: await old("3.50.4")() });
    const second = await open(path, options);
    await write(await begin(first), '"one"');
    await expectBodies(second, "session", ['"one"']);
  });

  test.each(["3.51.3", "3.51.10", "3.53.0", "4.0.0"])("%s does not have it", async (version) => {
    const path = freshPath();
    const driver = await old(version)();
    await open(path, { driver });
    await open(path, { driver });
  });
});

describe("[STORE-25] files and folders are private", () => {
  test("also with a generous umask", async () => {
    const before = process.umask(0);
    try {
      const path = join(folder, "private", "deep", "store.db");
      const store = await open(path);
      await write(await begin(store), '"x"');
      await store.blobs.put(Buffer.alloc(100_000, 1));
      for (const entry of readdirSync(join(folder, "private"), { recursive: true, withFileTypes: true })) {
        const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777;
        expect([entry.name, mode]).toEqual([entry.name, entry.isDirectory() ? 0o700 : 0o600]);
      }
    } finally {
      process.umask(before);
    }
  });
});

describe("[STORE-26] making a store", () => {
  test("a crash before it has its name leaves no store", async () => {
    const path = freshPath();
    const child = startChild(`
      import { openSqlite } from "@/stores/sqlite/open.ts";
      import { nodeSqlite } from "@/stores/sqlite/vendor.ts";
      const driver = await nodeSqlite();
      let closes = 0;
      const meddling = { ...driver, open: (path, options) => {
        const connection = driver.open(path, options);
        return {
          exec: (sql) => { connection.exec(sql); if (sql === "COMMIT") process.kill(process.pid, "SIGKILL"); },
          prepare: (sql) => connection.prepare(sql),
          close: () => connection.close(),
        };
      } };
      await openSqlite(${JSON.stringify(path)}, { driver: meddling });
      say("opened");
    `);
    expect(await child.ended()).toBeNull();
    expect(existsSync(path)).toBe(false);
    await expect(open(path, { create: false })).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
    await begin(await open(path));
  });

  test.each([
    ["the schema cannot be written", /^COMMIT$/, 13, "STORE_FULL"],
    ["the file cannot be opened", /journal_mode/, 14, "STORE_UNREACHABLE"],
  ])("when %s, no file is left", async (_, failing, errcode, code) => {
    const path = freshPath();
    const driver = await meddling((sql) => {
      if (failing.test(sql)) throw Object.assign(new Error("planted"), { errcode });
      return sql;
    });
    await expect(open(path, { driver })).rejects.toMatchObject({ code });
    expect(readdirSync(join(path, ".."))).toEqual([]);
  });

  testTogether("two processes that make it at once share one store", async () => {
    const path = freshPath();
    const script = (name: string) => `
      import { openSqlite } from "@/stores/sqlite/open.ts";
      import { begin, write } from "@/testing/pen.ts";
      say("ready");
      await told();
      const store = await openSqlite(${JSON.stringify(path)});
      const pen = await begin(store, "${name}");
      for (let n = 0; n < 20; n += 1) await write(pen, JSON.stringify("${name}" + n));
      await store.close();
      say("done");
    `;
    const children = ["a", "b", "c"].map((name) => startChild(script(name)));
    await Promise.all(children.map((child) => child.said("ready")));
    for (const child of children) child.tell("go");
    await Promise.all(children.map((child) => child.said("done")));
    expect(await Promise.all(children.map((child) => child.ended()))).toEqual([0, 0, 0]);
    const store = await open(path);
    for (const name of ["a", "b", "c"]) expect((await rowOf(store, name)).head.seq).toBe(20);
    expect(readdirSync(join(path, "..")).filter((entry) => entry.includes(".new-"))).toEqual([]);
  });

  test("is not done when it was not asked for", async () => {
    const path = join(folder, "not-asked", "store.db");
    await expect(open(path, { create: false })).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
    expect(existsSync(join(folder, "not-asked"))).toBe(false);
  });
});

describe("[STORE-27] a busy store", () => {
  test("is waited for without holding up the process, up to the limit", async () => {
    const path = await madeStore();
    const store = await open(path, { busyLimit: 300 });
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    const pen = begin(store, "second");
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 5);
    await expect(pen).rejects.toMatchObject({ code: "STORE_BUSY" });
    clearInterval(timer);
    expect(turns).toBeGreaterThan(2);
    expect((await rowOf(store, "session")).head.seq).toBe(1);
    other.exec("ROLLBACK");
    other.close();
    await begin(store, "second");
  });

  test("is waited for by a process that has nothing else to do", async () => {
    const path = await madeStore();
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    const child = startChild(`
      import { openSqlite } from "@/stores/sqlite/open.ts";
      import { begin } from "@/testing/pen.ts";
      const store = await openSqlite(${JSON.stringify(path)});
      process.stdin.destroy();
      say("open");
      await begin(store, "second");
      say("written");
      await store.close();
    `);
    await child.said("open");
    await new Promise((resolve) => setTimeout(resolve, 150));
    other.exec("ROLLBACK");
    other.close();
    await child.said("written");
    expect(await child.ended()).toBe(0);
  });

  test("is waited for while opening, too", async () => {
    const path = await madeStore();
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    const opening = open(path, { durability: "process", busyLimit: 5_000 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    other.exec("ROLLBACK");
    other.close();
    expect((await opening).durability).toBe("process");
  });

  test("a reader with a rollback journal is waited for by the commit, and both come to their end", async () => {
    const store = await open(freshPath(), { fileSystemAt: () => NFS, network: "rollback-journal" });
    const pen = await begin(store);
    const order: string[] = [];
    const reading = store.reading(async (read) => {
      await new Promise((resolve) => setTimeout(resolve, 60));
      await read.sessions("", 1);
      order.push("read");
    });
    const writing = write(pen, '"one"').then(() => order.push("written"));
    const late = new Promise((resolve) => setTimeout(resolve, 20)).then(() => rowOf(store, "session"));
    await Promise.all([reading, writing, late]);
    expect(order).toEqual(["read", "written"]);
  });

  test("lets timers run while it is written to without a pause", async () => {
    const store = await open(freshPath(), { durability: "process" });
    const pen = await begin(store);
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    const started = performance.now();
    while (performance.now() - started < 200) await write(pen, JSON.stringify("x".repeat(1_000)));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
  });
});

describe("[STORE-29] values that cannot work are refused before anything is touched", () => {
  test.each([
    ["path", "", {}],
    ["path", "a\0b", {}],
    ["path", undefined, {}],
    ["path", 7, {}],
    ["path", ":memory:", {}], // SQLite's word for no file: here it would be one
    ["durability", undefined, { durability: "eventual" }],
    ["durability", undefined, { durability: null }],
    ["network", undefined, { network: "hope" }],
    ["busyLimit", undefined, { busyLimit: -1 }],
    ["busyLimit", undefined, { busyLimit: Number.NaN }],
    ["busyLimit", undefined, { busyLimit: "long" }],
  ])("%s %j %j", async (option, path, options) => {
    const place = freshPath();
    const file = option === "path" ? path : place;
    await expect(open(file as string, options as SqliteOptions)).rejects.toMatchObject({
      code: "BAD_OPTION",
      details: { option },
    });
    expect(readdirSync(join(place, ".."))).toEqual([]);
  });

  test.each(["", "a\0b", undefined, 7, ":memory:"])("a store to look at, or to salvage, at %j", async (path) => {
    const refusal = { code: "BAD_OPTION", details: expect.objectContaining({ option: "path" }) };
    await expect(inspectSqlite(path as string)).rejects.toMatchObject(refusal);
    expect(() => [...salvageSqlite(path as string)]).toThrow(expect.objectContaining(refusal));
  });

  test("a path that leads nowhere is unreachable", async () => {
    const path = freshPath();
    writeFileSync(path, "x");
    await expect(open(join(path, "below", "store.db"))).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
    const name = "n".repeat(300);
    await expect(open(join(path, "..", name))).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
    await expect(open(join(path, "..", "d".repeat(255), "x".repeat(5_000)))).rejects.toMatchObject({
      code: "STORE_UNREACHABLE",
    });
  });

  test.skipIf(process.getuid?.() === 0)("a folder that cannot be written is read-only", async () => {
    const path = freshPath();
    chmodSync(join(path, ".."), 0o500);
    await expect(open(path)).rejects.toMatchObject({ code: "STORE_READONLY" });
    chmodSync(join(path, ".."), 0o700);
  });

  test("odd names are only names", async () => {
    for (const name of [":memory:", "file:x?mode=memory", "a b", "é\u0301", "-", "%2e%2e", "x".repeat(200)]) {
      const path = join(freshPath(), "..", name);
      await begin(await open(path));
      expect(existsSync(path)).toBe(true);
    }
  });
});

test("[STORE-15] two stores in one folder do not sweep each other's content", async () => {
  const first = freshPath();
  const second = join(first, "..", "other.db");
  const [one, two] = [await open(first), await open(second)];
  const ref = await one.blobs.put(Buffer.alloc(100_000, 1));
  const names = [];
  for await (const { name } of two.blobs.list()) names.push(name);
  await two.commit({ kind: "sweep", limit: 10, candidates: [...names, ref.name] });
  expect(one.blobs.holds(ref.name)).toBe(true);
});

testTogether("[STORE-19] what a dead owner left behind goes when its death is noticed, and stays noticed", async () => {
  const path = freshPath();
  const child = startChild(`
    import { openSqlite } from "@/stores/sqlite/open.ts";
    const store = await openSqlite(${JSON.stringify(path)});
    say("owner " + store.owner);
    await told();
  `);
  const owner = (await child.said("owner")).slice("owner ".length) as Store["owner"];
  const store = await open(path);
  expect(store.isDead(owner)).toBe(false);
  await child.kill();
  expect(store.isDead(owner)).toBe(true);
  expect(readdirSync(`${path}.locks`).filter((entry) => entry.startsWith(owner))).toEqual([]);
  expect(store.isDead(owner)).toBe(true);
});

testTogether(
  "[STORE-18] a store is opened beside a busy writer, whose growing log is not taken for a damaged one",
  async () => {
    const path = freshPath();
    const child = startChild(`
    import { openSqlite } from "@/stores/sqlite/open.ts";
    import { begin, write } from "@/testing/pen.ts";
    const store = await openSqlite(${JSON.stringify(path)}, { durability: "process" });
    const pen = await begin(store);
    say("busy");
    for (let n = 0; ; n += 1) await write(pen, JSON.stringify("x".repeat((n * 37) % 3000)));
  `);
    await child.said("busy");
    for (let round = 0; round < 40; round += 1) await (await openSqlite(path, { durability: "process" })).close();
    await child.kill();
    expect(readdirSync(join(path, "..")).filter((entry) => entry.includes("suspect"))).toEqual([]);
    await open(path);
  },
);

test("[STORE-27] an opener that another one holds up waits for its turn, up to the limit", async () => {
  const path = await madeStore();
  const turn = await new FileLocks(await nodeSqlite(), `${path}.locks`).tryAcquire("opening");
  await expect(open(path, { busyLimit: 50 })).rejects.toMatchObject({ code: "STORE_BUSY" });
  const opening = open(path);
  await new Promise((resolve) => setTimeout(resolve, 30));
  await turn?.release();
  expect((await opening).durability).toBe("power");
});

testTogether("[STORE-19] an owner's name is never used twice at the same time", async () => {
  const path = await madeStore();
  await open(path, { random: new SeededRandom("same") });
  await expect(open(path, { random: new SeededRandom("same") })).rejects.toMatchObject({ code: "LOCK_HELD" });
});

test("both drivers name SQLite's failures alike", async () => {
  const path = freshPath();
  writeFileSync(path, "x".repeat(5_000));
  for (const driver of [await nodeSqlite(), betterSqlite3(Database)]) {
    const failure = (sql: string) => {
      const connection = driver.open(":memory:", { readOnly: false });
      try {
        connection.exec(sql);
        return undefined;
      } catch (error) {
        return driver.codeOf(error);
      } finally {
        connection.close();
      }
    };
    expect(failure("nonsense")).toBe(1);
    expect(failure("CREATE TABLE a (b UNIQUE); INSERT INTO a VALUES (1), (1)")).toBe(19);
    expect(failure("PRAGMA query_only = ON; CREATE TABLE a (b)")).toBe(8);
    expect(failure("SELECT length(zeroblob(2000000000))")).toBe(18);
    expect(driver.codeOf(new Error("x"))).toBeUndefined();
    expect(driver.codeOf(undefined)).toBeUndefined();
    await expect(openSqlite(path, { driver })).rejects.toSatisfy((error) =>
      HoldfastError.is(error, "STORE_FOREIGN_FILE"),
    );
  }
});

test("[STORE-29] a folder whose name is not UTF-8 is no place for a relative path, and nothing is made elsewhere", () => {
  const place = join(folder, "odd-cwd");
  mkdirSync(place);
  const script = `
    import { openSqlite } from ${JSON.stringify(new URL("./open.ts", import.meta.url).href)};
    const relative = await openSqlite("store.db").then(() => "opened", ({ code }) => code);
    const store = await openSqlite(${JSON.stringify(join(place, "store.db"))});
    await store.close();
    console.log(relative);`;
  const shell =
    'mkdir "$(printf "odd\\377")" && cd "$(printf "odd\\377")" && exec "$0" --no-warnings --input-type=module -e "$1"';
  const { stdout, stderr } = spawnSync("sh", ["-c", shell, process.execPath, script], { cwd: place, encoding: "utf8" });
  expect([stdout.trim(), stderr]).toEqual(["BAD_OPTION", ""]);
  const made = readdirSync(place, { encoding: "buffer" }).map((name) => name.toString("latin1"));
  expect(made.filter((name) => !name.startsWith("store.db"))).toEqual(["odd\u00ff"]);
});
