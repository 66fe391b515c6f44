import type { Alphabet } from "./shapes.ts";

/** What may stand in a value that is assigned to a name. */
type Run = Alphabet | "value";

/** A place, and the place that was found from it: in numbers, because they are asked for at every second letter. */
const PAIR = 2;

/**
 * One text, and what is known of it so far: whatever is looked for from one place on is found for every place on the way
 * there, so that no text takes more than its length.
 */
export class Scan {
  readonly text: string;
  /** Right behind something hidden a word begins, as it will when the text is looked at again. */
  hiddenTo = 0;
  /** For every alphabet two runs, from where to where: one that a place lies in, and one that is looked at ahead of it. */
  readonly #runs = new Int32Array(ALPHABETS * 2 * PAIR);
  readonly #next = new Int32Array(NEXT.length * PAIR).fill(-1);
  #keyEnd: readonly [from: number, to: number] = [0, -1];

  constructor(text: string) {
    this.text = text;
  }

  /** Where the run of characters that holds this place ends. */
  runEnd(alphabet: Run, at: number): number {
    const runs = this.#runs;
    const bit = BIT[alphabet];
    const slot = bit * 2 * PAIR;
    if (at >= (runs[slot] as number) && at < (runs[slot + 1] as number)) return runs[slot + 1] as number;
    if (at >= (runs[slot + 2] as number) && at < (runs[slot + 3] as number)) return runs[slot + 3] as number;
    const mask = 1 << bit;
    const { text } = this;
    let to = at;
    for (; to < text.length; to += 1) {
      const code = text.charCodeAt(to);
      if (code > 127 || ((MEMBERSHIP[code] as number) & mask) === 0) break;
    }
    runs[slot + 2] = runs[slot] as number;
    runs[slot + 3] = runs[slot + 1] as number;
    runs[slot] = at;
    runs[slot + 1] = to;
    return to;
  }

  /**
   * Whether what ends here went on before something in it was hidden. It was judged then, whole; cut off, it might be taken
   * for a secret, and the next look would cut off the one before it, and so on to the beginning of the text.
   */
  goesOn(at: number): boolean {
    return this.text.startsWith(HIDDEN, at);
  }

  /** Where the next character of a kind is, or the end. */
  next(kind: Next, from: number): number {
    const [least, most, slot] = CODES[kind];
    const known = this.#next;
    if ((known[slot] as number) !== -1 && from >= (known[slot] as number) && from <= (known[slot + 1] as number))
      return known[slot + 1] as number;
    const { text } = this;
    let to = from;
    for (; to < text.length; to += 1) {
      const code = text.charCodeAt(to);
      if (code >= least && code <= most) break;
    }
    known[slot] = from;
    known[slot + 1] = to;
    return to;
  }

  /** Where the next private key ends, or -1. */
  keyEnd(at: number): number {
    const [from, to] = this.#keyEnd;
    if (from > 0 && at >= from && (to === -1 || at <= to)) return to;
    const found = this.text.indexOf("-----END", at);
    this.#keyEnd = [at, found];
    return found;
  }

  /** Whether a word may begin here. Escapes of the text around a secret end in letters that are none of its own. */
  wordStarts(at: number): boolean {
    if (at === 0 || at === this.hiddenTo) return true;
    const before = this.text.charCodeAt(at - 1);
    if (!isWord(before)) return true;
    return this.#mayBeEscape(at, before) && ESCAPED.test(this.text.slice(Math.max(0, at - 8), at));
  }

  /** Most words are none, and are told apart without cutting anything out of the text. */
  #mayBeEscape(at: number, before: number): boolean {
    const { text } = this;
    if (text.charCodeAt(at - 2) === BACKSLASH || text.charCodeAt(at - 3) === PERCENT || before === SMALL_M) return true;
    return text.charCodeAt(at - 4) === BACKSLASH || text.charCodeAt(at - 6) === BACKSLASH;
  }
}

/** Whether it has digits and letters, of both cases if need be. Looks at the beginning only, which is enough to tell. */
export function isMixed(scan: Scan, from: number, to: number, cases: boolean): boolean {
  const end = Math.min(to, from + 64);
  if (scan.next("digit", from) >= end) return false;
  const upper = scan.next("upper", from) < end;
  const lower = scan.next("lower", from) < end;
  return cases ? upper && lower : upper || lower;
}

/** Where a form that is bounded in length ends, or where it should have begun. */
export function formEnd(form: RegExp, text: string, at: number): number {
  form.lastIndex = at;
  return form.test(text) ? form.lastIndex : at;
}

type Next = (typeof NEXT)[number];
const NEXT = ["digit", "upper", "lower"] as const;
const CODES: Readonly<Record<Next, readonly [least: number, most: number, slot: number]>> = {
  digit: [48, 57, 0],
  upper: [65, 90, PAIR],
  lower: [97, 122, 2 * PAIR],
};

const HIDDEN = "[redacted:";
const BACKSLASH = "\\".charCodeAt(0);
const PERCENT = "%".charCodeAt(0);
const SMALL_M = "m".charCodeAt(0);
/** `\n`, `%3D`, `\u003d`, and what colours a terminal. */
// oxlint-disable-next-line no-control-regex -- terminals are coloured by it
const ESCAPED = /(?:\\[nrtbfv]|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\u001b\[[\d;]{0,4}m)$/;

const MEMBERS: Readonly<Record<Run, RegExp>> = {
  letters: /[A-Za-z0-9]/,
  word: /[\w-]/,
  hex: /[0-9a-fA-F]/,
  capitals: /[A-Z2-7]/,
  base64: /[\w+/=%-]/, // in an address some of it is written with percent signs
  dotted: /[\w.-]/,
  // oxlint-disable-next-line no-control-regex -- no value holds them
  value: /[^\s"'`,;&<>(){}[\]\\|\u0000-\u001f]/,
};
const RUNS = Object.keys(MEMBERS) as readonly Run[];
const ALPHABETS = RUNS.length;
const BIT = Object.fromEntries(RUNS.map((run, bit) => [run, bit])) as Readonly<Record<Run, number>>;
/** For every character one bit for each alphabet it belongs to. */
const MEMBERSHIP: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return RUNS.reduce((mask, run, bit) => (MEMBERS[run].test(character) ? mask | (1 << bit) : mask), 0);
});

function isWord(code: number): boolean {
  return code < 128 && (((MEMBERSHIP[code] as number) & 1) !== 0 || code === 95);
}
