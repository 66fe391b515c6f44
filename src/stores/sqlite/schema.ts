/** "HFST": marks the file as ours, so that no other SQLite file is ever adopted. */
export const APPLICATION_ID = 0x48465354;
/** Layout of the tables. Bodies have a version of their own. */
export const STORE_VERSION = 1;

/** Set when the store is made, so that salvage knows it even when the file's own header is damaged. */
export const PAGE_BYTES = 4096;

/**
 * A record's key holds its segment and its sequence number in one integer: one tree, appended at its right edge, and no
 * second index to write. The sequence number read back from the key is checked against the sealed header.
 */
export const SCHEMA = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE sessions (
    id TEXT PRIMARY KEY, created_at TEXT NOT NULL, epoch INTEGER NOT NULL, owner TEXT, lease_until INTEGER NOT NULL,
    head_seq INTEGER NOT NULL, head_hash TEXT NOT NULL, anchor_seq INTEGER NOT NULL, anchor_hash TEXT NOT NULL,
    checkpoint INTEGER NOT NULL, segments TEXT NOT NULL, checksum TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE session_names (digest TEXT PRIMARY KEY, deleted_at_epoch INTEGER) STRICT, WITHOUT ROWID;
  CREATE TABLE records (
    key INTEGER PRIMARY KEY, kind TEXT NOT NULL, at TEXT NOT NULL, version INTEGER NOT NULL, salt TEXT NOT NULL,
    body_digest TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL, body TEXT, dropped TEXT, operation TEXT
  ) STRICT;
  CREATE UNIQUE INDEX operations ON records (operation, key) WHERE operation IS NOT NULL;
  CREATE TABLE blobs (name TEXT PRIMARY KEY, size INTEGER NOT NULL, content BLOB) STRICT;
  CREATE TABLE blob_references (record INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (record, name)) STRICT, WITHOUT ROWID;
  CREATE INDEX references_by_name ON blob_references (name, record);
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${STORE_VERSION};
`;

const SEQ_SPAN = 2 ** 32;
const EXACT_SEGMENTS = 2 ** 21;

export function recordKey(segment: number, seq: number): number | bigint {
  return segment < EXACT_SEGMENTS ? segment * SEQ_SPAN + seq : BigInt(segment) * BigInt(SEQ_SPAN) + BigInt(seq);
}
