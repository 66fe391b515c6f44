import { expect, test } from "vitest";
import { CHUNK_BYTES, nameOfBytes } from "./blob-name.ts";
import { toBlobName } from "./ids.ts";

test("[BLOB-1] names stay what they are from release to release", () => {
  expect(nameOfBytes(Buffer.alloc(0))).toBe("sha256-e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  expect(nameOfBytes(Buffer.from("abc"))).toBe(
    "sha256-ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
  expect(nameOfBytes(Buffer.alloc(CHUNK_BYTES, 1))).toMatch(/^sha256-/);
  expect(nameOfBytes(Buffer.alloc(CHUNK_BYTES + 1, 1))).toMatch(/^tree-/);
  expect(nameOfBytes(Buffer.alloc(2 * CHUNK_BYTES, 1))).not.toBe(nameOfBytes(Buffer.alloc(3 * CHUNK_BYTES, 1)));
});

test("[BLOB-4] a name has one form", () => {
  const name = `tree-${"0".repeat(64)}`;
  expect(toBlobName(name)).toBe(name);
  for (const text of [7, null, undefined, {}, ["x"]])
    expect(() => toBlobName(text as unknown as string)).toThrow(expect.objectContaining({ code: "BLOB_BAD_NAME" }));
});
