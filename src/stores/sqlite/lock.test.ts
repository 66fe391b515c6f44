import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startChild } from "../../../test/support/children.ts";
import { scratchFolder } from "../../../test/support/places.ts";
import { FileLocks } from "./lock.ts";
import { nodeSqlite } from "./vendor.ts";

const folder = scratchFolder();
const driver = await nodeSqlite();
let count = 0;
const fresh = () => {
  count += 1;
  return join(folder, `locks-${count}`);
};

const CHILD = (place: string, how = "tryAcquire") => `
  import { FileLocks } from "@/stores/sqlite/lock.ts";
  import { nodeSqlite } from "@/stores/sqlite/vendor.ts";
  const locks = new FileLocks(await nodeSqlite(), ${JSON.stringify(place)});
  const lock = await locks.${how}("workspace");
  say(lock === undefined ? "refused" : "held");
  await told();
`;

test("[STORE-28] a lock is held once, and again after it was released", async () => {
  const locks = new FileLocks(driver, fresh());
  const held = await locks.tryAcquire("workspace");
  expect(held).toBeDefined();
  expect(locks.isFree("workspace")).toBe(false);
  expect(await locks.tryAcquire("workspace")).toBeUndefined();
  expect(await locks.tryShare("workspace")).toBeUndefined();
  await held?.release();
  expect(locks.isFree("workspace")).toBe(true);
  await using again = await locks.tryAcquire("workspace");
  expect(again).toBeDefined();
});

test("[STORE-28] sharers hold a lock together and keep out whoever wants it alone", async () => {
  const locks = new FileLocks(driver, fresh());
  const one = await locks.tryShare("engine");
  const two = await locks.tryShare("engine");
  expect(two).toBeDefined();
  expect(await locks.tryAcquire("engine")).toBeUndefined();
  await one?.release();
  expect(await locks.tryAcquire("engine")).toBeUndefined();
  await two?.release();
  const alone = await locks.tryAcquire("engine");
  expect(alone).toBeDefined();
  expect(await locks.tryShare("engine")).toBeUndefined();
  await alone?.release();
});

test("[STORE-28] a living process keeps its lock against another, and its death frees it at once", async () => {
  const place = fresh();
  const locks = new FileLocks(driver, place);
  const child = startChild(CHILD(place));
  await child.said("held");
  expect(locks.isFree("workspace")).toBe(false);
  expect(await locks.tryAcquire("workspace")).toBeUndefined();
  child.process.kill("SIGSTOP");
  expect(locks.isFree("workspace")).toBe(false);
  await child.kill();
  expect(locks.isFree("workspace")).toBe(true);
  await using mine = await locks.tryAcquire("workspace");
  expect(mine).toBeDefined();
});

test("[STORE-28] asking again in the process that holds the lock does not free it for others", async () => {
  const place = fresh();
  const locks = new FileLocks(driver, place);
  await using _held = await locks.tryAcquire("workspace");
  expect(await locks.tryAcquire("workspace")).toBeUndefined();
  expect(await new FileLocks(driver, place).tryAcquire("workspace")).toBeUndefined();
  for (const how of ["tryAcquire", "tryShare"]) {
    const child = startChild(CHILD(place, how));
    await child.said("refused");
    await child.kill();
  }
});

test("[STORE-28] a lock that was never made, or whose holder closed properly, is free", async () => {
  const locks = new FileLocks(driver, fresh());
  expect(locks.isFree("nobody")).toBe(true);
  const held = await locks.tryAcquire("somebody");
  await held?.release();
  locks.forget("somebody");
  expect(locks.isFree("somebody")).toBe(true);
  locks.forget("somebody");
});

test.each(["", "../x", "a/b", "a\\b", ".", "..", "a\0", "x".repeat(201), "C:"])(
  "[SEC-3] no lock is named %j",
  async (name) => {
    const place = fresh();
    const locks = new FileLocks(driver, place);
    await expect(locks.tryAcquire(name)).rejects.toMatchObject({ code: "BAD_OPTION" });
    expect(() => locks.isFree(name)).toThrow(expect.objectContaining({ code: "BAD_OPTION" }));
    expect(existsSync(place)).toBe(false);
  },
);

test("[STORE-25] lock files and their folder are private", async () => {
  const place = fresh();
  await using _held = await new FileLocks(driver, place).tryAcquire("mine");
  expect(statSync(place).mode & 0o777).toBe(0o700);
  expect(statSync(join(place, "mine.lock")).mode & 0o777).toBe(0o600);
});

test("a folder that cannot be made is a typed failure, and nothing is certain about its locks", async () => {
  const locks = new FileLocks(driver, "/dev/null/locks");
  await expect(locks.tryAcquire("x")).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
});

test("[STORE-28] files of dead owners go once they are old; held ones, young ones and names used again stay", async () => {
  const place = fresh();
  const locks = new FileLocks(driver, place);
  await using _held = await locks.tryAcquire("owner_held");
  for (const name of ["owner_dead", "workspace"]) await (await locks.tryAcquire(name))?.release();
  locks.forgetDead("owner_", Date.now() - 60_000);
  expect(readdirSync(place).sort()).toEqual(["owner_dead.lock", "owner_held.lock", "workspace.lock"]);
  locks.forgetDead("owner_", Date.now() + 60_000);
  expect(readdirSync(place).sort()).toEqual(["owner_held.lock", "workspace.lock"]);
});
