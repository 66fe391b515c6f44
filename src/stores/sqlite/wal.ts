import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { isCode } from "../../blobs/files/port.ts";
import { PAGE_BYTES } from "./schema.ts";

/** One frame of a write-ahead log: a page as a transaction left it. */
interface WalFrame {
  readonly page: number;
  readonly commits: boolean;
  readonly bytes: Buffer;
}

export interface WalState {
  /** Frames of this log, in order, up to the last one that ends a transaction; damaged ones are left out. */
  readonly frames: readonly WalFrame[];
  /** Transactions that end after the first frame SQLite will not accept. It drops them all without a word. */
  readonly committedBeyondDamage: number;
}

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES;
const MAGIC_LITTLE = 0x377f0682;
const MAGIC_BIG = 0x377f0683;
const NOTHING: WalState = { frames: [], committedBeyondDamage: 0 };

/**
 * Reads the log beside a store the way SQLite's recovery will, and then beyond: SQLite stops at the first frame whose
 * checksum is wrong and forgets every acknowledged transaction after it. The log may be read while SQLite has it open;
 * the database file may not.
 */
export function readWal(path: string): WalState {
  const handle = openIfThere(`${path}-wal`);
  if (handle === undefined) return NOTHING;
  try {
    for (;;) {
      const header = readAt(handle, 0, HEADER_BYTES);
      const state = header === undefined ? NOTHING : readFrames(handle, header);
      const after = readAt(handle, 0, HEADER_BYTES);
      // A living writer may restart the log under our eyes: then what we saw was two logs, and we look again.
      if (header === undefined || (after !== undefined && header.equals(after))) return state;
    }
  } finally {
    closeSync(handle);
  }
}

function readFrames(handle: number, header: Buffer): WalState {
  const magic = header.readUInt32BE(0);
  if (magic !== MAGIC_LITTLE && magic !== MAGIC_BIG) return readUnproven(handle);
  const big = magic === MAGIC_BIG;
  let sum = checksum(header.subarray(0, 24), big, [0, 0]);
  let valid = sum[0] === header.readUInt32BE(24) && sum[1] === header.readUInt32BE(28);
  const salts = header.subarray(16, 24);
  const count = Math.floor((fstatSync(handle).size - HEADER_BYTES) / FRAME_BYTES);
  const frames: WalFrame[] = [];
  let lastCommit = 0;
  let beyond = 0;
  for (let index = 0; index < count; index += 1) {
    const frame = readAt(handle, HEADER_BYTES + index * FRAME_BYTES, FRAME_BYTES);
    if (frame === undefined) break;
    // Another salt: a frame of an older log that has not been overwritten yet, or a damaged frame header.
    if (!frame.subarray(8, 16).equals(salts)) {
      valid = false;
      continue;
    }
    if (valid) {
      sum = checksum(frame.subarray(FRAME_HEADER_BYTES), big, checksum(frame.subarray(0, 8), big, sum));
      valid = sum[0] === frame.readUInt32BE(16) && sum[1] === frame.readUInt32BE(20);
    }
    const commits = frame.readUInt32BE(4) !== 0;
    frames.push({ page: frame.readUInt32BE(0), commits, bytes: frame.subarray(FRAME_HEADER_BYTES) });
    if (!commits) continue;
    lastCommit = frames.length;
    if (!valid) beyond += 1;
  }
  return { frames: frames.slice(0, lastCommit), committedBeyondDamage: beyond };
}

/** The log's own header is damaged: SQLite would ignore all of it. Whatever ends a transaction counts as lost. */
function readUnproven(handle: number): WalState {
  const count = Math.floor((fstatSync(handle).size - HEADER_BYTES) / FRAME_BYTES);
  const all = Array.from({ length: Math.max(count, 0) }, (_, index) =>
    readAt(handle, HEADER_BYTES + index * FRAME_BYTES, FRAME_BYTES),
  );
  const salts = all[0]?.subarray(8, 16);
  const frames = all
    .filter((frame) => frame !== undefined)
    .filter((frame) => salts !== undefined && frame.subarray(8, 16).equals(salts))
    .map((frame) => ({
      page: frame.readUInt32BE(0),
      commits: frame.readUInt32BE(4) !== 0,
      bytes: frame.subarray(FRAME_HEADER_BYTES),
    }));
  const commits = frames.filter((frame) => frame.commits).length;
  return {
    frames: frames.slice(0, frames.findLastIndex((frame) => frame.commits) + 1),
    committedBeyondDamage: commits,
  };
}

/** SQLite's running checksum over pairs of 32-bit words. */
function checksum(bytes: Buffer, big: boolean, from: readonly [number, number]): [number, number] {
  let [a, b] = from;
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    a = (a + (big ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + b) >>> 0;
    b = (b + (big ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + a) >>> 0;
  }
  return [a, b];
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Undefined when the file ends before. */
export function readAt(handle: number, position: number, length: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(length);
  for (let read = 0; read < length; ) {
    const got = readSync(handle, bytes, read, length - read, position + read);
    if (got === 0) return undefined;
    read += got;
  }
  return bytes;
}
