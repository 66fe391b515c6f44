import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { desk, threeWrites } from "../../../test/support/cli.ts";

const at = desk();
const bytesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name)).isFile())
    .map((name) => [name, readFileSync(join(folder, name), "hex")]);

test("[CLI-31] verify takes the file of a store, wherever it lies, and leaves every byte as it was", async () => {
  await threeWrites(at.folder);
  const there = join(at.folder, "backup");
  mkdirSync(there);
  cpSync(join(at.folder, ".holdfast", "sessions.db"), join(there, "monday.db"));
  cpSync(join(at.folder, ".holdfast", "sessions.db"), join(there, "monday"));
  const before = bytesIn(at.folder);
  for (const file of ["backup/monday.db", "backup/monday", join(there, "monday.db")])
    expect(await at.run("verify", file)).toMatchObject({ code: 0, out: expect.stringMatching(/^ok: 1 session/) });
  expect(await at.run("verify", "work")).toMatchObject({ code: 0, out: expect.stringMatching(/^ok: 1 session/) });
  expect(bytesIn(at.folder)).toEqual(before);
  const out = join(at.folder, "out.jsonl");
  expect(await at.run("verify", "backup/monday.db", "--salvage", out)).toMatchObject({ code: 0 });
  expect(readFileSync(out, "utf8").split("\n").length).toBeGreaterThan(3);
});

test("[CLI-31] a pipe, a folder and a foreign file are answered with a code, also by salvage, and nothing is written", async () => {
  await threeWrites(at.folder);
  execFileSync("mkfifo", [join(at.folder, "pipe")]);
  writeFileSync(join(at.folder, "notes.db"), "just some notes\n".repeat(500));
  for (const file of ["pipe", "notes.db"]) {
    const foreign = { code: 3, err: expect.stringContaining("STORE_FOREIGN_FILE") };
    expect(await at.run("verify", file)).toMatchObject(foreign);
    expect(await at.run("verify", file, "--salvage", "out.jsonl")).toMatchObject(foreign);
    expect(await at.run("verify", "--store", file, "--salvage", "out.jsonl")).toMatchObject(foreign);
    expect(existsSync(join(at.folder, "out.jsonl"))).toBe(false);
  }
});

test("[CLI-31] a path that leads nowhere is told as a missing file, and not as a session with odd letters", async () => {
  await threeWrites(at.folder);
  mkdirSync(join(at.folder, "folder"));
  for (const path of [join(at.folder, "gone.db"), "./gone.db", "backup/gone"])
    expect(await at.run("verify", path)).toMatchObject({
      code: 3,
      err: expect.stringMatching(/STORE_UNREACHABLE[^]*try: Check that the path exists/),
    });
  expect(await at.run("verify", "./folder")).toMatchObject({ code: 3, err: expect.stringContaining("found: folder") });
  expect(await at.run("verify", "gone")).toMatchObject({ code: 3, err: expect.stringContaining("SESSION_UNKNOWN") });
});
