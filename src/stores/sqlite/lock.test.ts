import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FileLocks } from "./lock.ts";
import { nodeSqlite } from "./vendor.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Asks from another process, because a process never conflicts with its own POSIX locks. */
async function othersGetIt(name: string): Promise<boolean> {
  const source = `
    import { FileLocks } from ${JSON.stringify(new URL("./lock.ts", import.meta.url).href)};
    import { nodeSqlite } from ${JSON.stringify(new URL("./vendor.ts", import.meta.url).href)};
    const lock = await new FileLocks(await nodeSqlite(), ${JSON.stringify(folder)}).tryAcquire(${JSON.stringify(name)});
    process.stdout.write(lock === undefined ? "held" : "free");
  `;
  const child = spawn(process.execPath, ["--no-warnings", "--input-type=module", "--eval", source]);
  let said = "";
  child.stdout.on("data", (chunk) => {
    said += String(chunk);
  });
  await once(child, "close");
  expect(["held", "free"]).toContain(said);
  return said === "free";
}

test("asking twice in one process does not free the lock for others", async () => {
  const locks = new FileLocks(await nodeSqlite(), folder);
  const lock = await locks.tryAcquire("workspace");
  expect(lock).toBeDefined();
  expect(await locks.tryAcquire("workspace")).toBeUndefined();
  expect(locks.isFree("workspace")).toBe(false);
  expect(await othersGetIt("workspace")).toBe(false);
  await lock?.release();
  expect(await othersGetIt("workspace")).toBe(true);
});

test("files of dead holders go once they are old; held ones and young ones stay", async () => {
  const driver = await nodeSqlite();
  const locks = new FileLocks(driver, folder);
  const held = await locks.tryAcquire("held");
  const dead = await locks.tryAcquire("dead");
  await dead?.release();
  locks.forgetDead(Date.now() - 60_000);
  expect(readdirSync(folder).sort()).toEqual(["dead.lock", "held.lock"]);
  locks.forgetDead(Date.now() + 60_000);
  expect(readdirSync(folder)).toEqual(["held.lock"]);
  await held?.release();
});
