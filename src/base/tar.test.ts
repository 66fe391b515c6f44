import { expect, test } from "vitest";
import { collect } from "../../test/support/stores.ts";
import { readTar, TAR_END, tarFile } from "./tar.ts";

const file = { path: "a/b.txt", bytes: Uint8Array.from(Buffer.from("content")) };
const read = (...pieces: readonly Uint8Array[]) => collect(readTar(pieces));

test("[BUNDLE-2] an archive is read in whatever pieces it comes, empty ones and names as long as they may be included", async () => {
  const long = { path: `d/${"x".repeat(98)}`, bytes: new Uint8Array() };
  const all = Buffer.concat([tarFile(file), tarFile(long), TAR_END]);
  const pieces = Array.from({ length: Math.ceil(all.length / 7) }, (_, nth) => all.subarray(nth * 7, nth * 7 + 7));
  const found = await read(new Uint8Array(), ...pieces, new Uint8Array(), new Uint8Array());
  expect(found.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()])).toEqual([
    ["a/b.txt", "content"],
    [long.path, ""],
  ]);
});

test.each([
  ["something behind its end", [tarFile(file), TAR_END, Buffer.from("x")], "behind its end"],
  ["something right behind its end", [Buffer.concat([tarFile(file), TAR_END, Buffer.from("x")])], "behind its end"],
  ["half an end", [tarFile(file), TAR_END.subarray(512)], "its end is cut off"],
  ["no end", [tarFile(file)], "without an end"],
  ["half a file", [tarFile(file).subarray(0, 514)], "is cut off"],
])("[BUNDLE-2] %s is told as damage", async (_, pieces, words) => {
  await expect(read(...pieces)).rejects.toMatchObject({
    code: "BUNDLE_DAMAGED",
    details: { detail: expect.stringContaining(words) },
  });
});

test("[BUNDLE-2] a name that leads out, or that has no room, is not written", () => {
  for (const path of ["../a", "/a", "a//b", "", "x".repeat(101), ".hidden"])
    expect(() => tarFile({ ...file, path })).toThrow(expect.objectContaining({ code: "BAD_OPTION" }));
});
