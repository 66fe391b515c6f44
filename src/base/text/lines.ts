import { joined, type Source } from "./source.ts";

/** One line as it lies in the file. The bytes and the end together are the file, without a gap. */
export interface Line {
  /** From 1, as editors count. */
  readonly number: number;
  readonly bytes: Uint8Array;
  readonly end: "\n" | "\r\n" | "";
}

const LF = 10;
const CR = 13;

/**
 * The lines of a source, a chunk's worth at a time: to wait for every single line costs more than to read it. Each
 * batch is read to its end before the next is asked for. Only LF ends a line: U+2028 inside a text does not.
 */
export async function* linesOf(source: Source): AsyncGenerator<Iterable<Line>> {
  const splitter = new LineSplitter();
  for await (const chunk of source.chunks()) yield splitter.take(chunk);
  yield splitter.rest();
}

/** The lines of bytes that are in memory. */
export function* linesIn(bytes: Uint8Array): Generator<Line> {
  const splitter = new LineSplitter();
  yield* splitter.take(bytes);
  yield* splitter.rest();
}

class LineSplitter {
  #number = 0;
  #held: Uint8Array[] = [];

  *take(chunk: Uint8Array): Generator<Line> {
    let start = 0;
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, start)) {
      this.#number += 1;
      const tail = chunk.subarray(start, at);
      yield ended(this.#held.length === 0 ? tail : joined([...this.#held, tail]), this.#number);
      this.#held = [];
      start = at + 1;
    }
    if (start < chunk.length) this.#held.push(chunk.slice(start));
  }

  *rest(): Generator<Line> {
    if (this.#held.length > 0) yield { number: this.#number + 1, bytes: joined(this.#held), end: "" };
  }
}

function ended(bytes: Uint8Array, number: number): Line {
  const crlf = bytes[bytes.length - 1] === CR;
  return crlf ? { number, bytes: bytes.subarray(0, -1), end: "\r\n" } : { number, bytes, end: "\n" };
}
