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

/** The lines of a source, one in memory at a time. Only LF ends a line: U+2028 inside a text does not. */
export async function* linesOf(source: Source): AsyncGenerator<Line> {
  let number = 0;
  let held: Uint8Array[] = [];
  for await (const chunk of source.chunks()) {
    let start = 0;
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, start)) {
      number += 1;
      yield ended(joined([...held, chunk.subarray(start, at)]), number);
      held = [];
      start = at + 1;
    }
    if (start < chunk.length) held.push(chunk.slice(start));
  }
  if (held.length > 0) yield { number: number + 1, bytes: joined(held), end: "" };
}

function ended(bytes: Uint8Array, number: number): Line {
  const crlf = bytes[bytes.length - 1] === CR;
  return crlf ? { number, bytes: bytes.subarray(0, -1), end: "\r\n" } : { number, bytes, end: "\n" };
}
