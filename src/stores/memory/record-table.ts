import type { Link, SealedRecord } from "../../records/chain.ts";
import type { Run } from "../spans.ts";
import type { RecordTable } from "../tables.ts";
import type { MemoryBlobRows } from "./blob-rows.ts";

interface Segment {
  readonly records: Map<number, SealedRecord>;
  readonly operations: Map<string, { readonly first: number; readonly last: number }>;
  last: number;
}

/**
 * Maps of immutable records. A snapshot shares them: what joins is beyond the head that the snapshot knows of, and whatever
 * removes or replaces copies the map first.
 */
export class MemoryRecordTable implements RecordTable {
  readonly #blobs: MemoryBlobRows;
  #segments = new Map<number, Segment>();
  #lastSegment = 0;
  /** Segments that no snapshot shares: copied once, however many records are then taken from them. */
  readonly #ownSegments = new Map<number, Segment>();

  constructor(blobs: MemoryBlobRows) {
    this.#blobs = blobs;
  }

  /** `blobs`: those of the snapshot. */
  snapshot(blobs: MemoryBlobRows): MemoryRecordTable {
    const copy = new MemoryRecordTable(blobs);
    copy.#segments = this.#segments;
    this.#ownSegments.clear();
    return copy;
  }

  newSegment(): number {
    this.#lastSegment += 1;
    return this.#lastSegment;
  }

  insert(segment: number, record: SealedRecord, operation: string | undefined): void {
    const { records, operations } = this.#growing(segment, record.seq);
    if (records.has(record.seq)) throw new TypeError(`record ${record.seq} exists`);
    records.set(record.seq, record);
    if (operation !== undefined)
      operations.set(operation, { first: operations.get(operation)?.first ?? record.seq, last: record.seq });
  }

  at(segment: number, seq: number): SealedRecord | undefined {
    return this.#segments.get(segment)?.records.get(seq);
  }

  linkAt(segment: number, seq: number): Link | undefined {
    const record = this.at(segment, seq);
    return record === undefined ? undefined : { seq, hash: record.hash };
  }

  endsAt(segment: number, seq: number): boolean {
    return this.at(segment, seq + 1) === undefined;
  }

  operation(segment: number, operation: string): { readonly first: number; readonly last: number } | undefined {
    return this.#segments.get(segment)?.operations.get(operation);
  }

  dropBody(segment: number, seq: number, reason: string): number {
    const record = this.at(segment, seq);
    if (record === undefined || record.body === null) return 0;
    this.#own(segment).records.set(seq, { ...record, body: null, dropped: reason });
    this.#blobs.dropReferences(segment, [seq]);
    return Buffer.byteLength(record.body);
  }

  *segments(): Iterable<{ readonly segment: number; readonly last: number }> {
    for (const [segment, { last }] of this.#segments) yield { segment, last };
  }

  remove(run: Run, limit: number): { readonly records: number; readonly bytes: number } {
    const { records, operations } = this.#own(run.segment);
    const doomed = [...records.values()]
      .filter(({ seq }) => run.from <= seq && seq <= run.to)
      .sort((a, b) => a.seq - b.seq)
      .slice(0, limit);
    for (const { seq } of doomed) records.delete(seq);
    this.#blobs.dropReferences(
      run.segment,
      doomed.map(({ seq }) => seq),
    );
    const bytes = doomed.reduce((sum, { body }) => sum + Buffer.byteLength(body ?? ""), 0);
    for (const [operation, { first, last }] of operations)
      if (!records.has(first) && !records.has(last)) operations.delete(operation);
    if (records.size === 0) {
      this.#segments.delete(run.segment);
      this.#ownSegments.delete(run.segment);
    }
    return { records: doomed.length, bytes };
  }

  #growing(segment: number, last: number): Segment {
    const known = this.#segments.get(segment) ?? { records: new Map(), operations: new Map(), last };
    known.last = last;
    this.#segments.set(segment, known);
    return known;
  }

  #own(segment: number): Segment {
    const known = this.#ownSegments.get(segment);
    if (known !== undefined) return known;
    const shared = this.#segments.get(segment);
    const own: Segment = {
      records: new Map(shared?.records),
      operations: new Map(shared?.operations),
      last: shared?.last ?? 0,
    };
    this.#segments = new Map(this.#segments).set(segment, own);
    this.#ownSegments.set(segment, own);
    return own;
  }
}
