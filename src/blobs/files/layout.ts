import { CHUNK_BYTES } from "../../records/blob-name.ts";
import type { BlobName } from "../../records/ids.ts";
import type { Sha256 } from "../../base/hash.ts";

/**
 * Content of one chunk is the file. Larger content is followed by its chunks' hashes and a footer: the name is computed
 * over them, so they prove themselves and then prove every chunk, and a range is read without the rest.
 */
const MAGIC = "HFBLOB01";
export const FOOTER_BYTES: number = MAGIC.length + 8;
const HASH_BYTES = 32;

export function chunksIn(size: number): number {
  return Math.ceil(size / CHUNK_BYTES);
}

export function trailerOf(size: number, chunks: readonly Sha256[]): Uint8Array {
  const footer = Buffer.alloc(FOOTER_BYTES);
  footer.write(MAGIC, 0, "latin1");
  footer.writeBigUInt64BE(BigInt(size), MAGIC.length);
  return Buffer.concat([...chunks.map((chunk) => Buffer.from(chunk, "hex")), footer]);
}

/** Where the hashes of a large blob begin and how many there are, or undefined when the footer does not fit the file. */
export function readFooter(
  footer: Uint8Array,
  fileSize: number,
): { readonly size: number; readonly chunks: number } | undefined {
  const view = Buffer.from(footer.buffer, footer.byteOffset, footer.byteLength);
  if (view.length !== FOOTER_BYTES || view.toString("latin1", 0, MAGIC.length) !== MAGIC) return undefined;
  const size = Number(view.readBigUInt64BE(MAGIC.length));
  const chunks = chunksIn(size);
  return size + chunks * HASH_BYTES + FOOTER_BYTES === fileSize ? { size, chunks } : undefined;
}

export function readHashes(table: Uint8Array, chunks: number): readonly Sha256[] {
  const view = Buffer.from(table.buffer, table.byteOffset, table.byteLength);
  return Array.from({ length: chunks }, (_, index) =>
    view.toString("hex", index * HASH_BYTES, (index + 1) * HASH_BYTES),
  );
}

export function tableBytes(chunks: number): number {
  return chunks * HASH_BYTES;
}

export function isTree(name: BlobName): boolean {
  return name.startsWith("tree-");
}

/** The content's size from its file's size alone. */
export function contentSize(name: BlobName, fileSize: number): number {
  if (!isTree(name)) return fileSize;
  const chunks = Math.ceil((fileSize - FOOTER_BYTES) / (CHUNK_BYTES + HASH_BYTES));
  return fileSize - FOOTER_BYTES - chunks * HASH_BYTES;
}
