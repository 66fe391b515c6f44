import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "vitest";
import { HoldfastError } from "../../src/base/errors.ts";
import { openSqlite } from "../../src/stores/sqlite/entry.ts";

/**
 * Whether several may have a store open at once, asked of the store itself. Older Node brings an SQLite with a bug in its
 * log (22.18 to 22.22, 24 up to 24.14), with which one process has a store alone.
 */
export const storesAreShared: boolean = await askTheStore();

/** For tests with several openers of one store. Where that is refused they are skipped, and the run names each of them. */
export const testTogether: typeof test.skip = storesAreShared ? test : test.skip;

async function askTheStore(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-together-"));
  const first = await openSqlite(join(folder, "store.db"));
  try {
    await (await openSqlite(join(folder, "store.db"))).close();
    return true;
  } catch (error) {
    if (HoldfastError.is(error, "STORE_ENGINE_TOO_OLD")) return false;
    throw error;
  } finally {
    await first.close();
    rmSync(folder, { recursive: true });
  }
}
