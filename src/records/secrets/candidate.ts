import { formEnd, isMixed, RUN, type Scan } from "./scan.ts";
import type { SecretShape } from "./shapes.ts";

/** A place in a text that must not be kept, and what is told in its stead. */
export interface Hidden {
  readonly from: number;
  readonly to: number;
  readonly name: string;
}

export type Found = Omit<Hidden, "name">;

/** Something that may begin with this head. */
export interface Candidate {
  readonly head: string;
  readonly name: string;
  /** Not asked for where none is near. */
  readonly needsDigit: boolean;
  /** Not asked for inside a word. */
  readonly startsWord: boolean;
  /** Where it is, when it is there. */
  find(scan: Scan, at: number): Found | undefined;
}

/** A text that is hidden wherever it stands. */
export class TextCandidate implements Candidate {
  readonly head: string;
  readonly name: string;
  readonly needsDigit = false;
  readonly startsWord = false;

  constructor(head: string, name: string) {
    this.head = head;
    this.name = name;
  }

  find(_scan: Scan, at: number): Found {
    return { from: at, to: at + this.head.length };
  }
}

/** A secret of a known shape, by one of its heads. */
export class ShapeCandidate implements Candidate {
  readonly head: string;
  readonly name: string;
  readonly needsDigit: boolean;
  readonly startsWord: boolean;
  readonly #run: number;
  readonly #least: number;
  readonly #most: number;
  readonly #leadStartsWord: boolean;
  readonly #mixed: SecretShape["mixed"];
  readonly #form: RegExp | undefined;
  readonly #before: RegExp | undefined;

  constructor(shape: SecretShape, head: string) {
    this.head = head;
    this.name = shape.name;
    this.needsDigit = shape.mixed !== undefined;
    this.startsWord = shape.atWordStart === true && shape.before === undefined;
    this.#leadStartsWord = shape.atWordStart === true;
    this.#run = RUN[shape.rest];
    this.#least = shape.least;
    this.#most = shape.most ?? ENDLESS;
    this.#mixed = shape.mixed;
    this.#form = shape.form;
    this.#before = shape.before;
  }

  find(scan: Scan, at: number): Found | undefined {
    const start = at + this.head.length;
    const to = this.#form === undefined ? scan.runEnd(this.#run, start) : formEnd(this.#form, scan.text, start);
    if (to - start < this.#least || to - start > this.#most) return undefined;
    if (this.#most < ENDLESS && scan.goesOn(to)) return undefined;
    if (this.#mixed !== undefined && !isMixed(scan, start, to, this.#mixed === "cases")) return undefined;
    if (this.#before === undefined) return { from: at, to };
    const from = leadFrom(this.#before, scan, at);
    if (from === undefined || (this.#leadStartsWord && !scan.wordStarts(from))) return undefined;
    return { from, to };
  }
}

/** More than any text has letters. */
const ENDLESS = 0x7fff_ffff;

/** Where what stands before this place begins, when nothing of it is hidden yet. */
export function leadFrom(lead: RegExp, { text, hiddenTo }: Scan, at: number): number | undefined {
  lead.lastIndex = at;
  const from = at - (lead.exec(text)?.[1]?.length ?? text.length);
  return from < hiddenTo ? undefined : from;
}
