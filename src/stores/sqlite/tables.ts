import { HoldfastError } from "../../base/errors.ts";
import type { Tables } from "../tables.ts";
import { SqliteBlobRows } from "./blob-rows.ts";
import { SqliteRecordTable } from "./record-table.ts";
import { SqliteSessionTable } from "./session-table.ts";
import type { SqliteConnection, SqliteRow, SqliteStatement } from "./vendor.ts";

/** SQLite's own numbers for `synchronous`. */
export const SYNCHRONOUS = { power: 2, process: 1 } as const;
/** Pages of the log, as SQLite has it by itself. */
const CARRIED_OVER_AT = 1_000;
const SYNC_EACH = `PRAGMA synchronous = ${SYNCHRONOUS.power}; PRAGMA wal_autocheckpoint = ${CARRIED_OVER_AT}`;
/** Carrying the log over would sync it first, and SQLite tells nobody when that fails behind a commit. */
const SYNC_LATER = `PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = ${SYNCHRONOUS.process}`;

/** The tables over one connection. Statements are fixed text with parameters; nothing a caller says becomes SQL. */
export class SqliteTables implements Tables {
  readonly blobs: SqliteBlobRows;
  readonly records: SqliteRecordTable;
  readonly sessions: SqliteSessionTable;
  readonly #connection: SqliteConnection;
  readonly #prepared = new Map<string, SqliteStatement>();
  /** As a connection that writes is made. */
  #wipes = true;
  #syncs = true;
  #canSyncAgain = false;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    const sql = (text: string) => this.#sql(text);
    this.blobs = new SqliteBlobRows(sql);
    this.records = new SqliteRecordTable(sql, this.blobs);
    this.sessions = new SqliteSessionTable(sql, this.records);
  }

  #sql(text: string): SqliteStatement {
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    const fresh = this.#connection.prepare(text);
    this.#prepared.set(text, fresh);
    return fresh;
  }

  /** Takes the write lock at once: a transaction that began as a reader could find that it may no longer write. */
  begin(): void {
    this.#sql("BEGIN IMMEDIATE").run();
  }

  commit(): void {
    this.#sql("COMMIT").run();
  }

  /**
   * Whether what is removed from now on is written over with zeros, wherever it lies, or only where the page is written
   * anyway. SQLite hears of it while it prepares the statement, so this one is prepared anew each time.
   */
  wipe(everywhere: boolean): void {
    if (everywhere === this.#wipes) return;
    this.#connection.exec(`PRAGMA secure_delete = ${everywhere ? "ON" : "FAST"}`);
    this.#wipes = everywhere;
  }

  /**
   * Whether the next commits wait for the disk. It can only be changed between transactions. That it can be changed back
   * is read back the first time: with a driver that forbids it acknowledged work would be lost, and nobody would know.
   */
  sync(each: boolean): void {
    if (each === this.#syncs) return;
    this.#connection.exec(each ? SYNC_EACH : SYNC_LATER);
    if (each) this.#canSyncAgain ||= this.pragma("synchronous")[0]?.["synchronous"] === SYNCHRONOUS.power;
    if (each && !this.#canSyncAgain) throw new HoldfastError("STORE_NOT_DURABLE", { asked: "power" });
    this.#syncs = each;
  }

  /** Carries the log over into the file and leaves it empty. Somebody who reads may be in the way. */
  emptyLog(): void {
    const done = this.#sql("PRAGMA wal_checkpoint(TRUNCATE)").get();
    if (done?.["busy"] === 1) throw new HoldfastError("STORE_BUSY", { log: "in use" });
  }

  freePages(): number {
    return Number(this.pragma("freelist_count")[0]?.["freelist_count"]);
  }

  meta(name: string): string | undefined {
    return this.#sql("SELECT value FROM meta WHERE name = ?").get(name)?.["value"] as string | undefined;
  }

  setMeta(name: string, value: string): void {
    this.#sql("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)").run(name, value);
  }

  pragma(
    name: "integrity_check" | "journal_mode" | "synchronous" | "application_id" | "user_version" | "freelist_count",
  ): readonly SqliteRow[] {
    return this.#sql(`PRAGMA ${name}`).all();
  }
}
