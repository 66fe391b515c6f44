import { statSync } from "node:fs";
import { HoldfastError } from "../../base/errors.ts";
import type { DamagedRow, SessionRow, StoreRead } from "../../contracts/store.ts";
import type { SessionId } from "../../records/ids.ts";
import { storeError } from "./failures.ts";
import type { SqliteTables } from "./tables.ts";
import type { SqliteDriver } from "./vendor.ts";

/** What a pinned snapshot answers. Asynchronous by contract; here every answer is ready at once. */
export function readFrom(
  tables: SqliteTables,
  { path, driver }: { readonly path: string; readonly driver: SqliteDriver },
): StoreRead {
  /** One page of rows may be beyond reading. What is known of sessions elsewhere is then told instead. */
  const unlessDamaged = <T>(ask: () => T, otherwise: (error: HoldfastError) => T): T => {
    try {
      return ask();
    } catch (error) {
      const told = storeError(driver, error, path);
      if (!HoldfastError.is(told, "STORE_DAMAGED")) throw error;
      return otherwise(told);
    }
  };
  return {
    async session(id) {
      const row = unlessDamaged<SessionRow | DamagedRow | undefined>(
        () => tables.sessions.find(id),
        ({ message }) => ({ id, damaged: message }),
      );
      if (row !== undefined && !("damaged" in row)) return row;
      if (row === undefined && !tables.sessions.knows(id)) return undefined;
      return rebuilt(tables, id, row?.damaged ?? "the session is known by name, but its row is gone");
    },
    async sessions(after, limit) {
      return unlessDamaged(
        () => tables.sessions.after(after, limit),
        () => tables.sessions.witnessedAfter(after, limit),
      );
    },
    async records(session, query) {
      return tables.records.in(session, query);
    },
    async smallBlob(name) {
      return tables.blobs.small(name);
    },
    async references(after, limit) {
      return tables.blobs.references(after, limit);
    },
    async structure() {
      const faults: string[] = [];
      const told = (error: HoldfastError) => void faults.push(error.message);
      for (const part of [containerFaults, sessionFaults])
        unlessDamaged(() => {
          for (const fault of part(tables)) faults.push(fault);
        }, told);
      if (statSync(path, { throwIfNoEntry: false }) === undefined) faults.push("the store file is gone");
      return faults;
    },
  };
}

/** A damaged row costs nobody the records: where it can be told from what proves it, it is. */
function rebuilt(tables: SqliteTables, session: SessionId, detail: string): SessionRow {
  const row = tables.sessions.rebuilt(session);
  if (row === undefined) throw new HoldfastError("SESSION_DAMAGED", { session, detail });
  return row;
}

function* containerFaults(tables: SqliteTables): Iterable<string> {
  for (const row of tables.pragma("integrity_check")) {
    const line = String(row["integrity_check"]);
    if (line !== "ok") yield line;
  }
}

function* sessionFaults(tables: SqliteTables): Iterable<string> {
  for (const row of tables.sessions.all()) {
    if ("damaged" in row) yield row.damaged;
    else if (!tables.sessions.knows(row.id)) yield `session ${row.id} is missing from the list of names`;
  }
  for (const id of tables.sessions.damagedWitnesses()) yield `what is kept beside the row of session ${id} is damaged`;
}
