import type { Bytes } from "../../contracts/blob-store.ts";
import type { BlobName } from "../../records/ids.ts";
import type { BlobRef } from "../../records/kinds.ts";
import type { BlobRows, PlacedBlob } from "../tables.ts";
import { recordKey } from "./schema.ts";
import type { Sql, SqliteRow } from "./vendor.ts";

export class SqliteBlobRows implements BlobRows {
  readonly #sql: Sql;
  /** Up to which content was looked at by the way. */
  #lookedAt = 0;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  put(ref: BlobRef, bytes: Bytes): void {
    const kept = this.small(ref.name);
    if (kept !== undefined && Buffer.compare(kept, bytes) === 0) return;
    this.#sql("INSERT OR REPLACE INTO blobs (name, size, content) VALUES (?, ?, ?)").run(ref.name, ref.size, bytes);
  }

  note(ref: BlobRef): void {
    this.#sql("INSERT OR IGNORE INTO blobs (name, size, content) VALUES (?, ?, NULL)").run(ref.name, ref.size);
  }

  small(name: BlobName): Bytes | undefined {
    return (this.#sql("SELECT content FROM blobs WHERE name = ?").get(name)?.["content"] ?? undefined) as
      | Bytes
      | undefined;
  }

  place(name: BlobName): "store" | "outside" | undefined {
    const row = this.#sql("SELECT content IS NULL AS outside FROM blobs WHERE name = ?").get(name);
    if (row === undefined) return undefined;
    return row["outside"] === 1 ? "outside" : "store";
  }

  size(name: BlobName): number | undefined {
    return this.#sql("SELECT size FROM blobs WHERE name = ?").get(name)?.["size"] as number | undefined;
  }

  isNamed(name: BlobName): boolean {
    return this.#sql("SELECT 1 AS named FROM blob_references WHERE name = ? LIMIT 1").get(name) !== undefined;
  }

  addReference(segment: number, seq: number, name: BlobName): void {
    this.#sql("INSERT OR IGNORE INTO blob_references (record, name) VALUES (?, ?)").run(recordKey(segment, seq), name);
  }

  references(after: string, limit: number): readonly BlobRef[] {
    return this.#sql(
      "SELECT DISTINCT r.name AS name, b.size AS size FROM blob_references r LEFT JOIN blobs b ON b.name = r.name WHERE r.name > ? ORDER BY r.name LIMIT ?",
    )
      .all(after, limit)
      .map((row) => ({ name: row["name"] as BlobName, size: Number(row["size"] ?? -1) }))
      .filter(({ name }) => name > after);
  }

  unreferenced(limit: number, isMeant: (blob: PlacedBlob) => boolean): readonly PlacedBlob[] {
    const meant: PlacedBlob[] = [];
    for (let after = 0; meant.length < limit; ) {
      const found = this.#sql(
        "SELECT rowid AS row, name, size, content IS NULL AS outside FROM blobs b WHERE rowid > ? AND NOT EXISTS (SELECT 1 FROM blob_references r WHERE r.name = b.name) ORDER BY rowid LIMIT ?",
      ).all(after, limit);
      if (found.length === 0) break;
      meant.push(...found.map(toPlacedBlob).filter(isMeant));
      after = Number(found.at(-1)?.["row"]);
    }
    return meant.slice(0, limit);
  }

  nextUnreferenced(rows: number): readonly PlacedBlob[] {
    const found = this.#sql(
      "SELECT rowid AS row, name, size, content IS NULL AS outside, EXISTS (SELECT 1 FROM blob_references r WHERE r.name = b.name) AS named FROM blobs b WHERE rowid > ? ORDER BY rowid LIMIT ?",
    ).all(this.#lookedAt, rows);
    this.#lookedAt = found.length < rows ? 0 : Number(found.at(-1)?.["row"]);
    return found.filter((row) => row["named"] === 0).map(toPlacedBlob);
  }

  remove(name: BlobName): void {
    this.#sql("DELETE FROM blobs WHERE name = ?").run(name);
  }

  /** What the records from one key to the other named. */
  dropReferences(from: number | bigint, to: number | bigint): void {
    this.#sql("DELETE FROM blob_references WHERE record BETWEEN ? AND ?").run(from, to);
  }
}

function toPlacedBlob(row: SqliteRow): PlacedBlob {
  const place = row["outside"] === 1 ? "outside" : "store";
  return { name: row["name"] as BlobName, size: row["size"] as number, place };
}
