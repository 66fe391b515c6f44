import { HoldfastError } from "../base/errors.ts";
import { sha256, type Sha256 } from "../base/hash.ts";
import { type BlobName, toBlobName } from "./ids.ts";

/**
 * Content is proven in chunks of 1 MiB, so that large content need not fit into memory and a range needs no whole read.
 * Content of one chunk is named by its SHA-256; larger content by the hash over its chunks' hashes.
 */
export const CHUNK_BYTES: number = 1024 * 1024;

export function blobNameOf(size: number, chunks: readonly Sha256[]): BlobName {
  const [only] = chunks;
  if (chunks.length === 1 && only !== undefined) return toBlobName(`sha256-${only}`);
  return toBlobName(chunks.length === 0 ? `sha256-${sha256("")}` : `tree-${sha256(treeText(size, chunks))}`);
}

/** The name of some content, from its bytes. */
export function nameOfBytes(bytes: Uint8Array): BlobName {
  const chunks: Sha256[] = [];
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) chunks.push(sha256(bytes.subarray(at, at + CHUNK_BYTES)));
  return blobNameOf(bytes.length, chunks);
}

function treeText(size: number, chunks: readonly Sha256[]): string {
  return `holdfast-blob-tree\n${CHUNK_BYTES}\n${size}\n${chunks.join("\n")}`;
}

/** The part of some content that was asked for: all of it, or a range that lies inside. */
export function rangeIn(
  name: BlobName,
  size: number,
  range: { readonly from: number; readonly to: number } | undefined,
): { readonly from: number; readonly to: number } {
  const { from, to } = range ?? { from: 0, to: size };
  const inside = Number.isSafeInteger(from) && Number.isSafeInteger(to) && from >= 0 && from <= to && to <= size;
  if (!inside) throw new HoldfastError("BLOB_BAD_RANGE", { name, from: String(from), to: String(to), size });
  return { from, to };
}
