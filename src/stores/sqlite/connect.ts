import { HoldfastError } from "../../base/errors.ts";
import type { Durability } from "../../contracts/store.ts";
import { storeError } from "./failures.ts";
import { APPLICATION_ID, PAGE_BYTES, STORE_VERSION } from "./schema.ts";
import { SqliteTables, SYNCHRONOUS } from "./tables.ts";
import type { SqliteConnection, SqliteDriver } from "./vendor.ts";

export interface ConnectOptions {
  readonly driver: SqliteDriver;
  readonly path: string;
  readonly durability: Exclude<Durability, "memory">;
  readonly journal: "wal" | "delete";
}

export interface Connected {
  readonly connection: SqliteConnection;
  readonly tables: SqliteTables;
}

/** The first SQLite without the bug in which two processes that write and checkpoint can corrupt a write-ahead log. */
const SAFE_WAL = [3, 51, 3] as const;

/** A connection that writes. What was asked for is read back: a pragma that did not take effect loses power-cut acks silently. */
export function connectWriter({ driver, path, durability, journal }: ConnectOptions, making = false): Connected {
  return connecting(driver, path, false, (connection) => {
    connection.exec("PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF");
    // Before anything is written: later they cannot be chosen. Space that was freed can then be given back in steps.
    if (making) connection.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA auto_vacuum = INCREMENTAL`);
    connection.exec("PRAGMA secure_delete = ON"); // what was removed is gone from the file, too (SqliteTables.wipe)
    connection.exec(`PRAGMA journal_mode = ${journal}`);
    connection.exec(`PRAGMA synchronous = ${SYNCHRONOUS[durability]}; PRAGMA journal_size_limit = 67108864`);
    if (durability === "power") connection.exec("PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1");
    const tables = new SqliteTables(connection);
    const mode = tables.pragma("journal_mode")[0]?.["journal_mode"];
    const synchronous = tables.pragma("synchronous")[0]?.["synchronous"];
    if (mode !== journal || synchronous !== SYNCHRONOUS[durability]) {
      throw new HoldfastError("STORE_NOT_DURABLE", {
        path,
        asked: durability,
        mode: String(mode),
        synchronous: Number(synchronous),
      });
    }
    return { connection, tables };
  });
}

/** A connection that pins snapshots. It never checkpoints: only one connection of a process may. */
export function connectReader(driver: SqliteDriver, path: string): Connected {
  return connecting(driver, path, false, (connection) => {
    connection.exec("PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF");
    connection.exec("PRAGMA query_only = ON; PRAGMA wal_autocheckpoint = 0");
    return { connection, tables: new SqliteTables(connection) };
  });
}

/** Refuses a store that is not ours to write, through a read-only connection: nothing is changed by asking. */
export function mustBeOurs(driver: SqliteDriver, path: string): { readonly durability: "power" | "process" } {
  try {
    return connecting(driver, path, true, (connection) => checkMarks(connection, path));
  } catch (error) {
    // A crash left a transaction half in the file, and only a connection that may write can take it back. The first
    // bytes have said that the file is ours.
    if (!HoldfastError.is(error, "STORE_READONLY")) throw error;
    return connecting(driver, path, false, (connection) => checkMarks(connection, path));
  }
}

function checkMarks(connection: SqliteConnection, path: string): { readonly durability: "power" | "process" } {
  const tables = new SqliteTables(connection);
  const application = tables.pragma("application_id")[0]?.["application_id"];
  const version = Number(tables.pragma("user_version")[0]?.["user_version"]);
  if (application !== APPLICATION_ID) throw new HoldfastError("STORE_FOREIGN_FILE", { path });
  if (version > STORE_VERSION) throw new HoldfastError("STORE_TOO_NEW", { path, version, known: STORE_VERSION });
  if (version < 1) throw new HoldfastError("STORE_DAMAGED", { path, version });
  const durability = tables.meta("durability");
  if (durability !== "power" && durability !== "process") {
    throw new HoldfastError("STORE_BAD_MODE", { path, durability: durability ?? "none" });
  }
  connection.close();
  return { durability };
}

export function engineIsSafe(connection: SqliteConnection): boolean {
  const text = String(connection.prepare("SELECT sqlite_version() AS version").get()?.["version"]);
  const version = text.split(".").map(Number);
  const at = SAFE_WAL.findIndex((part, index) => part !== version[index]);
  return at === -1 || (version[at] ?? 0) > (SAFE_WAL[at] ?? 0);
}

function connecting<T>(
  driver: SqliteDriver,
  path: string,
  readOnly: boolean,
  use: (connection: SqliteConnection) => T,
): T {
  let connection: SqliteConnection | undefined;
  try {
    connection = driver.open(path, { readOnly });
    connection.exec("PRAGMA busy_timeout = 0"); // waiting is ours (patience.ts): SQLite's would stop the whole process
    return use(connection);
  } catch (error) {
    closeQuietly(connection);
    throw storeError(driver, error, path);
  }
}

/** For connections that have failed already: the failure is reported, a second one from closing would hide it. */
export function closeQuietly(connection: SqliteConnection | undefined): void {
  try {
    connection?.close();
  } catch {
    // Closing twice, or a connection whose file is gone: there is nothing left to release.
  }
}
