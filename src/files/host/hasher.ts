import { createHash, type Hash } from "node:crypto";
import type { Sha256 } from "../../base/hash.ts";
import { blobNameOf, CHUNK_BYTES } from "../../records/blob-name.ts";
import type { BlobName } from "../../records/ids.ts";

/** The name of content that comes piece by piece. Nothing of it is held. */
export class ChunkHasher {
  readonly #chunks: Sha256[] = [];
  #chunk: Hash | undefined;
  #filled = 0;
  size = 0;

  add(piece: Uint8Array): void {
    this.size += piece.length;
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + CHUNK_BYTES - this.#filled);
      this.#chunk ??= createHash("sha256");
      this.#chunk.update(part);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled === CHUNK_BYTES) this.#close();
    }
  }

  /** Ends it. */
  name(): BlobName {
    this.#close();
    return blobNameOf(this.size, this.#chunks);
  }

  #close(): void {
    if (this.#chunk === undefined) return;
    this.#chunks.push(this.#chunk.digest("hex"));
    this.#chunk = undefined;
    this.#filled = 0;
  }
}
