import { type Line, linesIn, linesOf } from "../base/text/lines.ts";
import { bytesSource, joined, type Source } from "../base/text/source.ts";
import { type LogLine, readLine } from "./records.ts";

/** The lines of a log, in batches. Deterministic: a second pass finds the same records under the same numbers. */
export async function* logLines(source: Source): AsyncGenerator<Iterable<LogLine>> {
  if (source instanceof SmallFile) yield source.lines();
  else for await (const lines of linesOf(source)) yield readEach(lines);
}

function* readEach(lines: Iterable<Line>): Generator<LogLine> {
  for (const line of lines) yield readLine(line);
}

const SMALL = 256 * 1024;

/** A file that fits into memory many times over: a line is parsed once, however many passes are made over it. */
export class SmallFile implements Source {
  readonly name: string;
  readonly #bytes: Uint8Array;
  readonly #read: LogLine[] = [];
  readonly #unread: Iterator<Line>;

  constructor(name: string, bytes: Uint8Array) {
    this.name = name;
    this.#bytes = bytes;
    this.#unread = linesIn(bytes);
  }

  chunks(): AsyncIterable<Uint8Array> {
    return bytesSource(this.name, this.#bytes).chunks();
  }

  *lines(): Generator<LogLine> {
    for (let nth = 0; ; nth += 1) {
      const known = this.#read[nth] ?? this.#next();
      if (known === undefined) return;
      yield known;
    }
  }

  #next(): LogLine | undefined {
    const { done, value } = this.#unread.next();
    if (done === true) return undefined;
    const line = readLine(value);
    this.#read.push(line);
    return line;
  }
}

/** The source as a small file, or as it is when it turns out to be larger. */
export async function smallFile(source: Source): Promise<Source> {
  const held: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of source.chunks()) {
    size += chunk.length;
    if (size > SMALL) return source;
    held.push(chunk.slice()); // the source may use its buffer again
  }
  return new SmallFile(source.name, joined(held));
}
