import { HoldfastError } from "../base/errors.ts";
import { flawOf, type Link, type SealedRecord } from "../records/chain.ts";
import { type DecodeFault, type DroppedRecord, decodeRecord } from "../records/codec.ts";
import type { JournalRecord } from "../records/kinds.ts";

/** A record, or a run of them, that is lost or altered. It is reported, never served; its neighbours are. */
export interface DamagedEntry {
  readonly kind: "damaged";
  readonly seq: number;
  /** Equal to `seq` unless a whole run is missing. */
  readonly through: number;
  readonly detail: string;
  /** The kind of the record, if its header is whole and only the body is damaged. */
  readonly was?: string;
}

/** What reading a journal yields: a record, one whose body was dropped, or damage. */
export type JournalEntry = JournalRecord | DroppedRecord | DamagedEntry;

/**
 * Walks stored records in order and lets through only what proves itself and hangs on its neighbour. Holds the state
 * between pages, so that a gap or a wrong link at a page's edge is seen too.
 */
export class ForwardProof {
  #next: number;
  /** The hash the next record must hang on; undefined after damage, where nobody knows it. */
  #hash: string | undefined;
  readonly #head: Link;

  constructor(after: { readonly seq: number; readonly hash: string | undefined }, head: Link) {
    this.#next = after.seq + 1;
    this.#hash = after.hash;
    this.#head = head;
  }

  *prove(records: readonly SealedRecord[]): Iterable<JournalEntry> {
    for (const record of records) {
      if (record.seq < this.#next) {
        yield { kind: "damaged", seq: record.seq, through: record.seq, detail: "out of order" };
        continue;
      }
      if (record.seq > this.#next) yield this.#missingUpTo(record.seq - 1);
      const entry = decode(record);
      const fault = entry.kind === "damaged" ? undefined : this.#faultOf(record);
      yield fault === undefined ? entry : damaged(record.seq, fault);
      this.#next = record.seq + 1;
      this.#hash = entry.kind === "damaged" || fault !== undefined ? undefined : record.hash;
    }
  }

  /** Whatever should have come by now and did not. */
  *end(through: number): Iterable<DamagedEntry> {
    if (this.#next <= through) yield this.#missingUpTo(through);
  }

  #faultOf(record: SealedRecord): string | undefined {
    if (this.#hash !== undefined && record.prev !== this.#hash) return "does not hang on the record before it";
    // Nothing hangs on the newest record yet: only the session's row can tell that it is the acknowledged one.
    if (record.seq === this.#head.seq && record.hash !== this.#head.hash) return "is not the acknowledged head";
    return undefined;
  }

  #missingUpTo(through: number): DamagedEntry {
    const seq = this.#next;
    this.#next = through + 1;
    this.#hash = undefined;
    return { kind: "damaged", seq, through, detail: "missing" };
  }
}

/** The same, from the newest record backwards. */
export class BackwardProof {
  #next: number;
  #hash: string | undefined;

  constructor(from: number, hash: string | undefined) {
    this.#next = from;
    this.#hash = hash;
  }

  *prove(records: readonly SealedRecord[]): Iterable<JournalEntry> {
    for (const record of records) {
      if (record.seq > this.#next) {
        yield damaged(record.seq, "out of order");
        continue;
      }
      if (record.seq < this.#next) yield this.#missingDownTo(record.seq + 1);
      const entry = decode(record);
      const linked = entry.kind === "damaged" || this.#hash === undefined || record.hash === this.#hash;
      yield linked ? entry : damaged(record.seq, "is not the record that its successor hangs on");
      this.#next = record.seq - 1;
      this.#hash = entry.kind === "damaged" || !linked ? undefined : record.prev;
    }
  }

  *end(down: number): Iterable<DamagedEntry> {
    if (this.#next >= down) yield this.#missingDownTo(down);
  }

  #missingDownTo(seq: number): DamagedEntry {
    const through = this.#next;
    this.#next = seq - 1;
    this.#hash = undefined;
    return { kind: "damaged", seq, through, detail: "missing" };
  }
}

function decode(record: SealedRecord): JournalEntry {
  const decoded = decodeRecord(record);
  if (decoded.ok) return decoded.value;
  // A newer record is whole; it is this code that is too old. Skipping it would tell half the story.
  if (decoded.error.kind === "too-new")
    throw new HoldfastError("RECORD_TOO_NEW", { seq: record.seq, version: decoded.error.version });
  const entry = damaged(record.seq, faultText(decoded.error));
  return flawOf(record) === "header-altered" ? entry : { ...entry, was: record.kind };
}

function damaged(seq: number, detail: string): DamagedEntry {
  return { kind: "damaged", seq, through: seq, detail };
}

function faultText(fault: DecodeFault): string {
  return "detail" in fault ? `${fault.kind}: ${fault.detail}` : fault.kind;
}
