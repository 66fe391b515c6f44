import type { SessionRow } from "../../contracts/store.ts";
import type { SessionId } from "../../records/ids.ts";
import { fromWitness, toWitness } from "./session-rows.ts";
import type { Sql } from "./vendor.ts";

/** Names in the table of facts about the store. A space is in no session's id. */
const BEGINNING = "session ";
const AFTER_ALL = "session!";

/**
 * Each session's row as it was when its writer came or went, or its history was cut. It lies in another table, on other
 * pages: one altered byte cannot reach both, and whatever has changed since then the records themselves can tell. Appends
 * do not write it, so it costs them nothing.
 */
export class Witnesses {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  put(row: SessionRow): void {
    this.#sql("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)").run(`${BEGINNING}${row.id}`, toWitness(row));
  }

  remove(id: SessionId): void {
    this.#sql("DELETE FROM meta WHERE name = ?").run(`${BEGINNING}${id}`);
  }

  find(id: SessionId): SessionRow | undefined {
    const found = this.#sql("SELECT value FROM meta WHERE name = ?").get(`${BEGINNING}${id}`);
    return found === undefined ? undefined : fromWitness(id, String(found["value"]));
  }

  /** Ids whose witness could not speak for them. */
  *unusable(): Iterable<SessionId> {
    for (const id of this.idsAfter("", Number.MAX_SAFE_INTEGER)) if (this.find(id) === undefined) yield id;
  }

  /** Ids that a witness speaks of, in order, starting after the given one. */
  idsAfter(after: string, limit: number): readonly SessionId[] {
    return this.#sql("SELECT name FROM meta WHERE name > ? AND name < ? ORDER BY name LIMIT ?")
      .all(`${BEGINNING}${after}`, AFTER_ALL, limit)
      .map((row) => String(row["name"]).slice(BEGINNING.length) as SessionId)
      .filter((id) => id > after);
  }
}
