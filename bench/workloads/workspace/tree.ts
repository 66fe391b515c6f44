import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createHash, randomBytes } from "node:crypto";
import type { Fixture, Task } from "../../harness/contract.ts";

const FILE_BYTES = 10 * 1024;
const FOLDER_FILES = 50;

/** A project of so many files, ten kilobytes each: every cell gets one of its own, because every cell edits it. */
export function treeOf(cell: string, ready?: (root: string, beside: string) => void): Fixture {
  return {
    name: `tree for ${cell}`,
    build({ size }, folder) {
      const root = rootIn(folder);
      // Random once and shifted: no two files are alike, and making them costs no more than writing them.
      const noise = randomBytes(2 * FILE_BYTES);
      for (let n = 0; n < size; n += 1) {
        const path = join(root, pathOf(n));
        if (n % FOLDER_FILES === 0) mkdirSync(dirname(path), { recursive: true });
        const at = n % FILE_BYTES;
        writeFileSync(path, Buffer.concat([Buffer.from(`${n}\n`), noise.subarray(at, at + FILE_BYTES - 10)]));
      }
      ready?.(root, join(folder, "beside"));
    },
  };
}

export const rootIn = (folder: string) => join(folder, "root");

/** Three files in three folders, others in every round. */
export function touched({ size, round }: Pick<Task, "size" | "round">): readonly string[] {
  return [1, 2, 3].map((part) => pathOf(Math.floor((size * part) / 4) + (round % 10)));
}

let edits = 0;

/** No two edits are alike: what has been there before could be found again. */
export function edit(bytes: Buffer): Buffer {
  edits += 1;
  return Buffer.concat([bytes.subarray(0, 2000), Buffer.from(`edit ${edits} by the agent\n`), bytes.subarray(2000)]);
}

export function digestOf(root: string, paths: readonly string[]): string {
  const hash = createHash("sha256");
  for (const path of paths) hash.update(readFileSync(join(root, path)));
  return hash.digest("hex");
}

function pathOf(n: number): string {
  const folder = Math.floor(n / FOLDER_FILES);
  return `src/${Math.floor(folder / 40)}/${folder % 40}/file-${n}.txt`;
}
