import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { startChild } from "../../../test/support/children.ts";
import { scratchFolder } from "../../../test/support/places.ts";
import { begin, expectBodies, write } from "../../testing/pen.ts";
import { inspectSqlite, openSqlite, salvageSqlite } from "./entry.ts";
import { betterSqlite3 } from "./vendor.ts";

const folder = scratchFolder();
let places = 0;
const freshPath = () => {
  places += 1;
  return join(folder, `${places}`, "store.db");
};

/** Every file around a store: its bytes and when it was written. */
function everything(path: string): Readonly<Record<string, string>> {
  const root = join(path, "..");
  return Object.fromEntries(
    readdirSync(root, { recursive: true, encoding: "utf8" })
      .filter((name) => statSync(join(root, name)).isFile())
      .map((name) => [name, `${statSync(join(root, name)).mtimeMs} ${readFileSync(join(root, name), "hex")}`]),
  );
}

async function closedStore(): Promise<string> {
  const path = freshPath();
  const store = await openSqlite(path);
  await write(await begin(store), '"one"', '"two"');
  await store.close();
  return path;
}

/** A store whose writer was killed: its log has what the file has not. */
async function crashedStore(): Promise<string> {
  const path = freshPath();
  const child = startChild(`
    import { openSqlite } from "@/stores/sqlite/open.ts";
    import { begin, write } from "@/testing/pen.ts";
    const store = await openSqlite(${JSON.stringify(path)});
    await write(await begin(store), '"one"', '"two"');
    say("written");
    await told();
  `);
  await child.said("written");
  await child.kill();
  return path;
}

describe("[STORE-38] looking at a store", () => {
  test.each([
    ["that was closed", closedStore, undefined],
    ["that crashed", crashedStore, undefined],
    ["that crashed, with the second driver", crashedStore, betterSqlite3(Database)],
    ["that was closed, with the second driver", closedStore, betterSqlite3(Database)],
  ])("%s shows all of it and leaves every byte as it was", async (_, make, driver) => {
    const path = await make();
    const before = everything(path);
    const store = await inspectSqlite(path, driver === undefined ? {} : { driver });
    await expectBodies(store, "session", ['"one"', '"two"']);
    expect(await store.reading((read) => read.structure())).toEqual([]);
    await expect(begin(store, "new")).rejects.toMatchObject({ code: "STORE_READONLY" });
    await expect(store.shrink()).rejects.toMatchObject({ code: "STORE_READONLY" });
    await store.close();
    expect(everything(path)).toEqual(before);
  });

  test("works where nothing can be written, for somebody who is nobody special", async () => {
    for (const make of [closedStore, crashedStore]) {
      const path = await make();
      execFileSync("chmod", ["-R", "a-w,a+rX", join(path, "..")]);
      const code = `
        import { inspectSqlite } from ${JSON.stringify(new URL("./entry.ts", import.meta.url).href)};
        if (process.getuid?.() === 0) { process.setgid(65534); process.setuid(65534); }
        const store = await inspectSqlite(${JSON.stringify(path)});
        const row = await store.reading((read) => read.session("session"));
        console.log(row.head.seq);
        await store.close();`;
      let at = join(path, "..");
      for (; at !== folder && at !== "/"; at = join(at, "..")) chmodSync(at, 0o555);
      chmodSync(folder, 0o755);
      const said = execFileSync(process.execPath, ["--no-warnings", "--input-type=module", "-e", code], {
        encoding: "utf8",
        env: { ...process.env, TMPDIR: "/tmp" },
      });
      expect(said.trim()).toBe("2");
      execFileSync("chmod", ["-R", "u+w", join(path, "..")]);
    }
  });

  test("beside a living writer shows what is acknowledged, and moves nothing into the file", async () => {
    const path = freshPath();
    const writer = await openSqlite(path);
    const pen = await begin(writer);
    await write(pen, '"one"');
    const log = statSync(`${path}-wal`).size;
    const store = await inspectSqlite(path);
    await expectBodies(store, "session", ['"one"']);
    await write(pen, '"two"');
    await expectBodies(store, "session", ['"one"', '"two"']);
    expect(store.isDead(writer.owner)).toBe(false);
    await store.close();
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(log);
    await write(pen, '"three"');
    await writer.close();
  });

  test("that somebody begins to write meanwhile is told, instead of showing half of it", async () => {
    const path = await closedStore();
    const store = await inspectSqlite(path);
    const writer = await openSqlite(path);
    await begin(writer, "other");
    await writer.close();
    await expect(expectBodies(store, "session", [])).rejects.toMatchObject({ code: "STORE_BUSY" });
    await store.close();
  });

  test("refuses what is no store, and waits for no pipe", async () => {
    const path = await closedStore();
    const pipe = join(path, "..", "pipe.db");
    execFileSync("mkfifo", [pipe]);
    await expect(inspectSqlite(pipe)).rejects.toMatchObject({ code: "STORE_FOREIGN_FILE" });
    expect(() => [...salvageSqlite(pipe)]).toThrow(expect.objectContaining({ code: "STORE_FOREIGN_FILE" }));
    const text = join(path, "..", "text.db");
    writeFileSync(text, "not a store ".repeat(1_000));
    await expect(inspectSqlite(text)).rejects.toMatchObject({ code: "STORE_FOREIGN_FILE" });
    expect(() => [...salvageSqlite(text)]).toThrow(expect.objectContaining({ code: "STORE_FOREIGN_FILE" }));
    await expect(inspectSqlite(join(path, "..", "none.db"))).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
    const hurt = join(path, "..", "hurt.db");
    cpSync(path, hurt);
    const bytes = readFileSync(hurt);
    bytes.fill(0, 0, 100); // without its header it is nobody's store any more, and its records still prove themselves
    writeFileSync(hurt, bytes);
    expect([...salvageSqlite(hurt)]).toHaveLength(2);
    rmSync(hurt);
  });
});
