import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SRC = fileURLToPath(new URL("../../src/", import.meta.url));

/** Of the code in these rooms without its tests, in a fixed order. */
export function codeDigest(rooms: readonly string[]): string {
  const digest = createHash("sha256");
  for (const room of rooms) {
    const files = readdirSync(join(SRC, room), { recursive: true, encoding: "utf8" }).toSorted();
    for (const file of files) {
      if (!file.endsWith(".ts") || file.endsWith(".test.ts")) continue;
      digest.update(`${room}/${file}\n`).update(readFileSync(join(SRC, room, file)));
    }
  }
  return digest.digest("hex").slice(0, 16);
}
