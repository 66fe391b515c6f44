import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { meddling } from "../../../test/support/meddling.ts";
import { NFS, scratchFolder } from "../../../test/support/places.ts";
import type { Store } from "../../contracts/store.ts";
import type { SealedRecord } from "../../records/chain.ts";
import { appendOf, begin, expectBodies, linkOf, sealed, write } from "../../testing/pen.ts";
import { openSqlite, type SqliteOptions } from "./open.ts";

const folder = scratchFolder();
const opened: Store[] = [];

async function open(options: SqliteOptions): Promise<Store> {
  const store = await openSqlite(join(folder, `store-${opened.length}.db`), options);
  opened.push(store);
  return store;
}

afterEach(async () => {
  for (const store of opened) await store.close();
});

describe("[STORE-48] a commit that need not wait for the disk", () => {
  /** How the disk is waited for at the end of each transaction. */
  async function watched(options: SqliteOptions = {}) {
    const synced: unknown[] = [];
    const carried: unknown[] = [];
    const driver = await meddling((sql, connection) => {
      if (sql !== "COMMIT") return sql;
      synced.push(connection.prepare("PRAGMA synchronous").get()?.["synchronous"]);
      carried.push(connection.prepare("PRAGMA wal_autocheckpoint").get()?.["wal_autocheckpoint"]);
      return sql;
    });
    const store = await open({ driver, ...options });
    const pen = await begin(store);
    const append = async (body: string, unsynced?: true) => {
      const [record] = sealed(pen.head, body) as [SealedRecord];
      const sent = store.commit(appendOf(pen, [record], unsynced === undefined ? {} : { unsynced }));
      pen.head = linkOf(record);
      return sent;
    };
    synced.length = 0;
    carried.length = 0;
    return { synced, carried, append };
  }

  test("is the only one that does not, and the next one does again", async () => {
    const { synced, append } = await watched();
    for (const [body, unsynced] of [['"1"', true], ['"2"'], ['"3"', true], ['"4"', true], ['"5"'], ['"6"']] as const)
      expect(await append(body, unsynced)).toMatchObject({ ok: true });
    expect(synced).toEqual([1, 2, 1, 1, 2, 2]);
  });

  test("waits with what shares its transaction", async () => {
    const { synced, append } = await watched();
    await Promise.all([append('"1"', true), append('"2"'), append('"3"', true)]);
    expect(synced).toEqual([2]);
  });

  test("does not carry the log over, because nobody would hear that its sync failed, and does not go on for ever", async () => {
    const { synced, carried, append } = await watched();
    for (let nth = 0; nth < 66; nth += 1) await append(`"${nth}"`, true);
    await append('"last"');
    expect(synced).toEqual([...Array<number>(64).fill(1), 2, 1, 2]);
    expect(carried).toEqual(synced.map((how) => (how === 1 ? 0 : 1_000)));
  });

  test("is not vouched for by a sync that comes after one that failed: the log begins anew before anything else is written", async () => {
    const sent: string[] = [];
    let isFailing = false;
    const driver = await meddling((sql) => {
      sent.push(sql);
      if (sql === "COMMIT" && isFailing) throw new Error("disk I/O error");
      return sql;
    });
    const store = await open({ driver });
    const pen = await begin(store);
    const [one] = sealed(pen.head, '"1"') as [SealedRecord];
    await store.commit(appendOf(pen, [one], { unsynced: true }));
    pen.head = linkOf(one);
    isFailing = true;
    await expect(write(pen, '"lost"')).rejects.toThrow("disk I/O error");
    isFailing = false;
    sent.length = 0;
    await write(pen, '"kept"');
    const begun = sent.indexOf("BEGIN IMMEDIATE");
    expect(sent.slice(0, begun)).toContain("PRAGMA wal_checkpoint(TRUNCATE)");
    sent.length = 0;
    await write(pen, '"next"');
    expect(sent).not.toContain("PRAGMA wal_checkpoint(TRUNCATE)");
    await expectBodies(store, "session", ['"1"', '"kept"', '"next"']);
  });

  test.each<SqliteOptions>([{ fileSystemAt: () => NFS, network: "rollback-journal" }, { durability: "process" }])(
    "is like any other with %j",
    async (options) => {
      const { synced, append } = await watched(options);
      await append('"1"', true);
      await append('"2"');
      expect(new Set(synced)).toEqual(new Set([options.durability === "process" ? 1 : 2]));
      expect(synced).toHaveLength(2);
    },
  );

  test("keeps nothing acknowledged from the disk: where the switch back does not take effect, the write fails", async () => {
    let deaf = false;
    const driver = await meddling((sql) => (deaf ? sql.replace("synchronous = 2", "synchronous = 1") : sql));
    const store = await open({ driver });
    const pen = await begin(store);
    const [one] = sealed(pen.head, '"1"') as [SealedRecord];
    await store.commit(appendOf(pen, [one], { unsynced: true }));
    pen.head = linkOf(one);
    deaf = true;
    await expect(write(pen, '"lost"')).rejects.toMatchObject({ code: "STORE_NOT_DURABLE" });
    deaf = false;
    await write(pen, '"kept"');
    await expectBodies(store, "session", ['"1"', '"kept"']);
  });
});
