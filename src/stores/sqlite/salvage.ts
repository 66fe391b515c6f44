import { closeSync, fstatSync, openSync } from "node:fs";
import { HoldfastError } from "../../base/errors.ts";
import { flawOf, type SealedRecord } from "../../records/chain.ts";
import { fileSize, headerOf, refuseBadPath } from "./place.ts";
import { APPLICATION_ID, PAGE_BYTES } from "./schema.ts";
import { readAt, readWal } from "./wal.ts";

/** A record found in the raw file and proven by its own checksums, whatever the state of the pages around it. */
export interface SalvagedRecord {
  readonly segment: number;
  readonly record: SealedRecord;
}

/**
 * Finds every record that a damaged store still holds. It does not use SQLite's trees: it searches the pages of the
 * database, and of the committed part of its log, for rows that look like records, and a row counts only if its
 * checksums hold. Even a database file cut to nothing may have left a log that holds all of it. Use it on closed stores
 * only, because it opens the file itself.
 */
export function* salvageSqlite(path: string): Iterable<SalvagedRecord> {
  refuseBadPath(path);
  const size = fileSize(path);
  const source = openPages(path);
  const seen = new Set<string>();
  try {
    for (const page of source.all()) {
      for (const found of recordsIn(page, source)) {
        const key = `${found.segment}/${found.record.hash}/${found.record.body === null ? "dropped" : "whole"}`;
        if (seen.has(key)) continue;
        seen.add(key);
        yield found;
      }
    }
  } finally {
    source.close();
  }
  // Nothing found in a store's file means that it holds nothing; in anybody else's, that nobody looked at a store.
  if (seen.size > 0) return;
  if (size === 0) throw new HoldfastError("STORE_EMPTY_FILE", { path });
  if (headerOf(path).application !== APPLICATION_ID) throw new HoldfastError("STORE_FOREIGN_FILE", { path });
}

interface Pages {
  all(): Iterable<Buffer>;
  /** Every version of a page, newest first: a damaged one must not hide an older good one. */
  versions(page: number): Iterable<Buffer>;
  close(): void;
}

function openPages(path: string): Pages {
  const handle = openSync(path, "r");
  const { frames } = readWal(path);
  const { size } = fstatSync(handle);
  const count = Math.ceil(size / PAGE_BYTES);
  // The last page of a file that was cut is shorter; what is left of it may still hold records.
  const inFile = (page: number) =>
    readAt(handle, (page - 1) * PAGE_BYTES, Math.min(PAGE_BYTES, size - (page - 1) * PAGE_BYTES));
  return {
    *all() {
      for (let index = frames.length - 1; index >= 0; index -= 1) yield frames[index]?.bytes as Buffer;
      for (let page = 1; page <= count; page += 1) {
        const bytes = inFile(page);
        if (bytes !== undefined) yield bytes;
      }
    },
    *versions(page) {
      for (const frame of frames.toReversed()) if (frame.page === page) yield frame.bytes;
      const bytes = page >= 1 && page <= count ? inFile(page) : undefined;
      if (bytes !== undefined) yield bytes;
    },
    close: () => closeSync(handle),
  };
}

/**
 * Three texts of 64 characters in a row: the digests in the header of a record row. Searching for them needs neither the
 * page's header nor its cell pointers, so damage there costs no record.
 */
const THREE_DIGESTS = Buffer.from([0x81, 0x0d, 0x81, 0x0d, 0x81, 0x0d]);
/** Before the digests: header size, key (null), kind, at, version, salt; one byte each. */
const BYTES_BEFORE = 6;
/** SQLite's limits for a table leaf: what fits on the page, and the least that stays there when a row overflows. */
const MOST_LOCAL = PAGE_BYTES - 35;
const LEAST_LOCAL = Math.floor(((PAGE_BYTES - 12) * 32) / 255) - 23;
const OVERFLOW_BYTES = PAGE_BYTES - 4;
const MAX_VARINT = 9;

function* recordsIn(page: Buffer, pages: Pages): Iterable<SalvagedRecord> {
  for (let at = page.indexOf(THREE_DIGESTS); at !== -1; at = page.indexOf(THREE_DIGESTS, at + 1)) {
    const header = at - BYTES_BEFORE;
    if (header < 2) continue;
    for (const cell of cellsEndingAt(page, header)) {
      const found = provenIn(page, header, cell, pages);
      if (found === undefined) continue;
      yield found;
      break;
    }
  }
}

interface Cell {
  readonly payload: number;
  readonly key: bigint;
}

/** A row is preceded by its size and its key, both of unknown length: whatever reads exactly up to the header may be them. */
function* cellsEndingAt(page: Buffer, header: number): Iterable<Cell> {
  for (let start = header - 2; start >= Math.max(0, header - 2 * MAX_VARINT); start -= 1) {
    const size = readVarint(page, start);
    const key = size === undefined ? undefined : readVarint(page, size.next);
    if (size !== undefined && key !== undefined && key.next === header)
      yield { payload: Number(size.value), key: key.value };
  }
}

function provenIn(page: Buffer, header: number, cell: Cell, pages: Pages): SalvagedRecord | undefined {
  const layout = readLayout(page, header);
  if (layout === undefined || layout.total !== cell.payload) return undefined;
  for (const payload of payloadsAt(page, header, cell.payload, pages)) {
    const record = toRecord(payload, layout, Number(cell.key & 0xffffffffn));
    if (record !== undefined && flawOf(record) === undefined) return { segment: Number(cell.key >> 32n), record };
  }
  return undefined;
}

interface Layout {
  readonly types: readonly number[];
  readonly start: number;
  readonly total: number;
}

const COLUMNS = 11;

function readLayout(page: Buffer, header: number): Layout | undefined {
  const size = page[header] ?? 0;
  const types: number[] = [];
  let at = header + 1;
  while (at < header + size && types.length < COLUMNS) {
    const type = readVarint(page, at);
    if (type === undefined) return undefined;
    types.push(Number(type.value));
    at = type.next;
  }
  if (types.length !== COLUMNS || at !== header + size) return undefined;
  return { types, start: size, total: size + types.reduce((sum, type) => sum + sizeOf(type), 0) };
}

/** The row's bytes; several candidates only when pages of an overflow chain exist in several versions. */
function* payloadsAt(page: Buffer, header: number, size: number, pages: Pages): Iterable<Buffer> {
  if (size <= MOST_LOCAL) {
    if (header + size <= page.length) yield page.subarray(header, header + size);
    return;
  }
  const spread = LEAST_LOCAL + ((size - LEAST_LOCAL) % OVERFLOW_BYTES);
  const local = spread <= MOST_LOCAL ? spread : LEAST_LOCAL;
  if (header + local + 4 > page.length) return;
  const first = page.readUInt32BE(header + local);
  for (const rest of chainsFrom(first, size - local, pages))
    yield Buffer.concat([page.subarray(header, header + local), ...rest]);
}

function* chainsFrom(page: number, left: number, pages: Pages): Iterable<readonly Buffer[]> {
  // A loop instead of recursion over the common case: one version of each page. Large bodies span thousands of pages.
  const parts: Buffer[] = [];
  for (let next = page, open = left; open > 0; ) {
    const versions = [...pages.versions(next)];
    const [newest] = versions;
    if (newest === undefined) return;
    if (versions.length > 1) {
      for (const version of versions) {
        const part = version.subarray(4, 4 + Math.min(open, OVERFLOW_BYTES));
        const rest = open - part.length;
        if (rest === 0) yield [...parts, part];
        else for (const tail of chainsFrom(version.readUInt32BE(0), rest, pages)) yield [...parts, part, ...tail];
      }
      return;
    }
    const part = newest.subarray(4, 4 + Math.min(open, OVERFLOW_BYTES));
    parts.push(part);
    open -= part.length;
    next = newest.readUInt32BE(0);
    if (open === 0) yield parts;
  }
}

function toRecord(payload: Buffer, layout: Layout, seq: number): SealedRecord | undefined {
  const values: (string | number | null)[] = [];
  let at = layout.start;
  for (const type of layout.types) {
    values.push(valueOf(payload, at, type));
    at += sizeOf(type);
  }
  const [, kind, instant, version, salt, bodyDigest, prev, hash, body, dropped] = values;
  if (typeof kind !== "string" || typeof instant !== "string" || typeof version !== "number") return undefined;
  if (
    typeof salt !== "string" ||
    typeof bodyDigest !== "string" ||
    typeof prev !== "string" ||
    typeof hash !== "string"
  )
    return undefined;
  if (typeof body === "number" || typeof dropped === "number") return undefined;
  const header = { seq, kind, at: instant, version, salt, bodyDigest, prev, hash, body: body ?? null };
  return typeof dropped === "string" ? { ...header, dropped } : header;
}

function valueOf(payload: Buffer, at: number, type: number): string | number | null {
  if (type >= 13 && type % 2 === 1) return payload.toString("utf8", at, at + sizeOf(type));
  if (type === 8 || type === 9) return type - 8;
  if (type >= 1 && type <= 6) return payload.readIntBE(at, Math.min(sizeOf(type), 6));
  return null;
}

/** Bytes of a value by SQLite's serial type. */
function sizeOf(type: number): number {
  if (type >= 12) return Math.floor((type - 12) / 2);
  return [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0][type] ?? 0;
}

function readVarint(bytes: Buffer, at: number): { readonly value: bigint; readonly next: number } | undefined {
  let value = 0n;
  for (let index = 0; index < MAX_VARINT; index += 1) {
    const byte = bytes[at + index];
    if (byte === undefined) return undefined;
    if (index === MAX_VARINT - 1) return { value: (value << 8n) | BigInt(byte), next: at + index + 1 };
    value = (value << 7n) | BigInt(byte & 0x7f);
    if (byte < 0x80) return { value, next: at + index + 1 };
  }
  return undefined;
}
