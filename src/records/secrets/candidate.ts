import type { Mark } from "./mark.ts";
import { ENDLESS, formEnd, isIn, isMixed, RUN, type Scan } from "./scan.ts";
import type { Lead, SecretShape } from "./shapes.ts";

/** Something that may begin with this head. */
export interface Candidate {
  readonly head: string;
  readonly mark: Mark;
  /** Not asked for where none is near. */
  readonly needsDigit: boolean;
  /** Not asked for inside a word. */
  readonly startsWord: boolean;
  /** Whether it is there; the scan is told where. */
  find(scan: Scan, at: number): boolean;
}

/** A text that is hidden wherever it stands. */
export class TextCandidate implements Candidate {
  readonly head: string;
  readonly mark: Mark;
  readonly needsDigit = false;
  readonly startsWord = false;

  constructor(head: string, mark: Mark) {
    this.head = head;
    this.mark = mark;
  }

  find(scan: Scan, at: number): boolean {
    return scan.tell(at, at + this.head.length);
  }
}

/** A secret of a known shape, by one of its heads. */
export class ShapeCandidate implements Candidate {
  readonly head: string;
  readonly mark: Mark;
  readonly needsDigit: boolean;
  readonly startsWord: boolean;
  readonly #run: number;
  readonly #least: number;
  readonly #most: number;
  readonly #leadStartsWord: boolean;
  readonly #mixed: SecretShape["mixed"];
  readonly #form: RegExp | undefined;
  readonly #before: Lead | undefined;

  constructor(shape: SecretShape, head: string, mark: Mark) {
    this.head = head;
    this.mark = mark;
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

  find(scan: Scan, at: number): boolean {
    const start = at + this.head.length;
    if (!this.#mayBeThere(scan, start)) return false;
    const from = this.#before === undefined ? at : leadFrom(this.#before, scan, at);
    if (from === NOWHERE || (from < at && this.#leadStartsWord && !scan.wordStarts(from))) return false;
    const run = scan.runEnd(this.#run, start);
    if (run - start < this.#least) return false;
    const to = this.#form === undefined ? run : formEnd(this.#form, scan.text, start);
    if (to - start < this.#least || to - start > this.#most) return false;
    if (this.#most < ENDLESS && scan.goesOn(to)) return false;
    if (this.#mixed !== undefined && !isMixed(scan, start, to, this.#mixed === "cases")) return false;
    return scan.tell(from, to);
  }

  /** Whether the letters fit up to which it must reach: tells most that it is not there without walking to them. */
  #mayBeThere({ letters, text }: Scan, start: number): boolean {
    const end = start + this.#least;
    if (end > text.length) return false;
    for (let at = Math.max(start, end - LOOKED_AT); at < end; at += 1)
      if (!isIn(this.#run, letters[at] as number)) return false;
    return true;
  }
}

const NOWHERE = -1;
/** In so many letters in a row most of what only begins alike has one that does not fit. */
const LOOKED_AT = 4;

/** Where what stands before this place begins, when there is enough of it and nothing of it is hidden yet. */
function leadFrom({ of, least, most }: Lead, { letters, hiddenTo }: Scan, at: number): number {
  const kind = RUN[of];
  if (at - least < hiddenTo || !isIn(kind, letters[at - least] as number)) return NOWHERE;
  const first = Math.max(at - most, hiddenTo);
  let from = at;
  while (from > first && isIn(kind, letters[from - 1] as number)) from -= 1;
  return at - from < least ? NOWHERE : from;
}
