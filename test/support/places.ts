import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { removeTree } from "../../src/files/host/remove-tree.ts";

/** Thousands of files take a while on a busy disk. */
const REMOVAL = 60_000;

/** A folder that goes away with the test file. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-test-"));
  afterAll(() => {
    if (existsSync(folder)) removeTree(Buffer.from(folder)); // some tests leave folders that are closed to their owner
  }, REMOVAL);
  return folder;
}

/** What `statfs` answers on NFS. */
export const NFS = 0x6969;
