import { statSync } from "node:fs";
import { HoldfastError } from "../../base/errors.ts";
import type { StoreRead } from "../../contracts/store.ts";
import type { SqliteTables } from "./tables.ts";

/** What a pinned snapshot answers. Asynchronous by contract; here every answer is ready at once. */
export function readFrom(tables: SqliteTables, path: string): StoreRead {
  return {
    async session(id) {
      const row = tables.session(id);
      if (row === undefined && tables.knowsName(id)) {
        throw new HoldfastError("SESSION_DAMAGED", {
          session: id,
          detail: "the session is known by name, but its row is gone",
        });
      }
      if (row !== undefined && "damaged" in row)
        throw new HoldfastError("SESSION_DAMAGED", { session: id, detail: row.damaged });
      return row;
    },
    async sessions(after, limit) {
      return tables.sessionsAfter(after, limit);
    },
    async records(session, query) {
      return tables.records(session, query);
    },
    async smallBlob(name) {
      return tables.smallBlob(name);
    },
    async references(after, limit) {
      return tables.references(after, limit);
    },
    async structure() {
      return structureOf(tables, path);
    },
  };
}

function structureOf(tables: SqliteTables, path: string): readonly string[] {
  const faults = tables
    .pragma("integrity_check")
    .map((row) => String(row["integrity_check"]))
    .filter((line) => line !== "ok");
  for (const row of tables.allSessions()) {
    if ("damaged" in row) faults.push(row.damaged);
    else if (!tables.knowsName(row.id)) faults.push(`session ${row.id} is missing from the list of names`);
  }
  if (statSync(path, { throwIfNoEntry: false }) === undefined) faults.push("the store file is gone");
  return faults;
}
