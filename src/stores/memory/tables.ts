import type { Bytes } from "../../contracts/blob-store.ts";
import type { DamagedRow, SessionRow } from "../../contracts/store.ts";
import type { Link, SealedRecord } from "../../records/chain.ts";
import type { BlobName, SessionId } from "../../records/ids.ts";
import type { BlobRef } from "../../records/kinds.ts";
import type { Run } from "../spans.ts";
import type { PlacedBlob, Tables } from "../tables.ts";

interface Segment {
  readonly records: Map<number, SealedRecord>;
  readonly operations: Map<string, { readonly first: number; readonly last: number }>;
  last: number;
}

interface KeptBlob {
  readonly size: number;
  readonly bytes: Bytes | undefined;
  /** The change that brought it: a snapshot made before does not see it. */
  readonly since: number;
}

/**
 * Plain maps of immutable values. A snapshot shares them: what joins is beyond the head or the change that the snapshot
 * knows of, and whatever removes or replaces copies the map first.
 */
export class MemoryTables implements Tables {
  #sessions = new Map<SessionId, SessionRow>();
  #segments = new Map<number, Segment>();
  #blobs = new Map<BlobName, KeptBlob>();
  /** By name: the records that name it, each with the change that brought it. */
  #references = new Map<BlobName, Map<string, number>>();
  #namesAt = new Map<string, Set<BlobName>>();
  readonly #deleted = new Map<SessionId, number>();
  #names = new Set<string>();
  #lastSegment = 0;
  #change = 0;
  #sharedSessions = false;

  snapshot(): MemoryTables {
    const copy = new MemoryTables();
    copy.#sessions = this.#sessions;
    copy.#segments = this.#segments;
    copy.#blobs = this.#blobs;
    copy.#references = this.#references;
    copy.#change = this.#change;
    this.#change += 1;
    this.#sharedSessions = true;
    return copy;
  }

  session(id: SessionId): SessionRow | undefined {
    return this.#sessions.get(id);
  }

  knowsName(id: SessionId): boolean {
    return this.#names.has(id);
  }

  /** Memory is not damaged, or nobody could tell. */
  keepWitness(): void {}

  mendSessions(): boolean {
    return false;
  }

  allSessions(): Iterable<SessionRow | DamagedRow> {
    return this.#sessions.values();
  }

  sessionsAfter(after: string, limit: number): readonly SessionRow[] {
    return [...this.#sessions.values()]
      .filter((row) => row.id > after)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit);
  }

  addSession(row: SessionRow): void {
    this.putSession(row);
    this.#names.add(row.id);
  }

  putSession(row: SessionRow): void {
    this.#ownSessions();
    this.#sessions.set(row.id, row);
  }

  lastSeen(id: SessionId): SessionRow | undefined {
    return this.#sessions.get(id);
  }

  moveSession(from: SessionRow, to: SessionRow): boolean {
    if (this.#sessions.get(from.id) !== from) return false;
    this.putSession(to);
    return true;
  }

  deleteSession({ id, epoch }: SessionRow): void {
    this.#ownSessions();
    this.#sessions.delete(id);
    this.#names.delete(id);
    this.#deleted.set(id, epoch);
  }

  epochBefore(id: SessionId): number {
    return this.#deleted.get(id) ?? 0;
  }

  newSegment(): number {
    this.#lastSegment += 1;
    return this.#lastSegment;
  }

  insertRecord(segment: number, record: SealedRecord, operation: string | undefined): void {
    const { records, operations } = this.#growing(segment, record.seq);
    if (records.has(record.seq)) throw new TypeError(`record ${record.seq} exists`);
    records.set(record.seq, record);
    if (operation !== undefined)
      operations.set(operation, { first: operations.get(operation)?.first ?? record.seq, last: record.seq });
  }

  recordAt(segment: number, seq: number): SealedRecord | undefined {
    return this.#segments.get(segment)?.records.get(seq);
  }

  linkAt(segment: number, seq: number): Link | undefined {
    const record = this.recordAt(segment, seq);
    return record === undefined ? undefined : { seq, hash: record.hash };
  }

  endsAt(segment: number, seq: number): boolean {
    return this.recordAt(segment, seq + 1) === undefined;
  }

  operation(segment: number, operation: string): { readonly first: number; readonly last: number } | undefined {
    return this.#segments.get(segment)?.operations.get(operation);
  }

  dropBody(segment: number, seq: number, reason: string): number {
    const record = this.recordAt(segment, seq);
    if (record === undefined || record.body === null) return 0;
    this.#own(segment).records.set(seq, { ...record, body: null, dropped: reason });
    this.#ownReferences();
    this.#forgetReferences(`${segment}/${seq}`);
    return Buffer.byteLength(record.body);
  }

  *segments(): Iterable<{ readonly segment: number; readonly last: number }> {
    for (const [segment, { last }] of this.#segments) yield { segment, last };
  }

  deleteRecords(run: Run, limit: number): { readonly records: number; readonly bytes: number } {
    const { records, operations } = this.#own(run.segment);
    const doomed = [...records.values()]
      .filter(({ seq }) => run.from <= seq && seq <= run.to)
      .sort((a, b) => a.seq - b.seq)
      .slice(0, limit);
    let bytes = 0;
    this.#ownReferences();
    for (const { seq, body } of doomed) {
      records.delete(seq);
      this.#forgetReferences(`${run.segment}/${seq}`);
      bytes += Buffer.byteLength(body ?? "");
    }
    for (const [operation, { first, last }] of operations)
      if (!records.has(first) && !records.has(last)) operations.delete(operation);
    if (records.size === 0) this.#segments.delete(run.segment);
    return { records: doomed.length, bytes };
  }

  putBlob(ref: BlobRef, bytes: Bytes): void {
    const known = this.#blobs.get(ref.name);
    if (known?.bytes !== undefined) return;
    if (known !== undefined) this.#blobs = new Map(this.#blobs); // a snapshot may know it as kept outside
    this.#blobs.set(ref.name, { size: ref.size, bytes: Uint8Array.from(bytes), since: this.#change });
  }

  noteBlob(ref: BlobRef): void {
    if (!this.#blobs.has(ref.name))
      this.#blobs.set(ref.name, { size: ref.size, bytes: undefined, since: this.#change });
  }

  smallBlob(name: BlobName): Bytes | undefined {
    const blob = this.#blobs.get(name);
    return blob === undefined || blob.since > this.#change ? undefined : blob.bytes;
  }

  blobPlace(name: BlobName): "store" | "outside" | undefined {
    const blob = this.#blobs.get(name);
    if (blob === undefined) return undefined;
    return blob.bytes === undefined ? "outside" : "store";
  }

  blobSize(name: BlobName): number | undefined {
    return this.#blobs.get(name)?.size;
  }

  isNamed(name: BlobName): boolean {
    return this.#references.has(name);
  }

  addReference(segment: number, seq: number, name: BlobName): void {
    const place = `${segment}/${seq}`;
    const places = this.#references.get(name) ?? new Map<string, number>();
    if (!places.has(place)) places.set(place, this.#change);
    this.#references.set(name, places);
    this.#namesAt.set(place, (this.#namesAt.get(place) ?? new Set()).add(name));
  }

  referencesAfter(after: string, limit: number): readonly BlobRef[] {
    return [...this.#references]
      .filter(([name, places]) => name > after && [...places.values()].some((since) => since <= this.#change))
      .map(([name]) => name)
      .sort()
      .slice(0, limit)
      .map((name) => ({ name, size: this.#blobs.get(name)?.size ?? -1 }));
  }

  unreferencedBlobs(limit: number): readonly PlacedBlob[] {
    return [...this.#blobs]
      .filter(([name]) => !this.#references.has(name))
      .slice(0, limit)
      .map(([name, { size, bytes }]) => ({ name, size, place: bytes === undefined ? "outside" : "store" }));
  }

  nextUnreferenced(): readonly PlacedBlob[] {
    return this.unreferencedBlobs(Number.POSITIVE_INFINITY);
  }

  deleteBlob(name: BlobName): void {
    this.#blobs = new Map(this.#blobs);
    this.#blobs.delete(name);
  }

  #growing(segment: number, last: number): Segment {
    const known = this.#segments.get(segment) ?? { records: new Map(), operations: new Map(), last };
    known.last = last;
    this.#segments.set(segment, known);
    return known;
  }

  #ownSessions(): void {
    if (this.#sharedSessions) this.#sessions = new Map(this.#sessions);
    this.#sharedSessions = false;
  }

  #own(segment: number): Segment {
    const shared = this.#segments.get(segment);
    const own: Segment = {
      records: new Map(shared?.records),
      operations: new Map(shared?.operations),
      last: shared?.last ?? 0,
    };
    this.#segments = new Map(this.#segments).set(segment, own);
    return own;
  }

  #ownReferences(): void {
    this.#references = new Map([...this.#references].map(([name, places]) => [name, new Map(places)]));
  }

  #forgetReferences(place: string): void {
    for (const name of this.#namesAt.get(place) ?? []) {
      const places = this.#references.get(name);
      places?.delete(place);
      if (places?.size === 0) this.#references.delete(name);
    }
    this.#namesAt.delete(place);
  }
}
