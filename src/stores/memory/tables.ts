import type { Bytes } from "../../contracts/blob-store.ts";
import type { DamagedRow, SessionRow } from "../../contracts/store.ts";
import type { Link, SealedRecord } from "../../records/chain.ts";
import type { BlobName, SessionId } from "../../records/ids.ts";
import type { BlobRef } from "../../records/kinds.ts";
import type { Run } from "../spans.ts";
import type { Tables } from "../tables.ts";

interface StoredRecord {
  readonly record: SealedRecord;
  readonly operation: string | undefined;
}

/**
 * Plain maps of immutable values. A snapshot shares them: records only ever join, beyond the head that the snapshot's
 * session rows know of, and whatever removes or replaces copies the map first.
 */
export class MemoryTables implements Tables {
  sessions = new Map<SessionId, SessionRow>();
  records = new Map<number, Map<number, StoredRecord>>();
  blobs = new Map<BlobName, { readonly size: number; readonly bytes: Bytes | undefined }>();
  references = new Map<BlobName, ReadonlySet<string>>();
  #names = new Set<string>();
  #segment = 0;
  #sharedSessions = false;

  snapshot(): MemoryTables {
    const copy = new MemoryTables();
    copy.sessions = this.sessions;
    copy.records = this.records;
    copy.blobs = this.blobs;
    copy.references = this.references;
    this.#sharedSessions = true;
    return copy;
  }

  session(id: SessionId): SessionRow | undefined {
    return this.sessions.get(id);
  }

  knowsName(id: SessionId): boolean {
    return this.#names.has(id);
  }

  allSessions(): Iterable<SessionRow | DamagedRow> {
    return this.sessions.values();
  }

  addSession(row: SessionRow): void {
    this.putSession(row);
    this.#names.add(row.id);
  }

  putSession(row: SessionRow): void {
    this.#ownSessions();
    this.sessions.set(row.id, row);
  }

  deleteSession(id: SessionId): void {
    this.#ownSessions();
    this.sessions.delete(id);
    this.#names.delete(id);
  }

  newSegment(): number {
    this.#segment += 1;
    return this.#segment;
  }

  insertRecord(segment: number, record: SealedRecord, operation: string | undefined): void {
    const records = this.records.get(segment) ?? new Map<number, StoredRecord>();
    if (records.has(record.seq)) throw new TypeError(`record ${record.seq} exists`);
    records.set(record.seq, { record, operation });
    this.records.set(segment, records);
  }

  linkAt(segment: number, seq: number): Link | undefined {
    const stored = this.records.get(segment)?.get(seq);
    return stored === undefined ? undefined : { seq, hash: stored.record.hash };
  }

  operation(segment: number, operation: string): { readonly first: number; readonly last: number } | undefined {
    const seqs = [...(this.records.get(segment)?.values() ?? [])]
      .filter((stored) => stored.operation === operation)
      .map((stored) => stored.record.seq);
    return seqs.length === 0 ? undefined : { first: Math.min(...seqs), last: Math.max(...seqs) };
  }

  dropBody(segment: number, seq: number, reason: string): number {
    const stored = this.records.get(segment)?.get(seq);
    if (stored === undefined || stored.record.body === null) return 0;
    this.#ownRecords(segment).set(seq, { ...stored, record: { ...stored.record, body: null, dropped: reason } });
    return Buffer.byteLength(stored.record.body);
  }

  *segments(): Iterable<{ readonly segment: number; readonly last: number }> {
    for (const [segment, records] of this.records) yield { segment, last: Math.max(...records.keys()) };
  }

  deleteRecords(run: Run, limit: number): { readonly records: number; readonly bytes: number } {
    const records = this.#ownRecords(run.segment);
    const doomed = [...records]
      .filter(([seq]) => run.from <= seq && seq <= run.to)
      .sort(([a], [b]) => a - b)
      .slice(0, limit);
    let bytes = 0;
    for (const [seq, stored] of doomed) {
      records.delete(seq);
      this.#forgetReferences(`${run.segment}/${seq}`);
      bytes += Buffer.byteLength(stored.record.body ?? "");
    }
    if (records.size === 0) this.records.delete(run.segment);
    return { records: doomed.length, bytes };
  }

  putBlob(ref: BlobRef, bytes: Bytes): void {
    this.blobs.set(ref.name, { size: ref.size, bytes: Uint8Array.from(bytes) });
  }

  noteBlob(ref: BlobRef): void {
    if (!this.blobs.has(ref.name)) this.blobs.set(ref.name, { size: ref.size, bytes: undefined });
  }

  blobPlace(name: BlobName): "store" | "outside" | undefined {
    const blob = this.blobs.get(name);
    if (blob === undefined) return undefined;
    return blob.bytes === undefined ? "outside" : "store";
  }

  addReference(segment: number, seq: number, name: BlobName): void {
    this.references.set(name, new Set([...(this.references.get(name) ?? []), `${segment}/${seq}`]));
  }

  isReferenced(name: BlobName): boolean {
    return (this.references.get(name)?.size ?? 0) > 0;
  }

  unreferencedBlobs(limit: number) {
    return [...this.blobs]
      .filter(([name]) => !this.isReferenced(name))
      .slice(0, limit)
      .map(([name, blob]) => ({
        name,
        size: blob.size,
        place: blob.bytes === undefined ? ("outside" as const) : ("store" as const),
      }));
  }

  deleteBlob(name: BlobName): void {
    this.blobs = new Map(this.blobs);
    this.blobs.delete(name);
  }

  #ownSessions(): void {
    if (this.#sharedSessions) this.sessions = new Map(this.sessions);
    this.#sharedSessions = false;
  }

  #ownRecords(segment: number): Map<number, StoredRecord> {
    const own = new Map(this.records.get(segment));
    this.records = new Map(this.records).set(segment, own);
    return own;
  }

  #forgetReferences(place: string): void {
    const kept = new Map<BlobName, ReadonlySet<string>>();
    for (const [name, places] of this.references) {
      const rest = places.has(place) ? new Set([...places].filter((other) => other !== place)) : places;
      if (rest.size > 0) kept.set(name, rest);
    }
    this.references = kept;
  }
}
