import type { Bytes } from "../../contracts/blob-store.ts";
import { nameOfBytes } from "../../records/blob-name.ts";
import type { BlobName } from "../../records/ids.ts";
import { ChunkHasher } from "./hasher.ts";
import { type HostPort, isSystem } from "./port.ts";

/** A file up to this size is read at once. */
export const HELD: number = 1024 * 1024;
const SMALLEST = 4096;
const SHARED = 64 * 1024;

export interface Hashed {
  readonly digest: BlobName;
  readonly size: number;
}

/** Work with a file that is open, by its path. Undefined when there is none, or it is something else. */
export function readingFile<T>(port: HostPort, path: string, work: (handle: number, size: number) => T): T | undefined {
  let handle: number;
  try {
    handle = port.openFile(path, "read");
  } catch (error) {
    if (isSystem(error, "ENOENT", "ELOOP", "ENOTDIR")) return undefined;
    throw error;
  }
  try {
    const { kind, size } = port.statOpen(handle);
    return kind === "file" ? work(handle, size) : undefined;
  } finally {
    port.close(handle);
  }
}

export function hashFile(port: HostPort, path: string): Hashed | undefined {
  return readingFile(port, path, (handle, size) => hashSmall(port, handle, size) ?? hashOpen(port, handle, size));
}

/** One for all: thousands of small files would make as many buffers, and nothing here waits while it is in use. */
const shared = new Uint8Array(SHARED);

/** A file that fits is read with one request: it ends where less comes than was asked for. */
function hashSmall(port: HostPort, handle: number, size: number): Hashed | undefined {
  if (size >= SHARED) return undefined;
  const got = port.read(handle, shared, 0, SHARED, 0);
  return got < SHARED ? { digest: nameOfBytes(shared.subarray(0, got)), size: got } : undefined;
}

export function hashOpen(port: HostPort, handle: number, size: number = HELD): Hashed {
  const hasher = new ChunkHasher();
  for (const piece of piecesIn(port, handle, size)) hasher.add(piece);
  return { digest: hasher.name(), size: hasher.size };
}

export function wholeOf(port: HostPort, handle: number, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; ) {
    const got = port.read(handle, bytes, at, size - at, at);
    if (got === 0) return bytes.subarray(0, at);
    at += got;
  }
  return bytes;
}

/** `size` is what is expected: nobody needs a megabyte for a line. */
export function* piecesIn(port: HostPort, handle: number, size: number = HELD): Iterable<Bytes> {
  for (let at = 0; ; ) {
    const piece = new Uint8Array(Math.min(HELD, Math.max(size - at, SMALLEST)));
    const got = port.read(handle, piece, 0, piece.length, at);
    if (got === 0) return;
    at += got;
    yield piece.subarray(0, got);
  }
}
