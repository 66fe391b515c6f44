import type { DamagedRow, SessionRow } from "../../contracts/store.ts";
import type { Link, SealedRecord } from "../../records/chain.ts";
import type { SessionId } from "../../records/ids.ts";
import type { Run } from "../spans.ts";
import type { Tables } from "../tables.ts";
import { MemoryBlobRows } from "./blob-rows.ts";

interface Segment {
  readonly records: Map<number, SealedRecord>;
  readonly operations: Map<string, { readonly first: number; readonly last: number }>;
  last: number;
}

/**
 * Plain maps of immutable values. A snapshot shares them: what joins is beyond the head that the snapshot knows of, and
 * whatever removes or replaces copies the map first.
 */
export class MemoryTables implements Tables {
  readonly blobs: MemoryBlobRows;
  #sessions = new Map<SessionId, SessionRow>();
  #segments = new Map<number, Segment>();
  readonly #deleted = new Map<SessionId, number>();
  #names = new Set<string>();
  #lastSegment = 0;
  #sharedSessions = false;

  constructor(blobs: MemoryBlobRows = new MemoryBlobRows()) {
    this.blobs = blobs;
  }

  snapshot(): MemoryTables {
    const copy = new MemoryTables(this.blobs.snapshot());
    copy.#sessions = this.#sessions;
    copy.#segments = this.#segments;
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

  isProven(id: SessionId): boolean {
    return this.#sessions.has(id);
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
    this.forgetSession(id, epoch);
  }

  forgetSession(id: SessionId, epoch: number): void {
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
    this.blobs.dropReferences(segment, [seq]);
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
    for (const { seq } of doomed) records.delete(seq);
    this.blobs.dropReferences(
      run.segment,
      doomed.map(({ seq }) => seq),
    );
    const bytes = doomed.reduce((sum, { body }) => sum + Buffer.byteLength(body ?? ""), 0);
    for (const [operation, { first, last }] of operations)
      if (!records.has(first) && !records.has(last)) operations.delete(operation);
    if (records.size === 0) this.#segments.delete(run.segment);
    return { records: doomed.length, bytes };
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
}
