import { HoldfastError } from "../../base/errors.ts";
import type { RecordQuery, SessionRow } from "../../contracts/store.ts";
import type { Link, SealedRecord } from "../../records/chain.ts";
import { type Run, runsOf } from "../spans.ts";
import type { RecordTable } from "../tables.ts";
import type { SqliteBlobRows } from "./blob-rows.ts";
import { recordKey } from "./schema.ts";
import type { Sql, SqliteRow } from "./vendor.ts";

const RECORD_COLUMNS =
  "key >> 32 AS segment, key & 4294967295 AS seq, kind, at, version, salt, body_digest, prev, hash, body, dropped";
const HEADER_COLUMNS = RECORD_COLUMNS.replace("body, dropped", "NULL AS body, dropped");

const PAGE_CHARACTERS = 4 * 1024 * 1024;

// Composed once: a text composed at every call would have to be hashed at every call to find its statement.
const SELECT_RECORDS = {
  forward: `SELECT ${RECORD_COLUMNS} FROM records WHERE key BETWEEN ? AND ? ORDER BY key ASC`,
  reverse: `SELECT ${RECORD_COLUMNS} FROM records WHERE key BETWEEN ? AND ? ORDER BY key DESC`,
} as const;
const SELECT_HEADERS = `SELECT ${HEADER_COLUMNS} FROM records WHERE key BETWEEN ? AND ? ORDER BY key ASC`;

/** Every record of every session, by segment and sequence number. */
export class SqliteRecordTable implements RecordTable {
  readonly #sql: Sql;
  readonly #blobs: SqliteBlobRows;

  constructor(sql: Sql, blobs: SqliteBlobRows) {
    this.#sql = sql;
    this.#blobs = blobs;
  }

  newSegment(): number {
    const row = this.#sql(
      "UPDATE meta SET value = CAST(value + 1 AS TEXT) WHERE name = 'segments' RETURNING value",
    ).get();
    const segment = Number(row?.["value"]);
    // A damaged counter would hand out a segment that is in use, and two sessions would write into each other.
    const newest = this.#sql("SELECT key >> 32 AS segment FROM records ORDER BY key DESC LIMIT 1").get()?.["segment"];
    if (!(segment > Number(newest ?? 0))) throw new HoldfastError("STORE_DAMAGED", { segment, newest: Number(newest) });
    return segment;
  }

  insert(segment: number, record: SealedRecord, operation: string | undefined): void {
    this.#sql(
      "INSERT INTO records (key, kind, at, version, salt, body_digest, prev, hash, body, dropped, operation) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ).run(
      recordKey(segment, record.seq),
      record.kind,
      record.at,
      record.version,
      record.salt,
      record.bodyDigest,
      record.prev,
      record.hash,
      record.body,
      record.dropped ?? null,
      operation ?? null,
    );
  }

  linkAt(segment: number, seq: number): Link | undefined {
    const row = this.#sql("SELECT hash FROM records WHERE key = ?").get(recordKey(segment, seq));
    return row === undefined ? undefined : { seq, hash: row["hash"] as string };
  }

  endsAt(segment: number, seq: number): boolean {
    const after = this.#sql("SELECT key >> 32 AS segment FROM records WHERE key > ? ORDER BY key LIMIT 1").get(
      recordKey(segment, seq),
    );
    if (after !== undefined && (after["segment"] as number) <= segment) return false;
    const last = this.#sql(
      "SELECT key >> 32 AS segment, key & 4294967295 AS seq FROM records WHERE key <= ? ORDER BY key DESC LIMIT 1",
    ).get(recordKey(segment, 2 ** 32 - 1)) as { readonly segment: number; readonly seq: number } | undefined;
    return last === undefined || last.segment < segment || (last.segment === segment && last.seq <= seq);
  }

  operation(segment: number, operation: string): { readonly first: number; readonly last: number } | undefined {
    const row = this.#sql(
      "SELECT min(key) & 4294967295 AS first, max(key) & 4294967295 AS last FROM records WHERE operation = ? AND key BETWEEN ? AND ?",
    ).get(operation, recordKey(segment, 0), recordKey(segment, 2 ** 32 - 1));
    return row === undefined || row["first"] === null
      ? undefined
      : { first: row["first"] as number, last: row["last"] as number };
  }

  dropBody(segment: number, seq: number, reason: string): number {
    const row = this.#sql("SELECT octet_length(body) AS bytes FROM records WHERE key = ? AND body IS NOT NULL").get(
      recordKey(segment, seq),
    );
    if (row === undefined) return 0;
    this.#blobs.dropReferences(recordKey(segment, seq), recordKey(segment, seq));
    this.#sql("UPDATE records SET body = NULL, dropped = ? WHERE key = ?").run(reason, recordKey(segment, seq));
    return row["bytes"] as number;
  }

  *segments(): Iterable<{ readonly segment: number; readonly last: number }> {
    // One look-up per segment, whatever the number of records in it.
    for (let row = this.#firstKey(0); row !== undefined; ) {
      const segment = row["segment"] as number;
      const last = this.#sql(
        "SELECT key & 4294967295 AS seq FROM records WHERE key <= ? ORDER BY key DESC LIMIT 1",
      ).get(recordKey(segment, 2 ** 32 - 1));
      yield { segment, last: last?.["seq"] as number };
      row = this.#firstKey(segment + 1);
      if (row !== undefined && (row["segment"] as number) <= segment) throw outOfOrder(segment);
    }
  }

  #firstKey(segment: number): SqliteRow | undefined {
    return this.#sql("SELECT key >> 32 AS segment FROM records WHERE key >= ? ORDER BY key LIMIT 1").get(
      recordKey(segment, 0),
    );
  }

  remove(run: Run, limit: number): { readonly records: number; readonly bytes: number } {
    const doomed = this.#sql(
      "SELECT key >> 32 AS segment, key & 4294967295 AS seq, octet_length(body) AS bytes FROM records WHERE key BETWEEN ? AND ? ORDER BY key LIMIT ?",
    ).all(recordKey(run.segment, run.from), recordKey(run.segment, run.to), limit);
    if (!doomed.every((row) => liesIn(run, row))) throw outOfOrder(run.segment);
    const last = doomed.at(-1);
    if (last === undefined) return { records: 0, bytes: 0 };
    const range = [recordKey(run.segment, run.from), recordKey(run.segment, last["seq"] as number)] as const;
    this.#blobs.dropReferences(...range);
    this.#sql("DELETE FROM records WHERE key BETWEEN ? AND ?").run(...range);
    return { records: doomed.length, bytes: doomed.reduce((sum, row) => sum + Number(row["bytes"] ?? 0), 0) };
  }

  in(session: SessionRow, query: RecordQuery): readonly SealedRecord[] {
    const found: SealedRecord[] = [];
    let characters = 0;
    const runs = runsOf(session, query.from, query.to);
    for (const run of query.reverse ? runs.toReversed() : runs) {
      const rows = this.#sql(query.reverse ? SELECT_RECORDS.reverse : SELECT_RECORDS.forward).iterate(
        recordKey(run.segment, run.from),
        recordKey(run.segment, run.to),
      );
      for (const row of rows) {
        // Swapped pages make SQLite find rows that were not asked for. They prove themselves, but elsewhere.
        if (!liesIn(run, row)) continue;
        const record = toSealed(row);
        found.push(record);
        characters += record.body?.length ?? 0;
        // A page of very large records would otherwise be as large as all of them together.
        if (found.length >= query.limit || characters >= PAGE_CHARACTERS) return found;
      }
    }
    return found;
  }

  /** Headers of a segment's records after that one, in order. */
  *headersAfter(segment: number, seq: number): Iterable<SealedRecord> {
    const range = [recordKey(segment, seq + 1), recordKey(segment, 2 ** 32 - 1)] as const;
    for (const row of this.#sql(SELECT_HEADERS).iterate(...range)) yield toSealed(row);
  }

  /** Whether every page of the records' tree is in its place: else the newest records might be missing unnoticed. */
  areWhole(): boolean {
    return this.#sql("PRAGMA integrity_check(records)")
      .all()
      .every((row) => row["integrity_check"] === "ok");
  }
}

function liesIn(run: Run, row: SqliteRow): boolean {
  const { segment, seq } = row as { readonly segment: number; readonly seq: number };
  return segment === run.segment && run.from <= seq && seq <= run.to;
}

function outOfOrder(segment: number): HoldfastError {
  return new HoldfastError("STORE_DAMAGED", { segment, found: "records out of order" });
}

function toSealed(row: SqliteRow): SealedRecord {
  const dropped = row["dropped"] as string | null;
  return {
    seq: row["seq"] as number,
    kind: row["kind"] as string,
    at: row["at"] as string,
    version: row["version"] as number,
    salt: row["salt"] as string,
    bodyDigest: row["body_digest"] as string,
    prev: row["prev"] as string,
    hash: row["hash"] as string,
    body: row["body"] as string | null,
    ...(dropped === null ? {} : { dropped }),
  };
}
