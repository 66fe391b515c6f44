import { sha256 } from "../../base/hash.ts";
import { parseJson } from "../../base/json.ts";
import type { DamagedRow, SegmentSpan, SessionRow } from "../../contracts/store.ts";
import type { OwnerId, SessionId } from "../../records/ids.ts";
import type { SqliteRow, SqliteValue } from "./vendor.ts";

const COLUMNS = [
  "id",
  "created_at",
  "epoch",
  "owner",
  "lease_until",
  "head_seq",
  "head_hash",
  "anchor_seq",
  "anchor_hash",
  "checkpoint",
  "segments",
  "checksum",
] as const;
export const SESSION_COLUMNS: string = COLUMNS.join(", ");

/** The columns that are not plain fields of the row. */
export interface SessionSeal {
  readonly segments: string;
  readonly checksum: string;
}

/** SQLite has no checksums, and a flipped epoch or head must not be believed. */
export function sealSession(row: SessionRow): SessionSeal {
  const segments = segmentsText(row.segments);
  const { id, createdAt, epoch, owner, leaseUntil, head, anchor, checkpoint } = row;
  const values = `${id}\n${createdAt}\n${epoch}\n${owner ?? ""}\n${leaseUntil}\n${head.seq}\n${head.hash}\n${anchor.seq}\n${anchor.hash}\n${checkpoint}\n${segments}`;
  return { segments, checksum: checksumOf(values) };
}

/** In the order of SESSION_COLUMNS. */
export function sessionValues(row: SessionRow): readonly SqliteValue[] {
  const { segments, checksum } = sealSession(row);
  const { id, createdAt, epoch, owner, leaseUntil, head, anchor, checkpoint } = row;
  const links = [head.seq, head.hash, anchor.seq, anchor.hash] as const;
  return [id, createdAt, epoch, owner, leaseUntil, ...links, checkpoint, segments, checksum];
}

/** What is kept of a row beside it, sealed like the row itself. */
export function toWitness(row: SessionRow): string {
  return JSON.stringify(sessionValues(row));
}

/** The row a witness tells of, when it is whole and speaks of this session. */
export function fromWitness(id: SessionId, text: string): SessionRow | undefined {
  const values = parseJson(text);
  if (!values.ok || !Array.isArray(values.value) || values.value.length !== COLUMNS.length) return undefined;
  const found = values.value as readonly SqliteValue[];
  const row = toSessionRow(Object.fromEntries(COLUMNS.map((name, index) => [name, found[index] ?? null])));
  return "damaged" in row || row.id !== id ? undefined : row;
}

export function toSessionRow(row: SqliteRow): SessionRow | DamagedRow {
  const { checksum, ...rest } = row;
  const id = String(row["id"]) as SessionId;
  if (checksumOf(Object.values(rest).join("\n")) !== checksum)
    return { id, damaged: `the row of session ${id} does not match its checksum` };
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

/** A row's segments hardly ever change, and every append writes the row: their text is made once. */
const SEGMENT_TEXTS = new WeakMap<readonly SegmentSpan[], string>();

function segmentsText(segments: readonly SegmentSpan[]): string {
  const known = SEGMENT_TEXTS.get(segments);
  if (known !== undefined) return known;
  const text = JSON.stringify(segments.map(({ segment, through }) => [segment, through]));
  SEGMENT_TEXTS.set(segments, text);
  return text;
}

function checksumOf(values: string): string {
  return sha256(`holdfast-session-row\n${values}`).slice(0, 32);
}
