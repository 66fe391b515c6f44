import { sha256, type Sha256 } from "../base/hash.ts";
import type { Instant } from "../base/clock.ts";
import type { SessionId } from "./ids.ts";

/** A place in the chain: a record, the beginning of a session, or the anchor that retention has left. */
export interface Link {
  readonly seq: number;
  readonly hash: Sha256;
}

/**
 * A record as it is stored. The chain covers only the headers, so a body can be dropped and the gap can be proven.
 * Every record has its own hash and that of the one before it: damage to one record leaves its neighbours provable.
 */
export interface SealedRecord {
  readonly seq: number;
  readonly kind: string;
  readonly at: Instant;
  /** Schema version of the body. */
  readonly version: number;
  /** Keeps equal bodies from showing equal digests after they were dropped. */
  readonly salt: string;
  readonly bodyDigest: Sha256;
  readonly prev: Sha256;
  readonly hash: Sha256;
  /** JSON text as written, never rewritten; null once dropped. */
  readonly body: string | null;
  /** Why the body is gone. */
  readonly dropped?: string;
}

/** The highest sequence number of a session: 2 ** 32 - 1. */
export const MAX_SEQ: number = 2 ** 32 - 1;

/** The place before the first record of a session. */
export function genesisOf(session: SessionId): Link {
  return { seq: 0, hash: sha256(`holdfast-session\n${session}`) };
}

export interface Unsealed {
  readonly kind: string;
  readonly at: Instant;
  readonly version: number;
  readonly salt: string;
  readonly body: string;
}

/** Seals a record: gives it its number, digest and hash, after the given place in the chain. */
export function seal(link: Link, record: Unsealed): SealedRecord {
  const { kind, at, version, salt, body } = record;
  const seq = link.seq + 1;
  const bodyDigest = sha256(`${salt}\n${body}`);
  const prev = link.hash;
  const hash = headerHash({ seq, kind, at, version, salt, bodyDigest, prev });
  return { seq, kind, at, version, salt, bodyDigest, prev, hash, body };
}

/** What is wrong with a stored record. */
export type RecordFlaw = "header-altered" | "body-altered" | "body-missing";

/** What is wrong with a record; undefined if it proves itself. One bad record never condemns its neighbours. */
export function flawOf(record: SealedRecord): RecordFlaw | undefined {
  if (!isHeaderWhole(record)) return "header-altered";
  if (record.body === null) return record.dropped === undefined ? "body-missing" : undefined;
  return sha256(`${record.salt}\n${record.body}`) === record.bodyDigest ? undefined : "body-altered";
}

/** Whether a record stands where it says, whatever has become of its body. */
export function isHeaderWhole(record: SealedRecord): boolean {
  return headerHash(record) === record.hash;
}

function headerHash(header: Omit<SealedRecord, "hash" | "body" | "dropped">): Sha256 {
  const { seq, kind, at, version, salt, bodyDigest, prev } = header;
  return sha256(`holdfast-record\n${seq}\n${kind}\n${at}\n${version}\n${salt}\n${bodyDigest}\n${prev}`);
}
