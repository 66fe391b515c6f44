import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SeededRandom } from "../../src/base/random.ts";

export const PAGE = 4096;
const WAL_HEADER = 32;
const FRAME = 24 + PAGE;

export interface Damage {
  readonly what: string;
  readonly file: "db" | "wal" | "blob";
  /** Byte that was flipped; undefined when more than one byte is concerned. */
  readonly at?: number;
  /** The end of the log is gone: nothing in the file can tell that there was more. */
  readonly endGone?: true;
}

/** What a case may aim at, beside blind chance: places in the database file by their meaning. */
export interface Targets {
  /** Texts whose surroundings are worth a hit: session rows, checkpoints. */
  readonly texts: readonly string[];
}

/** Damages a closed or crashed store in one way, drawn by chance. */
export function damage(folder: string, targets: Targets, random: SeededRandom): Damage {
  const path = join(folder, "store.db");
  const hasWal = existsSync(`${path}-wal`) && readFileSync(`${path}-wal`).length > WAL_HEADER;
  const draw = random.below(100);
  if (draw < 12) return flipBlob(folder, random) ?? flip(path, "db", random);
  if (hasWal && draw < 45) return flip(`${path}-wal`, "wal", random);
  if (hasWal && draw < 50) return truncate(`${path}-wal`, "wal", random);
  if (draw < 60) return truncate(path, "db", random);
  if (draw < 70) return swapPages(path, random);
  if (draw < 73) return zeroPage(path, random);
  if (draw < 87) return flipNear(path, targets, random);
  return flip(path, "db", random);
}

function flip(path: string, file: Damage["file"], random: SeededRandom, near?: number, what = "bit"): Damage {
  const bytes = readFileSync(path);
  const at = near ?? random.below(bytes.length);
  const bit = random.below(8);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
  writeFileSync(path, bytes);
  return { what: `${what} ${bit} of byte ${at} in the ${file}`, file, at };
}

function flipNear(path: string, { texts }: Targets, random: SeededRandom): Damage {
  const bytes = readFileSync(path);
  const text = random.pick(texts);
  const found = bytes.indexOf(text);
  if (found === -1) return flip(path, "db", random);
  const at = Math.min(bytes.length - 1, Math.max(0, found - 20 + random.below(text.length + 320)));
  return flip(path, "db", random, at, `near ${text.slice(0, 24)}: bit`);
}

function flipBlob(folder: string, random: SeededRandom): Damage | undefined {
  const root = join(folder, "blobs");
  if (!existsSync(root)) return undefined;
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => /(sha256|tree)-/.test(name));
  return files.length === 0 ? undefined : flip(join(root, random.pick(files)), "blob", random);
}

function truncate(path: string, file: "db" | "wal", random: SeededRandom): Damage {
  const size = readFileSync(path).length;
  const length = random.below(2) === 0 ? random.below(size) : random.below(Math.ceil(size / PAGE)) * PAGE;
  truncateSync(path, length);
  return { what: `${file} cut from ${size} to ${length} bytes`, file, ...(file === "wal" ? { endGone: true } : {}) };
}

function swapPages(path: string, random: SeededRandom): Damage {
  const bytes = readFileSync(path);
  const pages = Math.floor(bytes.length / PAGE);
  const one = random.below(pages);
  const other = (one + 1 + random.below(Math.max(1, pages - 1))) % pages;
  const kept = Buffer.from(bytes.subarray(one * PAGE, (one + 1) * PAGE));
  bytes.copy(bytes, one * PAGE, other * PAGE, (other + 1) * PAGE);
  kept.copy(bytes, other * PAGE);
  writeFileSync(path, bytes);
  return { what: `pages ${one + 1} and ${other + 1} swapped`, file: "db" };
}

function zeroPage(path: string, random: SeededRandom): Damage {
  const bytes = readFileSync(path);
  const page = random.below(Math.floor(bytes.length / PAGE));
  bytes.fill(0, page * PAGE, (page + 1) * PAGE);
  writeFileSync(path, bytes);
  return { what: `page ${page + 1} zeroed`, file: "db" };
}

/** The pages in which a record that was committed may be looked for: the database, and the log's own frames. */
export function pagesOf(path: string, damaged: Damage): { readonly db: Buffer; readonly frames: readonly Buffer[] } {
  const wal = existsSync(`${path}-wal`) ? readFileSync(`${path}-wal`) : Buffer.alloc(0);
  const frames: Buffer[] = [];
  let committed = 0;
  const salts = wal.subarray(WAL_HEADER + 8, WAL_HEADER + 16);
  for (let at = WAL_HEADER; at + FRAME <= wal.length; at += FRAME) {
    const hit = damaged.file === "wal" && damaged.at !== undefined && damaged.at >= at && damaged.at < at + 24;
    // A frame of an older log is not part of the story; one whose own header was hit need not be recognised.
    if (hit || !wal.subarray(at + 8, at + 16).equals(salts)) continue;
    frames.push(wal.subarray(at + 24, at + FRAME));
    if (wal.readUInt32BE(at + 4) !== 0) committed = frames.length;
  }
  return { db: readFileSync(path), frames: frames.slice(0, committed) };
}

/** Where the last transaction of the log begins. Damage from there on looks like a write that the power cut short. */
export function lastTransactionAt(path: string): number {
  if (!existsSync(`${path}-wal`)) return 0;
  const wal = readFileSync(`${path}-wal`);
  const ends: number[] = [];
  const salts = wal.subarray(16, 24);
  for (let at = WAL_HEADER; at + FRAME <= wal.length; at += FRAME)
    if (wal.subarray(at + 8, at + 16).equals(salts) && wal.readUInt32BE(at + 4) !== 0) ends.push(at + FRAME);
  return ends.at(-2) ?? WAL_HEADER;
}
