import { expect, test } from "vitest";
import { CHUNK_BYTES, nameOfBytes } from "../../records/blob-name.ts";
import { ChunkHasher } from "./hasher.ts";

test.each([0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 2 * CHUNK_BYTES + 5])(
  "[FILE-12] %i bytes have one name, however they come",
  (size) => {
    const bytes = Buffer.alloc(size, "content ");
    for (const piece of [1_000, CHUNK_BYTES, size + 1]) {
      const hasher = new ChunkHasher();
      for (let at = 0; at < size; at += piece) hasher.add(bytes.subarray(at, at + piece));
      expect([hasher.size, hasher.name()]).toEqual([size, nameOfBytes(bytes)]);
    }
  },
);
