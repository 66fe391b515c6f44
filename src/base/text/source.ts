/** Bytes that can be read from the start as often as needed: a second pass repairs what the first one judged. */
export interface Source {
  /** What the user calls it. */
  readonly name: string;
  /** Each chunk is valid until the next one is asked for. */
  chunks(): AsyncIterable<Uint8Array>;
}

/** Bytes already in memory: standard input, tests, and whoever embeds the doctor. */
export function bytesSource(name: string, bytes: Uint8Array): Source {
  return {
    name,
    async *chunks() {
      yield bytes;
    },
  };
}

export async function readAll(source: Source): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source.chunks()) chunks.push(chunk.slice());
  return joined(chunks);
}

export function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  if (only !== undefined && chunks.length === 1) return only;
  const whole = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
