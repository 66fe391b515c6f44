import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { startChild } from "../../../test/support/children.ts";
import { scratchFolder } from "../../../test/support/places.ts";
import { testTogether } from "../../../test/support/together.ts";
import { begin, expectBodies, write } from "../../testing/pen.ts";
import { FileLocks } from "./lock.ts";
import { openSqlite } from "./open.ts";
import { betterSqlite3, nodeSqlite } from "./vendor.ts";

const folder = scratchFolder();
let places = 0;
const freshPath = () => {
  places += 1;
  return join(folder, `${places}`, "store.db");
};
const SRC = fileURLToPath(new URL("../../", import.meta.url));

/** A whole second copy of the package, as npm lays one beside another. */
function secondCopy(): string {
  const root = join(folder, "copy");
  cpSync(SRC, join(root, "src"), { recursive: true });
  cpSync(join(SRC, "../package.json"), join(root, "package.json"));
  symlinkSync(join(SRC, "../node_modules"), join(root, "node_modules"));
  return join(root, "src/stores/sqlite/open.ts");
}

const DRIVERS = {
  "node:sqlite": "undefined",
  "better-sqlite3": 'betterSqlite3((await import("better-sqlite3")).default)',
} as const;

/**
 * In the writer's process, somebody else opens the same store and closes it again; then once more, while it is the turn of
 * another to open, and is refused: what it had in its hands until then is let go, too.
 */
const JOIN = (path: string) => `
  const driver = DRIVER;
  const options = driver === undefined ? {} : { driver };
  await (await openSqlite(${JSON.stringify(path)}, options)).close();
  const busy = await openSqlite(${JSON.stringify(path)}, { ...options, busyLimit: 0 }).catch(({ code }) => code);
  if (busy !== EXPECTED) throw new Error("not refused: " + busy);
`;
const OTHERS: Readonly<Record<string, (path: string, module: string) => string>> = {
  "a worker thread": (path) => `
    const worker = new Worker(\`
      import { openSqlite } from "@/stores/sqlite/open.ts";
      import { betterSqlite3 } from "@/stores/sqlite/vendor.ts";
      import { workerData } from "node:worker_threads";
      ${JOIN(path).replace("const busy", "Atomics.store(workerData, 0, 1);\n  while (Atomics.load(workerData, 0) !== 2) await new Promise((next) => setTimeout(next, 5));\n  const busy")}
    \`, { eval: true, workerData: flag });
    const ended = new Promise((resolve, reject) => worker.on("exit", resolve).on("error", reject));
    await Promise.race([ended, reached(1)]);
    const turn = await takeTurn();
    Atomics.store(flag, 0, 2);
    await ended;
    await turn.release();`,
  "a second copy of the package": (path, module) => `
    const { openSqlite: openOther } = await import(${JSON.stringify(module)});
    {
      const openSqlite = openOther;
      ${JOIN(path).replace("const busy", "const turn = await takeTurn();\n  const busy")}
      await turn.release();
    }`,
};

describe("[STORE-36] in the process of a writer", () => {
  const copy = secondCopy();
  testTogether.each(Object.keys(OTHERS).flatMap((who) => Object.keys(DRIVERS).map((driver) => [who, driver] as const)))(
    "%s opens and closes the store (%s), and nothing acknowledged is lost",
    async (who, name) => {
      const path = freshPath();
      const made = await openSqlite(path);
      await made.close();
      const driver = DRIVERS[name as keyof typeof DRIVERS];
      const writer = startChild(
        `
      import { existsSync, readFileSync, statSync } from "node:fs";
      import { Worker } from "node:worker_threads";
      import { openSqlite } from "@/stores/sqlite/open.ts";
      import { betterSqlite3 } from "@/stores/sqlite/vendor.ts";
      import { begin, write } from "@/testing/pen.ts";
      const own = DRIVER;
      const store = await openSqlite(${JSON.stringify(path)}, own === undefined ? {} : { driver: own });
      const pen = await begin(store);
      await write(pen, '"before"');
      // Whether the system still holds the file for this process. Newer engines notice when it does not, older ones lose data.
      const lockedHere = () => {
        if (!existsSync("/proc/locks")) return true;
        const held = process.pid + " .*:" + statSync(${JSON.stringify(path)}).ino + " ";
        return new RegExp(held).test(readFileSync("/proc/locks", "utf8"));
      };
      const flag = new Int32Array(new SharedArrayBuffer(4));
      const reached = async (value) => {
        while (Atomics.load(flag, 0) !== value) await new Promise((next) => setTimeout(next, 5));
      };
      const takeTurn = async () => {
        for (;;) {
          const turn = await store.locksIn(${JSON.stringify(path)} + ".locks").tryAcquire("opening");
          if (turn !== undefined) return turn;
          await new Promise((next) => setTimeout(next, 5));
        }
      };
      ${OTHERS[who]?.(path, copy) ?? ""}
      say("joined " + store.owner + " " + lockedHere());
      await told();
      await write(pen, '"after"');
      await write(pen, '"last"');
      say("acknowledged");
      await told();
    `
          .replaceAll("DRIVER", driver)
          .replaceAll("EXPECTED", '"STORE_BUSY"'),
      );
      const [, owner = "", locked] = (await writer.said("joined")).split(" ");
      expect(locked).toBe("true");
      const stranger = await openSqlite(path);
      expect(stranger.isDead(owner as never)).toBe(false);
      await stranger.close();
      writer.tell("go on");
      await writer.said("acknowledged");
      await writer.kill();
      const store = await openSqlite(path);
      expect(store.isDead(owner as never)).toBe(true);
      await expectBodies(store, "session", ['"before"', '"after"', '"last"']);
      await store.close();
    },
  );

  test("a second driver is refused, also in a worker thread, and let in when the first has gone", async () => {
    const path = freshPath();
    const first = await openSqlite(path);
    const pen = await begin(first);
    const driver = betterSqlite3(Database);
    await expect(openSqlite(path, { driver })).rejects.toMatchObject({
      code: "STORE_OTHER_ENGINE",
      details: { engine: "node-sqlite" },
    });
    await write(pen, '"goes on"');
    await first.close();
    const second = await openSqlite(path, { driver });
    await expect(openSqlite(path)).rejects.toMatchObject({ code: "STORE_OTHER_ENGINE" });
    await expectBodies(second, "session", ['"goes on"']);
    await second.close();
    const child = startChild(`
      import { Worker } from "node:worker_threads";
      import { openSqlite } from "@/stores/sqlite/open.ts";
      const store = await openSqlite(${JSON.stringify(path)});
      const worker = new Worker(\`
        import { parentPort } from "node:worker_threads";
        import { openSqlite } from "@/stores/sqlite/open.ts";
        import { betterSqlite3 } from "@/stores/sqlite/vendor.ts";
        const driver = betterSqlite3((await import("better-sqlite3")).default);
        parentPort.postMessage(await openSqlite(${JSON.stringify(path)}, { driver }).then(() => "opened", ({ code }) => code));
      \`, { eval: true });
      worker.on("message", (said) => say("worker: " + said));
      await told();
    `);
    expect(await child.said("worker")).toBe("worker: STORE_OTHER_ENGINE");
    await child.kill();
    await (await openSqlite(path, { driver })).close(); // what a dead process left holds nobody up
  });

  test("a lock that one driver holds is held for the other", async () => {
    const place = join(folder, "locks");
    const one = new FileLocks(await nodeSqlite(), place);
    const other = new FileLocks(betterSqlite3(Database), place);
    const held = await one.tryAcquire("workspace");
    expect(await other.tryAcquire("workspace")).toBeUndefined();
    expect(await other.tryShare("workspace")).toBeUndefined();
    expect(other.isFree("workspace")).toBe(false);
    await held?.release();
    await using taken = await other.tryAcquire("workspace");
    expect([taken === undefined, one.isFree("workspace")]).toEqual([false, false]);
  });
});
