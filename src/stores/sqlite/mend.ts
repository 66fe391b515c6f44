import type { DamagedRow, SessionRow } from "../../contracts/store.ts";
import { isHeaderWhole, type Link, type SealedRecord } from "../../records/chain.ts";
import type { SessionId } from "../../records/ids.ts";
import { growing } from "../spans.ts";

/** What mending a session's row asks of the tables. */
export interface Evidence {
  /** The row as it was when its writer last came or went. */
  witness(id: SessionId): SessionRow | undefined;
  /** The head that the damaged row names, where the rest of it can be read and says the same as its witness. */
  claimedHead(witness: SessionRow): Link | undefined;
  /** Headers of a segment's records after that one, in order. */
  headersAfter(segment: number, seq: number): Iterable<SealedRecord>;
  endsAt(segment: number, seq: number): boolean;
  /** Whether every page of the records' tree is in its place: else the newest records might be missing unnoticed. */
  recordsAreWhole(): boolean;
}

/**
 * A damaged or lost row, from its witness and from the records that came after it: each must hang on the one before,
 * and after the last there must be no more. Undefined where that cannot be proven; a row is never guessed.
 */
export function rebuiltRow(evidence: Evidence, id: SessionId): SessionRow | undefined {
  const witness = evidence.witness(id);
  if (witness === undefined) return undefined;
  const segment = growing(witness);
  let { head, checkpoint } = witness;
  for (const record of evidence.headersAfter(segment, head.seq)) {
    if (record.seq !== head.seq + 1 || record.prev !== head.hash || !isHeaderWhole(record)) return undefined;
    head = { seq: record.seq, hash: record.hash };
    if (record.kind === "checkpoint-kept") checkpoint = record.seq;
  }
  const claimed = evidence.claimedHead(witness);
  // One altered byte cannot make up both: records that were acknowledged are gone as well.
  if (claimed !== undefined && claimed.seq > head.seq && claimed.hash !== head.hash) return undefined;
  return evidence.endsAt(segment, head.seq) && evidence.recordsAreWhole()
    ? { ...witness, head, checkpoint }
    : undefined;
}

/**
 * All rows as they should be, by id: those that prove themselves as they are, the others rebuilt. Undefined as soon as one
 * cannot be told: half a repair would hide what is left to repair. A byte of an id that was altered puts rows out of order,
 * where SQLite finds neither them nor their neighbours, so all are written anew or none.
 */
export function mendedRows(
  evidence: Evidence,
  found: Iterable<SessionRow | DamagedRow>,
  known: { readonly ids: Iterable<SessionId>; readonly count: number },
): readonly SessionRow[] | undefined {
  const rows = new Map<SessionId, SessionRow>();
  for (const row of found) if (!("damaged" in row)) rows.set(row.id, row);
  for (const id of known.ids) {
    if (rows.has(id)) continue;
    const rebuilt = rebuiltRow(evidence, id);
    if (rebuilt === undefined) return undefined;
    rows.set(id, rebuilt);
  }
  return rows.size === known.count ? [...rows.values()] : undefined;
}
