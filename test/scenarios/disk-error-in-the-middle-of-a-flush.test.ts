import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeSqlite, type SqliteDriver } from "../../src/stores/sqlite/entry.ts";
import { scratchFolder } from "../support/places.ts";
import { holdfastAt, storyOf } from "../support/sessions.ts";
import { said } from "../support/stores.ts";

const folder = scratchFolder();

/** node:sqlite on a disk that fails one sync: before anything is there, or after everything is. */
async function failingDisk(
  when: "before" | "after",
  state: { failAt: number; commits: number },
): Promise<SqliteDriver> {
  const driver = await nodeSqlite();
  return {
    ...driver,
    open(path, options) {
      const connection = driver.open(path, options);
      const committing = <T>(sql: string, run: () => T): T => {
        if (sql !== "COMMIT") return run();
        state.commits += 1;
        const fails = state.commits === state.failAt;
        const result = fails && when === "before" ? (undefined as T) : run();
        if (fails) throw Object.assign(new Error("disk I/O error"), { errcode: 10 });
        return result;
      };
      return {
        close: () => connection.close(),
        exec: (sql) => committing(sql, () => connection.exec(sql)),
        prepare(sql) {
          const statement = connection.prepare(sql);
          return {
            run: (...values) => committing(sql, () => statement.run(...values)),
            get: (...values) => statement.get(...values),
            all: (...values) => statement.all(...values),
            iterate: (...values) => statement.iterate(...values),
          };
        },
      };
    },
  };
}

test.each(["before", "after"] as const)(
  "[R06] a disk error after item 2 of 5, %s it was written: sent again, items 3 to 5 are there once and in order",
  async (when) => {
    const state = { failAt: 0, commits: 0 };
    const holdfast = await holdfastAt(join(folder, when, "store.db"), { driver: await failingDisk(when, state) });
    const session = await holdfast.open("s");
    for (const n of [1, 2]) await session.append(said(`item ${n}`), { operation: `item-${n}` });

    state.failAt = state.commits + 1;
    const flush = () =>
      Promise.allSettled([3, 4, 5].map((n) => session.append(said(`item ${n}`), { operation: `item-${n}` })));
    const first = await flush();
    expect(first.some(({ status }) => status === "rejected")).toBe(true);
    for (const result of first) {
      if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "STORE_IO" });
    }
    for (const result of await flush()) expect(result.status).toBe("fulfilled");

    const expected = ["session-created", "item 1", "item 2", "item 3", "item 4", "item 5"];
    expect(await storyOf(session)).toEqual(expected);
    await session.close();
    await holdfast.close();
    const again = await holdfastAt(join(folder, when, "store.db"));
    expect(await storyOf(await again.open("s"))).toEqual(expected);
    expect(await again.verify()).toMatchObject({ ok: true });
    await again.close();
  },
);

test("[K44] a disk that is full keeps what was there, says so, and goes on when there is room", async () => {
  const driver = await nodeSqlite();
  let full = false;
  const small: SqliteDriver = {
    ...driver,
    open(path, options) {
      const connection = driver.open(path, options);
      // SQLite's own limit: a real "disk full" from inside the engine, in the middle of the transaction.
      if (full && !options.readOnly) {
        const pages = Number(connection.prepare("PRAGMA page_count").get()?.["page_count"]);
        connection.exec(`PRAGMA max_page_count = ${pages + 2}`);
      }
      return connection;
    },
  };
  const path = join(folder, "full", "store.db");
  const before = await holdfastAt(path);
  await before.open("s").then((session) => session.append(said("kept")));
  await before.close();
  full = true;
  const holdfast = await holdfastAt(path, { driver: small });
  const session = await holdfast.open("other");
  await expect(session.append([said("a"), said("x".repeat(100_000)), said("b")])).rejects.toMatchObject({
    code: "STORE_FULL",
  });
  expect(await storyOf(session)).toEqual(["session-created"]);
  full = false;
  await session.append([said("a"), said("b")]);
  expect(await storyOf(session)).toEqual(["session-created", "a", "b"]);
  expect(await holdfast.verify()).toMatchObject({ ok: true });
  await holdfast.close();
});
