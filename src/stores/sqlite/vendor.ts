import { pathToFileURL } from "node:url";
import { HoldfastError } from "../../base/errors.ts";

/**
 * A connection of a SQLite driver, by its shape: node:sqlite and better-sqlite3 both fit, and a test can put a faulty
 * one in between.
 */
export interface SqliteConnection {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

export type SqliteValue = null | number | bigint | string | Uint8Array;
export type SqliteRow = Readonly<Record<string, SqliteValue>>;

export interface SqliteStatement {
  run(...values: readonly SqliteValue[]): { readonly changes: number | bigint };
  get(...values: readonly SqliteValue[]): SqliteRow | undefined;
  all(...values: readonly SqliteValue[]): readonly SqliteRow[];
  iterate(...values: readonly SqliteValue[]): IterableIterator<SqliteRow>;
}

/** The prepared statement of a text, made once. */
export type Sql = (text: string) => SqliteStatement;

/** A way to open SQLite files. */
export interface SqliteDriver {
  /** Which copy of SQLite it uses. Two copies in one process do not see each other's locks. */
  readonly engine?: string;
  open(path: string, options: { readonly readOnly: boolean }): SqliteConnection;
  /**
   * Reads a file that nobody is changing, without a lock and without creating files beside it. Absent if the driver
   * cannot.
   */
  readonly peek?: (path: string) => SqliteConnection;
  /** SQLite's primary result code, if the error comes from SQLite. */
  codeOf(error: unknown): number | undefined;
}

/** As a part of a file's name. */
export function engineOf({ engine = "unnamed" }: SqliteDriver): string {
  return engine.replaceAll(/[^A-Za-z0-9]/g, "-");
}

/** The driver for the SQLite that ships with Node. */
export async function nodeSqlite(): Promise<SqliteDriver> {
  const { DatabaseSync } = await import("node:sqlite").catch((cause: unknown) => {
    throw new HoldfastError("STORE_ENGINE_MISSING", {}, { cause });
  });
  return {
    engine: "node:sqlite",
    open: (path, { readOnly }) => new DatabaseSync(path, { readOnly }) as unknown as SqliteConnection,
    peek: (path) =>
      new DatabaseSync(new URL(`${pathToFileURL(path).href}?immutable=1`), {
        readOnly: true,
      }) as unknown as SqliteConnection,
    codeOf: (error) => {
      const code = (error as { readonly errcode?: unknown } | undefined)?.errcode;
      return typeof code === "number" ? code & 0xff : undefined;
    },
  };
}

type BetterSqlite3 = new (path: string, options?: { readonly readonly?: boolean }) => SqliteConnection;

/** The driver for `better-sqlite3` (13 or newer): pass the module. Use only one driver per file and process. */
export function betterSqlite3(Database: unknown): SqliteDriver {
  return {
    engine: "better-sqlite3",
    open: (path, { readOnly }) => new (Database as BetterSqlite3)(path, { readonly: readOnly }),
    codeOf: (error) => {
      const code = (error as { readonly code?: unknown } | undefined)?.code;
      return typeof code === "string" && code.startsWith("SQLITE_")
        ? RESULT_CODES[code.split("_")[1] ?? ""]
        : undefined;
    },
  };
}

/** By the word after SQLITE_, which extended codes share with their primary one. */
const RESULT_CODES: Readonly<Record<string, number>> = {
  ERROR: 1,
  PERM: 3,
  BUSY: 5,
  LOCKED: 6,
  NOMEM: 7,
  READONLY: 8,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  PROTOCOL: 15,
  TOOBIG: 18,
  CONSTRAINT: 19,
  MISMATCH: 20,
  AUTH: 23,
  NOTADB: 26,
};
