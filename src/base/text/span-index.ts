import type { Path } from "./edit.ts";
import { type Child, childrenOf, isOpening, skipSpace, valueEnd } from "./scan.ts";

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where the values of a document stand. A list is measured once, however many of its elements are asked about. */
export class SpanIndex {
  readonly #text: string;
  readonly #children = new Map<string, readonly Child[]>();

  constructor(text: string) {
    this.#text = text;
  }

  spanOf(path: Path): Span | undefined {
    const step = path.at(-1);
    if (step === undefined) {
      const start = skipSpace(this.#text, 0);
      return { start, end: valueEnd(this.#text, start) };
    }
    const children = this.#childrenOf(path.slice(0, -1));
    // Of a key written twice the last counts, as it does for `JSON.parse`.
    return typeof step === "number" ? children[step] : children.findLast(({ key }) => key === step);
  }

  textOf(path: Path): string | undefined {
    const span = this.spanOf(path);
    return span === undefined ? undefined : this.#text.slice(span.start, span.end);
  }

  #childrenOf(path: Path): readonly Child[] {
    const key = JSON.stringify(path);
    const known = this.#children.get(key);
    if (known !== undefined) return known;
    const span = this.spanOf(path);
    const opens = span !== undefined && isOpening(this.#text.charCodeAt(span.start));
    const children = opens ? childrenOf(this.#text, span.start) : [];
    this.#children.set(key, children);
    return children;
  }
}
