import { closeSync, existsSync, lstatSync, openSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import { makeFolder } from "../../blobs/files/folders.ts";
import { isCode, realFiles } from "../../blobs/files/port.ts";
import type { HeldLock, OsLocks } from "../../contracts/lock.ts";
import { storeError } from "./failures.ts";
import { engineOf, type SqliteConnection, type SqliteDriver } from "./vendor.ts";

/** Alone, or together with others that share: SQLite's own two kinds of lock on a file. */
const EXCLUSIVE = "BEGIN EXCLUSIVE";
const SHARED = "BEGIN; SELECT count(*) FROM sqlite_schema";

/**
 * Locks that the operating system frees when their holder dies: a transaction kept open on a small file beside the
 * store. No clock and no process id is involved, so a paused holder keeps its lock and a dead one never does.
 */
export class FileLocks implements OsLocks {
  readonly #driver: SqliteDriver;
  readonly #folder: string;

  constructor(driver: SqliteDriver, folder: string) {
    this.#driver = driver;
    this.#folder = folder;
  }

  tryAcquire(name: string): Promise<HeldLock | undefined> {
    return this.#try(name, EXCLUSIVE);
  }

  /** Takes a lock that can be shared with others that also share it, but not with a holder that acquired it. */
  tryShare(name: string): Promise<HeldLock | undefined> {
    return this.#try(name, SHARED);
  }

  /**
   * True if it is certain that no living process holds the lock. A missing file means that its holder closed properly.
   */
  isFree(name: string): boolean {
    const path = this.#pathOf(name);
    if (!existsSync(path)) return true;
    if (this.#isHeldByOtherEngine(path)) return false;
    try {
      const connection = this.#tryLock(path, EXCLUSIVE);
      connection?.close();
      return connection !== undefined;
    } catch {
      return false; // it cannot even be asked: not certain
    }
  }

  /** Removes the file of a lock that nobody holds any more. */
  forget(name: string): void {
    rmSync(this.#pathOf(name), { force: true });
  }

  /** The names of locks that have a file, by how they begin. */
  names(beginning: string): readonly string[] {
    const files = existsSync(this.#folder) ? readdirSync(this.#folder) : [];
    return files.flatMap((file) =>
      file.startsWith(beginning) && file.endsWith(".lock") ? [file.slice(0, -".lock".length)] : [],
    );
  }

  /**
   * Removes lock files that dead holders left. Only for names that nobody uses twice: removing a file while somebody is
   * about to lock it would let two hold the lock. And only for old files: a new one is about to be locked.
   */
  forgetDead(beginning: string, before: number): void {
    for (const name of this.names(beginning)) {
      const found = lstatSync(this.#pathOf(name), { throwIfNoEntry: false });
      if (found !== undefined && found.mtimeMs < before && this.isFree(name)) this.forget(name);
    }
  }

  async #try(name: string, begin: string): Promise<HeldLock | undefined> {
    const path = this.#pathOf(name);
    try {
      await makeFolder(realFiles, this.#folder);
      makePrivateFile(path);
      if (this.#isHeldByOtherEngine(path)) return undefined;
      const connection = this.#tryLock(path, begin);
      if (connection === undefined) return undefined;
      const forget = this.#note(path);
      const release = async () => {
        connection.close();
        forget();
      };
      return { release, [Symbol.asyncDispose]: release };
    } catch (error) {
      throw storeError(this.#driver, error, path);
    }
  }

  /** One copy of SQLite would be given a lock that another copy in this process holds, and free it by closing the file. */
  #isHeldByOtherEngine(path: string): boolean {
    return heldHere().has(path) && heldHere().get(path)?.engine !== engineOf(this.#driver);
  }

  #note(path: string): () => void {
    const held = heldHere();
    const before = held.get(path)?.times ?? 0;
    held.set(path, { engine: engineOf(this.#driver), times: before + 1 });
    return () => {
      const times = (held.get(path)?.times ?? 1) - 1;
      if (times === 0) held.delete(path);
      else held.set(path, { engine: engineOf(this.#driver), times });
    };
  }

  #tryLock(path: string, begin: string): SqliteConnection | undefined {
    const connection = this.#driver.open(path, { readOnly: false });
    try {
      connection.exec(`PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; ${begin}`);
      return connection;
    } catch (error) {
      connection.close();
      if (HoldfastError.is(storeError(this.#driver, error, path), "STORE_BUSY")) return undefined;
      throw error;
    }
  }

  #pathOf(name: string): string {
    if (!/^[A-Za-z0-9_][A-Za-z0-9._-]{0,199}$/.test(name))
      throw new HoldfastError("BAD_OPTION", { option: "lock", value: name.slice(0, 80) });
    return join(this.#folder, `${name}.lock`);
  }
}

const HELD = Symbol.for("holdfast.locks");

/** Locks that this thread holds, whichever copy of this package took them. */
function heldHere(): Map<string, { readonly engine: string; readonly times: number }> {
  const here = globalThis as { [HELD]?: ReturnType<typeof heldHere> };
  here[HELD] ??= new Map();
  return here[HELD];
}

/** Never opens a file that is there: closing any second handle on it would free the locks this process holds on it. */
function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error;
  }
}
