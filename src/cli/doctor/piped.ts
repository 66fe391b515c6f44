import { pipeline, Readable, type Duplex } from "node:stream";

/** Bytes through a compressor, pulled as they are needed. A failure on either side ends the iteration. */
export async function* piped(
  bytes: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  transform: Duplex,
): AsyncGenerator<Uint8Array> {
  pipeline(Readable.from(bytes, { objectMode: true }), transform, () => {}); // the iteration below tells of failures
  yield* transform as AsyncIterable<Uint8Array>;
}
