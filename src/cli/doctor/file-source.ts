import { createReadStream, openSync, readSync, closeSync, statSync, type BigIntStats } from "node:fs";
import { open } from "node:fs/promises";
import { createGunzip } from "node:zlib";
import { HoldfastError } from "../../index.ts";
import { bytesSource, readAll, type Source } from "../../base/text/source.ts";
import { piped } from "./piped.ts";

const CHUNK = 256 * 1024;

/** A file on disk as a source, with what it was when it was opened. */
export interface OpenedFile {
  readonly source: Source;
  readonly gzip: boolean;
  /** Absent for standard input, which cannot be repaired. */
  readonly stat?: BigIntStats;
}

/** Opens a file of any name: what is inside decides whether it is compressed. */
export function openFile(path: string): OpenedFile {
  const stat = statOf(path);
  const gzip = isGzip(path);
  return { source: { name: path, chunks: () => chunksOf(path, gzip) }, gzip, stat };
}

/** Standard input, read once and kept. */
export async function openStandardInput(input: AsyncIterable<Uint8Array>): Promise<OpenedFile> {
  const bytes = await readAll({ name: "-", chunks: () => input });
  const gzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  if (!gzip) return { source: bytesSource("-", bytes), gzip };
  return { source: { name: "-", chunks: () => unzipped([bytes], "-") }, gzip };
}

export function statOf(path: string): BigIntStats {
  let stat: BigIntStats;
  try {
    stat = statSync(path, { bigint: true });
  } catch (error) {
    throw unreadable(path, error);
  }
  // A pipe or a device may never end.
  if (!stat.isFile()) throw new HoldfastError("TRANSCRIPT_UNREADABLE", { file: path, why: "not a file" });
  return stat;
}

/** Whether a file is still what it was. */
export function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return one.ino === other.ino && one.size === other.size && one.mtimeNs === other.mtimeNs;
}

function isGzip(path: string): boolean {
  const head = Buffer.alloc(2);
  let handle: number | undefined;
  try {
    handle = openSync(path, "r");
    return readSync(handle, head, 0, 2, 0) === 2 && head[0] === 0x1f && head[1] === 0x8b;
  } catch (error) {
    throw unreadable(path, error);
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

async function* chunksOf(path: string, gzip: boolean): AsyncGenerator<Uint8Array> {
  try {
    if (gzip) yield* unzipped(createReadStream(path), path);
    else yield* plainChunks(path);
  } catch (error) {
    throw HoldfastError.is(error) ? error : unreadable(path, error);
  }
}

/** One buffer for the whole file: a fresh one for every chunk would pile up faster than it is collected. */
async function* plainChunks(path: string): AsyncGenerator<Uint8Array> {
  const handle = await open(path, "r");
  try {
    const buffer = new Uint8Array(CHUNK);
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, CHUNK);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

async function* unzipped(
  compressed: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  path: string,
): AsyncGenerator<Uint8Array> {
  try {
    yield* piped(compressed, createGunzip({ chunkSize: CHUNK }));
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): HoldfastError {
  const system = (error as NodeJS.ErrnoException).code;
  const details = { file: path, ...(typeof system === "string" ? { system } : {}) };
  return new HoldfastError("TRANSCRIPT_UNREADABLE", details, { cause: error });
}
