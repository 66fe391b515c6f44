import { sha256 } from "../../base/hash.ts";
import type { DamagedRow, SessionRow } from "../../contracts/store.ts";
import type { Link } from "../../records/chain.ts";
import type { SessionId } from "../../records/ids.ts";
import type { SessionTable } from "../tables.ts";
import { type Evidence, mendedRows, rebuiltRow } from "./mend.ts";
import type { SqliteRecordTable } from "./record-table.ts";
import { SESSION_COLUMNS, sealSession, sessionValues, toSessionRow } from "./session-rows.ts";
import type { Sql, SqliteRow, SqliteValue } from "./vendor.ts";
import { Witnesses } from "./witnesses.ts";

// Composed once: a text composed at every call would have to be hashed at every call to find its statement.
const SELECT_SESSION = `SELECT ${SESSION_COLUMNS} FROM sessions WHERE id = ?`;
const SELECT_SESSIONS = `SELECT ${SESSION_COLUMNS} FROM sessions WHERE id > ? ORDER BY id LIMIT ?`;
const SELECT_CHECKSUMS = "SELECT id, checksum FROM sessions WHERE id > ? ORDER BY id LIMIT ?";
const INSERT_SESSION = `INSERT INTO sessions (${SESSION_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const INSERT_ODD_SESSION = INSERT_SESSION.replace("INSERT", "INSERT OR IGNORE");
const UPDATE_SESSION =
  "UPDATE sessions SET epoch = ?, owner = ?, lease_until = ?, head_seq = ?, head_hash = ?, anchor_seq = ?, anchor_hash = ?, checkpoint = ?, segments = ?, checksum = ? WHERE id = ?";
const UPDATE_UNCHANGED_SESSION = `${UPDATE_SESSION} AND checksum = ?`;

const PAGE = 256;

/** A row that was read whole, and the checksum that covers all of it. */
interface Proven {
  readonly row: SessionRow;
  readonly checksum: string;
}

/** A row for every session, sealed, and what proves it where the row is damaged: its name, its witness, its records. */
export class SqliteSessionTable implements SessionTable {
  readonly #sql: Sql;
  readonly #records: SqliteRecordTable;
  readonly #witnesses: Witnesses;
  #last: { readonly row: SessionRow; readonly checksum: string } | undefined;
  /** Every row, as it was read last: each step of a sweep asks for all of them. */
  #whole: ReadonlyMap<SessionId, Proven> = new Map();
  /** What rebuilding rows gave, as long as nobody has written since. */
  #rebuilt: { readonly version: unknown; readonly rows: Map<SessionId, SessionRow | undefined> } | undefined;

  constructor(sql: Sql, records: SqliteRecordTable) {
    this.#sql = sql;
    this.#records = records;
    this.#witnesses = new Witnesses(sql);
  }

  find(id: SessionId): SessionRow | DamagedRow | undefined {
    // Every append asks for the row it wrote last: its checksum tells whether anybody has changed it since.
    const checksum = this.#sql("SELECT checksum FROM sessions WHERE id = ?").get(id)?.["checksum"];
    if (checksum === undefined) return undefined;
    if (this.#last?.row.id === id && this.#last.checksum === checksum) return this.#last.row;
    const row = this.#sql(SELECT_SESSION).get(id);
    return row === undefined ? undefined : toSessionRow(row);
  }

  knows(id: SessionId): boolean {
    return (
      this.#sql("SELECT 1 AS known FROM session_names WHERE digest = ? AND deleted_at_epoch IS NULL").get(
        sha256(id),
      ) !== undefined
    );
  }

  #countNames(): number {
    return this.#sql("SELECT count(*) AS count FROM session_names WHERE deleted_at_epoch IS NULL").get()?.[
      "count"
    ] as number;
  }

  /** Ends with a damaged row of no session when fewer are found than are known by name: whoever removes things must know. */
  *all(): Iterable<SessionRow | DamagedRow> {
    let found = 0;
    const whole = new Map<SessionId, Proven>();
    for (let after = ""; ; ) {
      const page = this.#knownAfter(after, PAGE) ?? this.#readAfter(after, PAGE);
      for (const { row, checksum } of page) {
        yield row;
        if (!("damaged" in row)) whole.set(row.id, { row, checksum });
      }
      found += page.length;
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.row.id;
    }
    this.#whole = whole;
    const names = this.#countNames();
    if (names !== found)
      yield { id: "" as SessionId, damaged: `${names} sessions are known by name, ${found} have a row` };
  }

  /** Those too whose row is gone or lies where it is not found: their witnesses name them. */
  after(after: string, limit: number): readonly (SessionRow | DamagedRow)[] {
    const rows = this.#rowsAfter(after, limit);
    const listed = new Map<SessionId, SessionRow | DamagedRow>(rows.map((row) => [row.id, row]));
    for (const id of this.#witnesses.idsAfter(after, limit))
      if (!listed.has(id) && this.find(id) === undefined) listed.set(id, { id, damaged: `session ${id} has no row` });
    return [...listed.values()].sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit);
  }

  /** The same where the rows cannot be read at all. */
  witnessedAfter(after: string, limit: number): readonly DamagedRow[] {
    const unreadable = (id: SessionId) => ({ id, damaged: `the row of session ${id} cannot be read` });
    return this.#witnesses.idsAfter(after, limit).map(unreadable);
  }

  /** The next rows, if each of them stands as it was when it was read whole: proving it again would find the same. */
  #knownAfter(after: string, limit: number): readonly Proven[] | undefined {
    if (this.#whole.size === 0) return undefined;
    const page: Proven[] = [];
    for (const { id, checksum } of this.#sql(SELECT_CHECKSUMS).all(after, limit)) {
      const known = this.#whole.get(id as SessionId);
      if (known === undefined || known.checksum !== checksum || known.row.id <= after) return undefined;
      page.push(known);
    }
    return page;
  }

  #readAfter(
    after: string,
    limit: number,
  ): readonly { readonly row: SessionRow | DamagedRow; readonly checksum: string }[] {
    const rows = this.#sql(SELECT_SESSIONS).all(after, limit);
    // SQLite trusts the order of its pages. Where they are not in order it finds what lies before, and for ever again.
    return rows
      .map((row) => ({ row: toSessionRow(row), checksum: String(row["checksum"]) }))
      .filter(({ row }) => row.id > after);
  }

  #rowsAfter(after: string, limit: number): readonly (SessionRow | DamagedRow)[] {
    return this.#readAfter(after, limit).map(({ row }) => row);
  }

  add(row: SessionRow): void {
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
  rebuilt(id: SessionId): SessionRow | undefined {
    const version = this.#sql("PRAGMA data_version").get()?.["data_version"];
    if (this.#rebuilt?.version !== version) this.#rebuilt = { version, rows: new Map() };
    const { rows } = this.#rebuilt ?? { rows: new Map() };
    if (!rows.has(id)) rows.set(id, rebuiltRow(this.#evidence(), id));
    return rows.get(id);
  }

  mend(): boolean {
    const found = this.#walkedRows().map(toSessionRow);
    const ids = this.#witnesses.idsAfter("", Number.MAX_SAFE_INTEGER);
    const rows = mendedRows(this.#evidence(), found, { ids, count: this.#countNames() });
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
      witness: (id) => (this.knows(id) ? this.#witnesses.find(id) : undefined),
      claimedHead: (witness) => this.#claimedHead(witness),
      headersAfter: (segment, seq) => this.#records.headersAfter(segment, seq),
      endsAt: (segment, seq) => this.#records.endsAt(segment, seq),
      recordsAreWhole: () => this.#records.areWhole(),
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

  put(row: SessionRow): void {
    const { values, checksum } = updateOf(row);
    this.#sql(UPDATE_SESSION).run(...values);
    this.#last = { row, checksum };
  }

  lastSeen(id: SessionId): SessionRow | undefined {
    return this.#last?.row.id === id ? this.#last.row : undefined;
  }

  /** The checksum covers the whole row: where the old one still stands, nobody has changed anything. */
  move(from: SessionRow, to: SessionRow): boolean {
    if (this.#last?.row !== from) return false;
    const { values, checksum } = updateOf(to);
    const { changes } = this.#sql(UPDATE_UNCHANGED_SESSION).run(...values, this.#last.checksum);
    if (Number(changes) !== 1) return false;
    this.#last = { row: to, checksum };
    return true;
  }

  remove({ id, epoch }: SessionRow): void {
    this.#last = undefined;
    this.#sql("DELETE FROM sessions WHERE id = ?").run(id);
    this.#freeName(id, epoch);
  }

  /** All other rows are written anew as they are: one that lies out of order would not be found to be removed. */
  forget(id: SessionId, epoch: number): void {
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
}

/** In the order of UPDATE_SESSION. */
function updateOf(row: SessionRow): { readonly values: readonly SqliteValue[]; readonly checksum: string } {
  const { segments, checksum } = sealSession(row);
  const { id, epoch, owner, leaseUntil, head, anchor, checkpoint } = row;
  const links = [head.seq, head.hash, anchor.seq, anchor.hash] as const;
  return { values: [epoch, owner, leaseUntil, ...links, checkpoint, segments, checksum, id], checksum };
}
