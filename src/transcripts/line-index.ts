import { firstWhere } from "../base/first-where.ts";
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
    if (start === undefined) return 1;
    return firstWhere(this.#breaks.length, (nth) => (this.#breaks[nth] as number) >= start) + 1;
  }
}
