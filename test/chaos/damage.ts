import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SeededRandom } from "../../src/base/random.ts";

const PAGE = 4096;
const WAL_HEADER = 32;
const FRAME_HEADER = 24;
const FRAME = FRAME_HEADER + PAGE;

export interface Damage {
  readonly what: string;
  readonly file: "db" | "wal" | "blob";
  /** Byte that was flipped; undefined when more than one byte is concerned. */
  readonly at?: number;
  /** Pages that are no longer what they were, counted from 0. */
  readonly pages?: readonly number[];
  /** What is left of the file, and of the log's transactions. A log cannot tell that there was more. */
  readonly length?: number;
  readonly committed?: number;
}

/** What a case may aim at, beside blind chance: places in the database file by their meaning. */
export interface Targets {
  /** Texts whose surroundings are worth a hit: checkpoints, names of content. */
  readonly texts: readonly string[];
  /** How the sessions' own rows begin. */
  readonly rows: readonly string[];
}

type Strike = (folder: string, targets: Targets, random: SeededRandom) => Damage | undefined;

const dbOf = (folder: string) => join(folder, "store.db");
const walOf = (folder: string) => {
  const path = join(folder, "store.db-wal");
  return existsSync(path) && statSync(path).size > WAL_HEADER ? path : undefined;
};

/** The ways to damage a store, by how often. One that finds nothing to damage leaves it to another. */
const STRIKES: Readonly<Record<string, { readonly weight: number; readonly strike: Strike }>> = {
  blob: { weight: 12, strike: (folder, _, random) => flipBlob(folder, random) },
  wal: { weight: 33, strike: (folder, _, random) => ifThere(walOf(folder), (wal) => flip(wal, "wal", random)) },
  walcut: { weight: 5, strike: (folder, _, random) => ifThere(walOf(folder), (wal) => truncate(wal, "wal", random)) },
  cut: { weight: 10, strike: (folder, _, random) => truncate(dbOf(folder), "db", random) },
  swap: { weight: 10, strike: (folder, _, random) => swapPages(dbOf(folder), random) },
  zero: { weight: 3, strike: (folder, _, random) => zeroPage(dbOf(folder), random) },
  rows: { weight: 8, strike: (folder, { rows }, random) => flipNear(dbOf(folder), rows, random) },
  near: { weight: 14, strike: (folder, { texts }, random) => flipNear(dbOf(folder), texts, random) },
  db: { weight: 5, strike: (folder, _, random) => flip(dbOf(folder), "db", random) },
};

/** Damages a closed or crashed store in one way, drawn by chance; with `only`, from these ways. */
export function damage(folder: string, targets: Targets, random: SeededRandom, only?: readonly string[]): Damage {
  const ways = Object.entries(STRIKES).filter(([name]) => only === undefined || only.includes(name));
  const drawn = ways.flatMap(([, { weight, strike }]) => Array.from({ length: weight }, () => strike));
  return random.pick(drawn)(folder, targets, random) ?? flip(dbOf(folder), "db", random);
}

function ifThere<T>(path: string | undefined, use: (path: string) => T): T | undefined {
  return path === undefined ? undefined : use(path);
}

function flip(path: string, file: Damage["file"], random: SeededRandom, near?: number, what = "bit"): Damage {
  const bytes = readFileSync(path);
  const at = near ?? random.below(bytes.length);
  const bit = random.below(8);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
  writeFileSync(path, bytes);
  return { what: `${what} ${bit} of byte ${at} in the ${file}`, file, at };
}

function flipNear(path: string, texts: readonly string[], random: SeededRandom): Damage {
  const bytes = readFileSync(path);
  const text = random.pick(texts);
  const places: number[] = [];
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) places.push(at);
  if (places.length === 0) return flip(path, "db", random);
  const found = random.pick(places);
  const at = Math.min(bytes.length - 1, Math.max(0, found - 20 + random.below(text.length + 320)));
  return flip(path, "db", random, at, `near ${text.slice(0, 24)}: bit`);
}

function flipBlob(folder: string, random: SeededRandom): Damage | undefined {
  const root = join(folder, "store.db.blobs");
  if (!existsSync(root)) return undefined;
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => /(sha256|tree)-/.test(name));
  return files.length === 0 ? undefined : flip(join(root, random.pick(files)), "blob", random);
}

function truncate(path: string, file: "db" | "wal", random: SeededRandom): Damage {
  const size = readFileSync(path).length;
  const length = random.below(2) === 0 ? random.below(size) : random.below(Math.ceil(size / PAGE)) * PAGE;
  const committed =
    file === "wal" ? (framesOf(path.replace(/-wal$/, "")).ends.findLast((end) => end <= length) ?? 0) : length;
  truncateSync(path, length);
  return { what: `${file} cut from ${size} to ${length} bytes`, file, length, committed };
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
  return { what: `pages ${one + 1} and ${other + 1} swapped`, file: "db", pages: [] };
}

function zeroPage(path: string, random: SeededRandom): Damage {
  const bytes = readFileSync(path);
  const page = random.below(Math.floor(bytes.length / PAGE));
  bytes.fill(0, page * PAGE, (page + 1) * PAGE);
  writeFileSync(path, bytes);
  return { what: `page ${page + 1} zeroed`, file: "db", pages: [page] };
}

/** One copy of a record's text, whole on one page of the database or of a committed frame of the log. */
export interface Copy {
  readonly file: "db" | "wal";
  readonly at: number;
  readonly length: number;
}

/** A row's cell begins with its size, its key and the types of its columns; a hit there is a hit on that record. */
const CELL_HEADER = 40;
/** salt, body digest, prev, hash: nothing else in the file is so long a run of hex digits. */
const DIGESTS = /(?<![0-9a-f])[0-9a-f]{16}[0-9a-f]{128}([0-9a-f]{64})(?=\{)/g;

/** Where each record lies before anything is damaged, by its hash. */
export function copiesOf(
  path: string,
  textOf: (hash: string) => Buffer | undefined,
): ReadonlyMap<string, readonly Copy[]> {
  const copies = new Map<string, Copy[]>();
  const note = (file: Copy["file"], page: Buffer, start: number) => {
    for (const match of page.toString("latin1").matchAll(DIGESTS)) {
      const hash = match[1] ?? "";
      const text = textOf(hash);
      const offset = text === undefined ? -1 : page.indexOf(text);
      if (text === undefined || offset < 0) continue; // its body runs over the page
      copies.set(hash, [...(copies.get(hash) ?? []), { file, at: start + offset, length: text.length }]);
    }
  };
  const db = readFileSync(path);
  for (let at = 0; at < db.length; at += PAGE) note("db", db.subarray(at, at + PAGE), at);
  for (const { at, bytes } of framesOf(path).frames) note("wal", bytes, at + FRAME_HEADER);
  return copies;
}

/** Whether a copy has come through, so that whoever looks for it must find it. */
export function survives(copy: Copy, done: Damage): boolean {
  if (copy.file !== done.file) return true;
  const page = Math.floor(copy.at / PAGE);
  if (done.pages !== undefined) return !done.pages.includes(page);
  if (done.length !== undefined)
    return copy.at + copy.length <= done.length && copy.at < (done.committed ?? done.length);
  if (done.at === undefined) return true;
  if (copy.file === "db") return done.at < copy.at - CELL_HEADER || done.at >= copy.at + copy.length;
  // A frame whose own header was hit need not be recognised, nor the log by its header.
  const frame = Math.floor((copy.at - WAL_HEADER) / FRAME);
  const inHeader = done.at >= WAL_HEADER + frame * FRAME && done.at < WAL_HEADER + frame * FRAME + FRAME_HEADER;
  return !inHeader && (done.at < copy.at - CELL_HEADER || done.at >= copy.at + copy.length);
}

/** The log's own frames up to the last one that ends a transaction; what an older log left behind is not part of the story. */
function framesOf(path: string): {
  readonly frames: readonly { readonly at: number; readonly bytes: Buffer }[];
  readonly ends: readonly number[];
} {
  if (!existsSync(`${path}-wal`)) return { frames: [], ends: [] };
  const wal = readFileSync(`${path}-wal`);
  const salts = wal.subarray(16, 24);
  const frames: { readonly at: number; readonly bytes: Buffer }[] = [];
  const ends: number[] = [];
  for (let at = WAL_HEADER; at + FRAME <= wal.length && wal.subarray(at + 8, at + 16).equals(salts); at += FRAME) {
    frames.push({ at, bytes: wal.subarray(at + FRAME_HEADER, at + FRAME) });
    if (wal.readUInt32BE(at + 4) !== 0) ends.push(at + FRAME);
  }
  return { frames: frames.filter(({ at }) => at < (ends.at(-1) ?? 0)), ends };
}

/** Whether all that was altered lies on these pages of the database, counted from 0. */
export function liesOn(pages: ReadonlySet<number>, done: Damage): boolean {
  if (done.file !== "db") return false;
  if (done.at !== undefined) return pages.has(Math.floor(done.at / PAGE));
  return done.pages !== undefined && done.pages.length > 0 && done.pages.every((page) => pages.has(page));
}

const INTERIOR = 2;

/** The pages of a small index tree, counted from 0: its root, and its leaves when it has grown beyond it. */
export function pagesOfTree(path: string, root: number): ReadonlySet<number> {
  const bytes = readFileSync(path);
  const start = (root - 1) * PAGE;
  const pages = new Set([root - 1]);
  if (bytes[start] !== INTERIOR) return pages;
  pages.add(bytes.readUInt32BE(start + 8) - 1);
  for (let cell = 0; cell < bytes.readUInt16BE(start + 3); cell += 1)
    pages.add(bytes.readUInt32BE(start + bytes.readUInt16BE(start + 12 + 2 * cell)) - 1);
  return pages;
}

/** Where the last transaction of the log begins. Damage from there on looks like a write that the power cut short. */
export function lastTransactionAt(path: string): number {
  return framesOf(path).ends.at(-2) ?? WAL_HEADER;
}
