import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** Thousands of files take a while on a busy disk. */
const REMOVAL = 60_000;

/** A folder that goes away with the test file. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-test-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }), REMOVAL);
  return folder;
}

/** What `statfs` answers on NFS. */
export const NFS = 0x6969;
