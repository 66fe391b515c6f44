/** `holdfast/stores/sqlite`: the embedded default. One file, through the SQLite that Node brings. */
import type { StoreSource } from "../../contracts/store-source.ts";
import { openSqlite, type SqliteOptions } from "./open.ts";

/**
 * A store in one SQLite file at `path`, with a folder for large content beside it. It is opened, or created, when the
 * kernel needs it.
 */
export function sqlite(path: string, options: SqliteOptions = {}): StoreSource {
  return { open: (deps) => openSqlite(path, { ...deps, ...options }) };
}

export { type InspectOptions, inspectSqlite } from "./inspect.ts";
export { FileLocks } from "./lock.ts";
export { openSqlite, type SqliteOptions } from "./open.ts";
export { type SalvagedRecord, salvageSqlite } from "./salvage.ts";
export { betterSqlite3, nodeSqlite, type SqliteConnection, type SqliteDriver } from "./vendor.ts";
