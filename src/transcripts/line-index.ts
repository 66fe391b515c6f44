import { childrenOf, spanOf } from "../base/text/scan.ts";
import type { Path } from "../base/text/edit.ts";
import type { Element } from "./transcript.ts";

/** On which line of a document an element begins. Lists are measured when they are first asked about. */
export class LineIndex {
  readonly #text: string;
  readonly #lists = new Map<string, readonly number[]>();
  readonly #breaks: number[] = [];

  constructor(text: string) {
    this.#text = text;
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) this.#breaks.push(at);
  }

  lineOf({ path }: Element): number {
    if (this.#breaks.length === 0) return 1;
    const nth = path.at(-1);
    const start = typeof nth === "number" ? this.#startsOf(path.slice(0, -1))[nth] : spanOf(this.#text, path)?.start;
    return start === undefined ? 1 : this.#breaksBefore(start) + 1;
  }

  #startsOf(list: Path): readonly number[] {
    const key = JSON.stringify(list);
    const known = this.#lists.get(key);
    if (known !== undefined) return known;
    const span = spanOf(this.#text, list);
    const starts = span === undefined ? [] : childrenOf(this.#text, span.start).map(({ start }) => start);
    this.#lists.set(key, starts);
    return starts;
  }

  #breaksBefore(offset: number): number {
    let low = 0;
    let high = this.#breaks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#breaks[middle] as number) < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
