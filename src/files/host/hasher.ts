import { sha256, type Sha256 } from "../../base/hash.ts";
import { blobNameOf, CHUNK_BYTES } from "../../records/blob-name.ts";
import type { BlobName } from "../../records/ids.ts";

/** The name of content that comes piece by piece, holding one chunk at a time. */
export class ChunkHasher {
  readonly #chunk = new Uint8Array(CHUNK_BYTES);
  readonly #chunks: Sha256[] = [];
  #filled = 0;
  size = 0;

  add(piece: Uint8Array): void {
    this.size += piece.length;
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + CHUNK_BYTES - this.#filled);
      this.#chunk.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled === CHUNK_BYTES) this.#close();
    }
  }

  /** Ends it. */
  name(): BlobName {
    if (this.#filled > 0) this.#close();
    return blobNameOf(this.size, this.#chunks);
  }

  #close(): void {
    this.#chunks.push(sha256(this.#chunk.subarray(0, this.#filled)));
    this.#filled = 0;
  }
}
