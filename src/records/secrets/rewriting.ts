import { type Mark, viewOf, WORD } from "./mark.ts";
import type { Scan } from "./scan.ts";

/**
 * A text that is written anew, with marks in the place of what is hidden. It is put together from bytes, four at a time:
 * there may be as many hidden places as words, and two strings for each of them would take longer than finding it.
 */
export class Rewriting {
  readonly #text: string;
  readonly #isNarrow: boolean;
  readonly #bytes: DataView;
  #kept = "";
  #filled = 0;
  #from = 0;

  constructor({ text, letters, wide }: Scan) {
    this.#text = text;
    this.#isNarrow = wide === undefined;
    this.#bytes = viewOf(wide ?? letters);
  }

  /** Keeps what stands before `from` and was not told of yet; from there to `to` it is hidden. */
  hide(from: number, to: number, mark: Mark): void {
    const before = from - this.#from;
    if (before > FAR || this.#filled > ENOUGH) this.#empty();
    if (before > FAR) this.#kept += this.#text.slice(this.#from, from);
    else this.#put(this.#bytes, this.#from, before);
    this.#put(this.#isNarrow ? mark.narrow : mark.wide, 0, mark.text.length);
    this.#from = to;
  }

  end(): string {
    this.#empty();
    return this.#kept + this.#text.slice(this.#from);
  }

  /** Reads, and writes, up to three bytes more than it counts: behind every piece there are some, and the next covers them. */
  #put(source: DataView, from: number, count: number): void {
    const width = this.#isNarrow ? 1 : 2;
    const first = from * width;
    const length = count * width;
    const to = this.#filled;
    for (let at = 0; at < length; at += WORD) BENCH_VIEW.setInt32(to + at, source.getInt32(first + at, true), true);
    this.#filled = to + length;
  }

  #empty(): void {
    this.#kept += BENCH.toString(this.#isNarrow ? "latin1" : "utf16le", 0, this.#filled);
    this.#filled = 0;
  }
}

/** What is kept between two hidden places that are further apart is cut out of the text: that takes no time at all. */
const FAR = 256;
const ENOUGH = 256 * 1024;
/** More than one piece takes. One bench is enough for all: a text is written from beginning to end before the next one is. */
const SPARE = 1024;
const BENCH: Buffer = Buffer.alloc(ENOUGH + SPARE);
const BENCH_VIEW = viewOf(BENCH);
