import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startChild } from "../../../test/support/children.ts";
import { scratchFolder } from "../../../test/support/places.ts";
import { salvageSqlite } from "./entry.ts";

const folder = scratchFolder();

/** A store whose writer was killed: small records and long ones, one whose body was dropped, and a log of its own. */
async function crashed(name: string): Promise<string> {
  const path = join(folder, name, "store.db");
  const child = startChild(`
    import { openSqlite } from "@/stores/sqlite/open.ts";
    import { begin, write } from "@/testing/pen.ts";
    const store = await openSqlite(${JSON.stringify(path)}, { durability: "process" });
    const pen = await begin(store);
    for (let n = 0; n < 40; n += 1) await write(pen, JSON.stringify("x".repeat(n * n * 12) + n));
    await store.commit({ kind: "drop", session: pen.session, epoch: pen.epoch, seqs: [3], reason: "test" });
    await store.shrink();
    for (let n = 0; n < 10; n += 1) await write(pen, JSON.stringify("later " + "y".repeat(n * 900)));
    say("written");
    await told();
  `);
  await child.said("written");
  await child.kill();
  return path;
}

const hashesIn = (path: string) => new Map([...salvageSqlite(path)].map(({ record }) => [record.hash, record.body]));

test("[CLI-4] whatever byte is altered, of the file or of its log, salvage gives proven records only, and almost all", async () => {
  const path = await crashed("altered");
  const whole = hashesIn(path);
  expect(whole.size).toBe(50);
  const copy = join(folder, "hurt.db");
  let fewest = whole.size;
  for (const part of ["", "-wal"]) {
    const bytes = readFileSync(`${path}${part}`);
    const step = Math.max(1, Math.floor(bytes.length / 150));
    for (let at = 0; at < bytes.length; at += step) {
      for (const suffix of ["", "-wal"])
        if (existsSync(`${path}${suffix}`)) cpSync(`${path}${suffix}`, `${copy}${suffix}`);
      const hurt = Buffer.from(bytes);
      hurt[at] = (hurt[at] ?? 0) ^ 0xff;
      writeFileSync(`${copy}${part}`, hurt);
      const found = hashesIn(copy);
      for (const [hash, body] of found) expect([at, whole.get(hash)]).toEqual([at, body]);
      fewest = Math.min(fewest, found.size);
    }
  }
  expect(fewest).toBeGreaterThanOrEqual(40);
});

test("[CLI-4] of a file that was cut short what is left is given, wherever it was cut", async () => {
  const path = await crashed("short");
  const bytes = readFileSync(path);
  const copy = join(folder, "short.db");
  for (let part = 1; part < 16; part += 1) {
    writeFileSync(copy, bytes.subarray(0, Math.floor((bytes.length * part) / 16)));
    for (const body of hashesIn(copy).values()) expect(body === null || typeof body === "string").toBe(true);
  }
});
