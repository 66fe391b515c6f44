import { HoldfastError } from "../../base/errors.ts";
import { sha256 } from "../../base/hash.ts";
import type { DamagedRow, RecordQuery, SessionRow } from "../../contracts/store.ts";
import type { Link, SealedRecord } from "../../records/chain.ts";
import type { SessionId } from "../../records/ids.ts";
import { type Run, runsOf } from "../spans.ts";
import type { Tables } from "../tables.ts";
import { SqliteBlobRows } from "./blob-rows.ts";
import { type Evidence, mendedRows, rebuiltRow } from "./mend.ts";
import { recordKey } from "./schema.ts";
import { SESSION_COLUMNS, sealSession, sessionValues, toSessionRow } from "./session-rows.ts";
import type { SqliteConnection, SqliteRow, SqliteStatement, SqliteValue } from "./vendor.ts";
import { Witnesses } from "./witnesses.ts";

const RECORD_COLUMNS =
  "key >> 32 AS segment, key & 4294967295 AS seq, kind, at, version, salt, body_digest, prev, hash, body, dropped";
const HEADER_COLUMNS = RECORD_COLUMNS.replace("body, dropped", "NULL AS body, dropped");

const PAGE_CHARACTERS = 4 * 1024 * 1024;

// Composed once: a text composed at every call would have to be hashed at every call to find its statement.
const SELECT_SESSION = `SELECT ${SESSION_COLUMNS} FROM sessions WHERE id = ?`;
const SELECT_SESSIONS = `SELECT ${SESSION_COLUMNS} FROM sessions WHERE id > ? ORDER BY id LIMIT ?`;
const INSERT_SESSION = `INSERT INTO sessions (${SESSION_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const INSERT_ODD_SESSION = INSERT_SESSION.replace("INSERT", "INSERT OR IGNORE");
const UPDATE_SESSION =
  "UPDATE sessions SET epoch = ?, owner = ?, lease_until = ?, head_seq = ?, head_hash = ?, anchor_seq = ?, anchor_hash = ?, checkpoint = ?, segments = ?, checksum = ? WHERE id = ?";
const UPDATE_UNCHANGED_SESSION = `${UPDATE_SESSION} AND checksum = ?`;
const SELECT_RECORDS = {
  forward: `SELECT ${RECORD_COLUMNS} FROM records WHERE key BETWEEN ? AND ? ORDER BY key ASC`,
  reverse: `SELECT ${RECORD_COLUMNS} FROM records WHERE key BETWEEN ? AND ? ORDER BY key DESC`,
} as const;
const SELECT_HEADERS = `SELECT ${HEADER_COLUMNS} FROM records WHERE key BETWEEN ? AND ? ORDER BY key ASC`;

/** The tables over one connection. Statements are fixed text with parameters; nothing a caller says becomes SQL. */
export class SqliteTables implements Tables {
  readonly #connection: SqliteConnection;
  readonly #prepared = new Map<string, SqliteStatement>();
  readonly #witnesses = new Witnesses((text) => this.#sql(text));
  readonly blobs: SqliteBlobRows = new SqliteBlobRows((text) => this.#sql(text));
  #last: { readonly row: SessionRow; readonly checksum: string } | undefined;
  /** As a connection that writes is made. */
  #wipes = true;
  /** What rebuilding rows gave, as long as nobody has written since. */
  #rebuilt: { readonly version: unknown; readonly rows: Map<SessionId, SessionRow | undefined> } | undefined;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
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

  session(id: SessionId): SessionRow | DamagedRow | undefined {
    // Every append asks for the row it wrote last: its checksum tells whether anybody has changed it since.
    const checksum = this.#sql("SELECT checksum FROM sessions WHERE id = ?").get(id)?.["checksum"];
    if (checksum === undefined) return undefined;
    if (this.#last?.row.id === id && this.#last.checksum === checksum) return this.#last.row;
    const row = this.#sql(SELECT_SESSION).get(id);
    return row === undefined ? undefined : toSessionRow(row);
  }

  knowsName(id: SessionId): boolean {
    return (
      this.#sql("SELECT 1 AS known FROM session_names WHERE digest = ? AND deleted_at_epoch IS NULL").get(
        sha256(id),
      ) !== undefined
    );
  }

  countNames(): number {
    return this.#sql("SELECT count(*) AS count FROM session_names WHERE deleted_at_epoch IS NULL").get()?.[
      "count"
    ] as number;
  }

  /** Ends with a damaged row of no session when fewer are found than are known by name: whoever removes things must know. */
  *allSessions(): Iterable<SessionRow | DamagedRow> {
    let found = 0;
    for (let after = ""; ; ) {
      const page = this.#rowsAfter(after, 256);
      yield* page;
      found += page.length;
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.id;
    }
    const names = this.countNames();
    if (names !== found)
      yield { id: "" as SessionId, damaged: `${names} sessions are known by name, ${found} have a row` };
  }

  /** Those too whose row is gone or lies where it is not found: their witnesses name them. */
  sessionsAfter(after: string, limit: number): readonly (SessionRow | DamagedRow)[] {
    const rows = this.#rowsAfter(after, limit);
    const listed = new Map<SessionId, SessionRow | DamagedRow>(rows.map((row) => [row.id, row]));
    for (const id of this.#witnesses.idsAfter(after, limit))
      if (!listed.has(id) && this.session(id) === undefined)
        listed.set(id, { id, damaged: `session ${id} has no row` });
    return [...listed.values()].sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit);
  }

  /** The same where the rows cannot be read at all. */
  witnessedAfter(after: string, limit: number): readonly DamagedRow[] {
    const unreadable = (id: SessionId) => ({ id, damaged: `the row of session ${id} cannot be read` });
    return this.#witnesses.idsAfter(after, limit).map(unreadable);
  }

  #rowsAfter(after: string, limit: number): readonly (SessionRow | DamagedRow)[] {
    // SQLite trusts the order of its pages. Where they are not in order it finds what lies before, and for ever again.
    return this.#sql(SELECT_SESSIONS)
      .all(after, limit)
      .map(toSessionRow)
      .filter(({ id }) => id > after);
  }

  addSession(row: SessionRow): void {
    this.#sql("INSERT OR REPLACE INTO session_names (digest, deleted_at_epoch) VALUES (?, NULL)").run(sha256(row.id));
    this.#sql(INSERT_SESSION).run(...sessionValues(row));
    this.#witnesses.put(row);
    this.#last = { row, checksum: sealSession(row).checksum };
  }

  keepWitness(row: SessionRow): void {
    this.#witnesses.put(row);
  }

  damagedWitnesses(): Iterable<SessionId> {
    return this.#witnesses.unusable();
  }

  /** A row that is damaged or gone, as far as it can be proven. Nothing is written. */
  rebuiltSession(id: SessionId): SessionRow | undefined {
    const version = this.#sql("PRAGMA data_version").get()?.["data_version"];
    if (this.#rebuilt?.version !== version) this.#rebuilt = { version, rows: new Map() };
    const { rows } = this.#rebuilt ?? { rows: new Map() };
    if (!rows.has(id)) rows.set(id, rebuiltRow(this.#evidence(), id));
    return rows.get(id);
  }

  mendSessions(): boolean {
    const found = this.#walkedRows().map(toSessionRow);
    const ids = this.#witnesses.idsAfter("", Number.MAX_SAFE_INTEGER);
    const rows = mendedRows(this.#evidence(), found, { ids, count: this.countNames() });
    if (rows === undefined) return false;
    this.#last = undefined;
    this.#sql("DELETE FROM sessions").run();
    for (const row of rows) this.#sql(INSERT_SESSION).run(...sessionValues(row));
    return true;
  }

  /** By a walk through all pages: a row that lies out of order is not found by its id, and is no less whole for that. */
  #walkedRows(): readonly SqliteRow[] {
    return this.#sql(`SELECT ${SESSION_COLUMNS} FROM sessions`).all();
  }

  isProven(id: SessionId): boolean {
    const isWhole = this.#walkedRows()
      .map(toSessionRow)
      .some((row) => row.id === id && !("damaged" in row));
    return isWhole || rebuiltRow(this.#evidence(), id) !== undefined;
  }

  #evidence(): Evidence {
    return {
      witness: (id) => (this.knowsName(id) ? this.#witnesses.find(id) : undefined),
      claimedHead: (witness) => this.#claimedHead(witness),
      headersAfter: (segment, seq) => this.#headersAfter(segment, seq),
      endsAt: (segment, seq) => this.endsAt(segment, seq),
      recordsAreWhole: () =>
        this.#sql("PRAGMA integrity_check(records)")
          .all()
          .every((row) => row["integrity_check"] === "ok"),
    };
  }

  #claimedHead(witness: SessionRow): Link | undefined {
    try {
      const row = this.#sql(
        "SELECT head_seq, head_hash FROM sessions WHERE id = ? AND anchor_hash = ? AND segments = ?",
      ).get(witness.id, witness.anchor.hash, sealSession(witness).segments);
      return row === undefined ? undefined : { seq: Number(row["head_seq"]), hash: String(row["head_hash"]) };
    } catch {
      return undefined; // its page cannot be read: it names nothing
    }
  }

  *#headersAfter(segment: number, seq: number): Iterable<SealedRecord> {
    const range = [recordKey(segment, seq + 1), recordKey(segment, 2 ** 32 - 1)] as const;
    for (const row of this.#sql(SELECT_HEADERS).iterate(...range)) yield toSealed(row);
  }

  putSession(row: SessionRow): void {
    const { values, checksum } = updateOf(row);
    this.#sql(UPDATE_SESSION).run(...values);
    this.#last = { row, checksum };
  }

  lastSeen(id: SessionId): SessionRow | undefined {
    return this.#last?.row.id === id ? this.#last.row : undefined;
  }

  /** The checksum covers the whole row: where the old one still stands, nobody has changed anything. */
  moveSession(from: SessionRow, to: SessionRow): boolean {
    if (this.#last?.row !== from) return false;
    const { values, checksum } = updateOf(to);
    const { changes } = this.#sql(UPDATE_UNCHANGED_SESSION).run(...values, this.#last.checksum);
    if (Number(changes) !== 1) return false;
    this.#last = { row: to, checksum };
    return true;
  }

  deleteSession({ id, epoch }: SessionRow): void {
    this.#last = undefined;
    this.#sql("DELETE FROM sessions WHERE id = ?").run(id);
    this.#freeName(id, epoch);
  }

  /** All other rows are written anew as they are: one that lies out of order would not be found to be removed. */
  forgetSession(id: SessionId, epoch: number): void {
    this.#last = undefined;
    const rows = Map.groupBy(
      this.#walkedRows().filter((row) => row["id"] !== id),
      (row) => ("damaged" in toSessionRow(row) ? INSERT_ODD_SESSION : INSERT_SESSION),
    );
    this.#sql("DELETE FROM sessions").run();
    // Whole ones first: an altered id must not take the place of the session that it happens to name.
    for (const insert of [INSERT_SESSION, INSERT_ODD_SESSION])
      for (const row of rows.get(insert) ?? []) this.#sql(insert).run(...Object.values(row));
    this.#freeName(id, epoch);
  }

  #freeName(id: SessionId, epoch: number): void {
    this.#witnesses.remove(id);
    this.#sql("UPDATE session_names SET deleted_at_epoch = ? WHERE digest = ?").run(epoch, sha256(id));
  }

  epochBefore(id: SessionId): number {
    const row = this.#sql("SELECT deleted_at_epoch AS epoch FROM session_names WHERE digest = ?").get(sha256(id));
    return Number(row?.["epoch"] ?? 0);
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

  insertRecord(segment: number, record: SealedRecord, operation: string | undefined): void {
    this.#sql(
      "INSERT INTO records (key, kind, at, version, salt, body_digest, prev, hash, body, operation) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
    this.blobs.dropReferences(recordKey(segment, seq), recordKey(segment, seq));
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

  deleteRecords(run: Run, limit: number): { readonly records: number; readonly bytes: number } {
    const doomed = this.#sql(
      "SELECT key >> 32 AS segment, key & 4294967295 AS seq, octet_length(body) AS bytes FROM records WHERE key BETWEEN ? AND ? ORDER BY key LIMIT ?",
    ).all(recordKey(run.segment, run.from), recordKey(run.segment, run.to), limit);
    if (!doomed.every((row) => liesIn(run, row))) throw outOfOrder(run.segment);
    const last = doomed.at(-1);
    if (last === undefined) return { records: 0, bytes: 0 };
    const range = [recordKey(run.segment, run.from), recordKey(run.segment, last["seq"] as number)] as const;
    this.blobs.dropReferences(...range);
    this.#sql("DELETE FROM records WHERE key BETWEEN ? AND ?").run(...range);
    return { records: doomed.length, bytes: doomed.reduce((sum, row) => sum + Number(row["bytes"] ?? 0), 0) };
  }

  records(session: SessionRow, query: RecordQuery): readonly SealedRecord[] {
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

  /**
   * Whether what is removed from now on is written over with zeros, wherever it lies, or only where the page is written
   * anyway. SQLite hears of it while it prepares the statement, so this one is prepared anew each time.
   */
  wipe(everywhere: boolean): void {
    if (everywhere === this.#wipes) return;
    this.#connection.exec(`PRAGMA secure_delete = ${everywhere ? "ON" : "FAST"}`);
    this.#wipes = everywhere;
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

function liesIn(run: Run, row: SqliteRow): boolean {
  const { segment, seq } = row as { readonly segment: number; readonly seq: number };
  return segment === run.segment && run.from <= seq && seq <= run.to;
}

function outOfOrder(segment: number): HoldfastError {
  return new HoldfastError("STORE_DAMAGED", { segment, found: "records out of order" });
}

/** In the order of UPDATE_SESSION. */
function updateOf(row: SessionRow): { readonly values: readonly SqliteValue[]; readonly checksum: string } {
  const { segments, checksum } = sealSession(row);
  const { id, epoch, owner, leaseUntil, head, anchor, checkpoint } = row;
  const links = [head.seq, head.hash, anchor.seq, anchor.hash] as const;
  return { values: [epoch, owner, leaseUntil, ...links, checkpoint, segments, checksum, id], checksum };
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
