import { sha256 } from "../../base/hash.ts";
import { parseJson } from "../../base/json.ts";
import type { DamagedRow, SegmentSpan, SessionRow } from "../../contracts/store.ts";
import type { OwnerId, SessionId } from "../../records/ids.ts";
import type { SqliteRow, SqliteValue } from "./vendor.ts";

export const SESSION_COLUMNS =
  "id, created_at, epoch, owner, lease_until, head_seq, head_hash, anchor_seq, anchor_hash, checkpoint, segments, checksum";

/** In the order of SESSION_COLUMNS, sealed: SQLite has no checksums, and a flipped epoch or head must not be believed. */
export function toSessionValues(row: SessionRow): readonly SqliteValue[] {
  const segments = JSON.stringify(row.segments.map(({ segment, through }) => [segment, through]));
  const values = [
    row.id,
    row.createdAt,
    row.epoch,
    row.owner,
    row.leaseUntil,
    row.head.seq,
    row.head.hash,
    row.anchor.seq,
    row.anchor.hash,
    row.checkpoint,
    segments,
  ];
  return [...values, checksumOf(values)];
}

export function toSessionRow(row: SqliteRow): SessionRow | DamagedRow {
  const { checksum, ...rest } = row;
  const values = Object.values(rest);
  const id = String(row["id"]) as SessionId;
  if (checksumOf(values) !== checksum) return { id, damaged: `the row of session ${id} does not match its checksum` };
  const segments = parseJson(row["segments"] as string);
  if (!segments.ok) return { id, damaged: `the row of session ${id} has unreadable segments` };
  return {
    id,
    createdAt: row["created_at"] as string,
    epoch: row["epoch"] as number,
    owner: row["owner"] as OwnerId | null,
    leaseUntil: row["lease_until"] as number,
    head: { seq: row["head_seq"] as number, hash: row["head_hash"] as string },
    anchor: { seq: row["anchor_seq"] as number, hash: row["anchor_hash"] as string },
    checkpoint: row["checkpoint"] as number,
    segments: (segments.value as readonly [number, number | null][]).map(
      ([segment, through]): SegmentSpan => ({ segment, through }),
    ),
  };
}

function checksumOf(values: readonly SqliteValue[]): string {
  return sha256(`holdfast-session-row\n${values.join("\n")}`).slice(0, 32);
}
