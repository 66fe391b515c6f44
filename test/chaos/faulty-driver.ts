import type { SqliteConnection, SqliteDriver, SqliteStatement } from "../../src/stores/sqlite/vendor.ts";
import type { FaultPlan } from "./fault-plan.ts";

/** SQLite's primary result codes that a sick disk, a full one or a neighbour can cause. */
export const SQLITE_FAULTS = { IOERR: 10, FULL: 13, READONLY: 8, BUSY: 5, CANTOPEN: 14 } as const;

/** Stands between the store and SQLite, and fails the call that the plan names. Errors have node:sqlite's shape. */
export function faultyDriver(real: SqliteDriver, plan: FaultPlan): SqliteDriver {
  const guard = <T>(what: string, call: () => T): T => {
    const fault = plan.next("sqlite", what);
    if (fault === undefined) return call();
    if (fault.when === "after") call(); // done, and reported as failed: the outcome nobody can be sure of
    throw sqliteError(fault.error);
  };
  const statement = (sql: string, inner: SqliteStatement): SqliteStatement => ({
    run: (...values) => guard(sql, () => inner.run(...values)),
    get: (...values) => guard(sql, () => inner.get(...values)),
    all: (...values) => guard(sql, () => inner.all(...values)),
    iterate: (...values) => guard(sql, () => inner.iterate(...values)),
  });
  const connection = (inner: SqliteConnection): SqliteConnection => ({
    exec: (sql) => guard(sql, () => inner.exec(sql)),
    prepare: (sql) =>
      statement(
        sql,
        guard("prepare", () => inner.prepare(sql)),
      ),
    close: () => inner.close(),
  });
  return {
    open: (path, options) => connection(guard("open", () => real.open(path, options))),
    codeOf: (error) => real.codeOf(error),
  };
}

function sqliteError(name: string): Error {
  const errcode = SQLITE_FAULTS[name as keyof typeof SQLITE_FAULTS];
  return Object.assign(new Error(`injected ${name}`), {
    code: "ERR_SQLITE_ERROR",
    errcode,
    errstr: `injected ${name}`,
  });
}
