import { chmodSync, linkSync, lstatSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { work } from "../support/workspaces.ts";

test("[HOST-19] a path that shares its file with another gets one of its own, and the other keeps the old content", async () => {
  const { run, put, on, text, session } = await work();
  put("one", "old");
  linkSync(on("one"), on("two"));
  const { callId } = await run(({ files }) => files.writeText("one", "new"));
  expect([text("one"), text("two"), statSync(on("one")).nlink]).toEqual(["new", "old", 1]);
  await session.rewind({ before: callId });
  expect([text("one"), text("two")]).toEqual(["old", "old"]);
});

test("[HOST-19] [FILE-12] a file of several megabytes is streamed in, kept, changed and brought back, byte for byte", async () => {
  const { run, on, session } = await work();
  const piece = (n: number) => Buffer.alloc(300_000, `piece ${n} `);
  const source = function* (from: number) {
    for (let n = from; n < from + 12; n += 1) yield piece(n);
  };
  const whole = (from: number) => Buffer.concat([...source(from)]);
  writeFileSync(on("large"), whole(0));
  const first = await run(({ files }) => files.writeStream("large", source(100)));
  expect([first.ok, readFileSync(on("large")).equals(whole(100))]).toEqual([true, true]);
  const second = await run(({ files }) => files.move("large", "moved/large"));
  expect([second.ok, readFileSync(on("moved/large")).equals(whole(100))]).toEqual([true, true]);
  await session.rewind({ before: second.callId });
  expect(readFileSync(on("large")).equals(whole(100))).toBe(true);
  await session.rewind({ before: first.callId });
  expect(readFileSync(on("large")).equals(whole(0))).toBe(true);
});

test("[HOST-19] a path as deep as the system allows is written, listed and brought back", async () => {
  const { run, session, files, root } = await work();
  const deep = Array.from({ length: 60 }, (_, n) => `${n}-${"d".repeat(50)}`).join("/");
  const { ok, callId } = await run((call) => call.files.writeText(`${deep}/f`, "deep"));
  expect([ok, await files.readText(`${deep}/f`), (await files.list(deep)).length]).toEqual([true, "deep", 1]);
  await session.rewind({ before: callId });
  expect(await files.list()).toEqual([]);
  expect(lstatSync(root).isDirectory()).toBe(true);
});

test("[HOST-19] a file becomes a folder and a folder a file, in one call and back", async () => {
  const { run, put, on, text, session } = await work();
  put("x", "a file");
  put("y/inner", "in a folder");
  chmodSync(on("y"), 0o750);
  const { ok, callId } = await run(async ({ files }) => {
    await files.delete("x");
    await files.writeText("x/inner", "now a folder");
    await files.delete("y", { recursive: true });
    await files.writeText("y", "now a file");
  });
  expect([ok, text("x/inner"), text("y")]).toEqual([true, "now a folder", "now a file"]);
  await session.rewind({ before: callId });
  expect([text("x"), text("y/inner"), statSync(on("y")).mode & 0o777]).toEqual(["a file", "in a folder", 0o750]);
});

test("[HOST-19] many files of one folder go and come back with one call", async () => {
  const { run, on, session } = await work();
  mkdirSync(on("many"));
  for (let n = 0; n < 150; n += 1) writeFileSync(join(on("many"), `f${n}`), `${n}`);
  const { ok, callId } = await run(({ files }) => files.move("many", "elsewhere/many"));
  expect([ok, readFileSync(on("elsewhere/many/f149"), "utf8")]).toEqual([true, "149"]);
  const { files } = await session.rewind({ before: callId });
  expect([files?.kept, files?.unlike, readFileSync(on("many/f77"), "utf8")]).toEqual([[], [], "77"]);
});
