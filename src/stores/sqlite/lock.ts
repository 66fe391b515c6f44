import { closeSync, existsSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileError } from "../../blobs/files/failures.ts";
import { makeFolder } from "../../blobs/files/folders.ts";
import { isCode, realFiles } from "../../blobs/files/port.ts";
import type { HeldLock, OsLocks } from "../../contracts/lock.ts";
import { closeQuietly } from "./connect.ts";
import { BUSY, storeError } from "./failures.ts";
import type { SqliteConnection, SqliteDriver } from "./vendor.ts";

/**
 * Locks that the operating system frees when the holder dies: an exclusive transaction on a small file beside the store.
 * No clock and no process id is involved, so a paused holder keeps its lock and a dead one never does.
 */
export class FileLocks implements OsLocks {
  readonly #driver: SqliteDriver;
  readonly #folder: string;

  constructor(driver: SqliteDriver, folder: string) {
    this.#driver = driver;
    this.#folder = folder;
  }

  async tryAcquire(name: string): Promise<HeldLock | undefined> {
    const path = this.#pathOf(name);
    try {
      await makeFolder(realFiles, this.#folder);
      makePrivateFile(path);
    } catch (error) {
      throw fileError(error, path);
    }
    const connection = this.#tryLock(path);
    if (connection === undefined) return undefined;
    const release = async () => connection.close();
    return { release, [Symbol.asyncDispose]: release };
  }

  /** True when nobody alive holds the lock. A missing file means its holder closed properly. */
  isFree(name: string): boolean {
    const path = this.#pathOf(name);
    if (!existsSync(path)) return true;
    const connection = this.#tryLock(path);
    connection?.close();
    return connection !== undefined;
  }

  /** Removes the file of a lock that is no longer held by anyone. */
  forget(name: string): void {
    rmSync(this.#pathOf(name), { force: true });
  }

  #tryLock(path: string): SqliteConnection | undefined {
    let connection: SqliteConnection | undefined;
    try {
      connection = this.#driver.open(path, { readOnly: false });
      connection.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
      return connection;
    } catch (error) {
      closeQuietly(connection);
      if (this.#driver.codeOf(error) === BUSY) return undefined;
      throw storeError(this.#driver, error, path);
    }
  }

  #pathOf(name: string): string {
    return join(this.#folder, `${name}.lock`);
  }
}

/** Never opens a file that is there: closing any second handle on it would free the locks this process holds on it. */
function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error;
  }
}
