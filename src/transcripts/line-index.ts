import { SpanIndex } from "../base/text/span-index.ts";
import type { Element } from "./transcript.ts";

/** On which line of a document an element begins. */
export class LineIndex {
  readonly #spans: SpanIndex;
  readonly #breaks: number[] = [];

  constructor(text: string) {
    this.#spans = new SpanIndex(text);
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) this.#breaks.push(at);
  }

  lineOf({ path }: Element): number {
    if (this.#breaks.length === 0) return 1;
    const start = this.#spans.spanOf(path)?.start;
    return start === undefined ? 1 : this.#breaksBefore(start) + 1;
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
