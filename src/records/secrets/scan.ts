import { BACKSLASH, BRACKET, CLOSING, COLON, exactOf, isNarrow, PERCENT, roughLetters } from "./letters.ts";
import { ASSIGNED_SECRET, type Mark } from "./mark.ts";
import type { Alphabet } from "./shapes.ts";

/** An address in which a password may stand. */
export interface Address {
  /** Where its user begins; nowhere when there is none. */
  user: number;
  /** From where on the user was not looked at yet, and how many letters it has before that, without what is hidden of it. */
  from: number;
  length: number;
}

/** A run of letters that may be the value of something. */
export interface Value {
  from: number;
  to: number;
  digits: number;
  /** One bit for each kind of run that all of its letters belong to. */
  kinds: number;
  /** Whether what stands behind it tells that it is none, and whether it ends with a word of a language. */
  isNone: boolean;
  endsLiteral: boolean;
}

/**
 * One text, and what is known of it so far: whatever is looked for from one place on is found for every place on the way
 * there, so that no text takes more than its length.
 */
export class Scan {
  readonly text: string;
  readonly letters: Uint8Array;
  /** Where the letters are not all there is to the text, all of it, two bytes for each. */
  readonly wide: Buffer | undefined;
  /** Right behind something hidden a word begins, as it will when the text is looked at again. */
  hiddenTo = 0;
  /**
   * What was found last: from where to where it must not be kept, and what is told in its stead. Fields, not an object of
   * its own: there may be as many as words.
   */
  from = 0;
  to = 0;
  mark: Mark = ASSIGNED_SECRET;
  /** What was told by something before it: what stands between the two is looked at first. */
  dueFrom = ENDLESS;
  dueTo = 0;
  dueMark: Mark = ASSIGNED_SECRET;
  /** The newest address, and the one before it. */
  address: Address = { user: ENDLESS, from: 0, length: 0 };
  otherAddress: Address = { user: ENDLESS, from: 0, length: 0 };
  /** For every kind of run two of them, from where to where: one that a place lies in, and one that is looked at ahead of it. */
  readonly #runs = RUNS.fill(0);
  /** From the first to the second place nothing begins that is said where a secret would stand; there, perhaps. */
  readonly noPlaceholder: { from: number; to: number; isThere: boolean } = { from: 0, to: 0, isThere: false };
  readonly value: Value = { from: 0, to: 0, digits: 0, kinds: 0, isNone: false, endsLiteral: false };
  #keyEnd: readonly [from: number, to: number] = [0, -1];

  constructor(text: string, rough: Uint8Array = roughLetters(text)) {
    this.text = text;
    this.wide = isNarrow(text) ? undefined : Buffer.from(text, "utf16le");
    this.letters = this.wide === undefined ? rough : exactOf(this.wide, rough);
  }

  /** Where the run of characters that holds this place ends. */
  runEnd(kind: number, at: number): number {
    const runs = this.#runs;
    const slot = kind * RUN_WIDTH;
    if (at >= (runs[slot] as number) && at < (runs[slot + 1] as number)) return runs[slot + 1] as number;
    if (at >= (runs[slot + 2] as number) && at < (runs[slot + 3] as number)) return runs[slot + 3] as number;
    const { letters } = this;
    const end = this.text.length;
    const mask = 1 << kind;
    let to = at;
    while (to < end && ((MEMBERSHIP[letters[to] as number] as number) & mask) !== 0) to += 1;
    if (to === at) return at; // nothing worth remembering
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
    return this.letters[at] === BRACKET && this.text.startsWith(HIDDEN, at);
  }

  /** Something was found here. */
  tell(from: number, to: number): true {
    this.from = from;
    this.to = to;
    return true;
  }

  /** Something will be found there, and be hidden even if it looks like nothing by itself. */
  foresee(from: number, to: number, mark: Mark): void {
    if (from < this.dueFrom) {
      this.dueFrom = from;
      this.dueMark = mark;
    }
    this.dueTo = Math.max(to, this.dueTo);
  }

  /** Up to here it is hidden. What was foreseen may be hidden with it, or half of it. */
  hideTo(to: number): void {
    this.hiddenTo = to;
    if (this.dueFrom >= to) return;
    this.dueFrom = this.dueTo > to ? to : ENDLESS;
    if (this.dueFrom === ENDLESS) this.dueTo = 0;
  }

  /** When this is the colon of a mark, where that ends; otherwise the same place. */
  markEnd(colon: number): number {
    const { letters } = this;
    if (letters[colon - 1] !== LAST_OF_HIDDEN || letters[colon] !== COLON) return colon;
    if (!this.text.startsWith(HIDDEN, colon + 1 - HIDDEN.length)) return colon;
    const end = this.runEnd(RUN.dotted, colon + 1);
    return end > colon + 1 && letters[end] === CLOSING ? end + 1 : colon;
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
    const before = this.letters[at - 1] as number;
    if (!isIn(RUN.name, before)) return true;
    return this.#mayBeEscape(at, before) && holdsAt(ESCAPED, this.text, at);
  }

  /** Most words are none, and are told apart by a look at the one letter that escapes have. */
  #mayBeEscape(at: number, before: number): boolean {
    const { letters } = this;
    if (at < LONGEST_ESCAPE) return true;
    if (letters[at - 2] === BACKSLASH || letters[at - 3] === PERCENT || before === SMALL_M) return true;
    return letters[at - 4] === BACKSLASH || letters[at - 6] === BACKSLASH;
  }
}

/** Whether it has digits and letters, of both cases if need be. Looks at the beginning only, which is enough to tell. */
export function isMixed(scan: Scan, from: number, to: number, cases: boolean): boolean {
  const end = Math.min(to, from + 64);
  if (scan.runEnd(RUN.noDigit, from) >= end) return false;
  const upper = scan.runEnd(RUN.noCapital, from) < end;
  const lower = scan.runEnd(RUN.noSmall, from) < end;
  return cases ? upper && lower : upper || lower;
}

/** Where a form that is bounded in length ends, or where it should have begun. */
export function formEnd(form: RegExp, text: string, at: number): number {
  form.lastIndex = at;
  return form.test(text) ? form.lastIndex : at;
}

/** Whether a form holds at this place; it may look back from there. */
export function holdsAt(form: RegExp, text: string, at: number): boolean {
  form.lastIndex = at;
  return form.test(text);
}

/** More than any text has letters. */
export const ENDLESS = 0x7fff_ffff;
const HIDDEN = "[redacted:";
const LAST_OF_HIDDEN = "d".charCodeAt(0);
const SMALL_M = "m".charCodeAt(0);
const LONGEST_ESCAPE = 6;
/** `\n`, `%3D`, `\u003d`, and what colours a terminal. */
// oxlint-disable-next-line no-control-regex -- terminals are coloured by it
const ESCAPED = /(?<=\\[nrtbfv]|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\u001b\[[\d;]{0,4}m)/y;

/** Every kind of run by its number, which is its bit. */
export const RUN = {
  letters: 0,
  word: 1,
  hex: 2,
  capitals: 3,
  base64: 4,
  dotted: 5,
  value: 6,
  name: 7,
  key: 8,
  noDigit: 9,
  noCapital: 10,
  noSmall: 11,
  user: 12,
  password: 13,
  escapedUser: 14,
  escapedPassword: 15,
  digits: 16,
  smallHex: 17,
  client: 18,
  capital: 19,
  constant: 20,
  nameStart: 21,
  cookie: 22,
  signature: 23,
  content: 24,
  data: 25,
} as const satisfies Readonly<Record<Alphabet, number>> & Readonly<Record<string, number>>;
const KINDS = Object.keys(RUN) as readonly (keyof typeof RUN)[];

/** What runs are made of. */
const MEMBERS = {
  letters: /[A-Za-z0-9]/,
  word: /[\w-]/,
  hex: /[0-9a-fA-F]/,
  capitals: /[A-Z2-7]/,
  base64: /[\w+/=%-]/, // in an address some of it is written with percent signs
  dotted: /[\w.-]/,
  /** What may stand in a value that is assigned to a name. */
  // oxlint-disable-next-line no-control-regex -- no value holds them
  value: /[^\s"'`,;&<>(){}[\]\\|\u0000-\u001f\u0080-\u00ff]/,
  /** A word, or a name in code. */
  name: /\w/,
  /** What a line of a private key is made of, and what ends it: in a text, in JSON, in an address. */
  key: /[A-Za-z0-9+/=\s:,.%\\-]/,
  noDigit: /\D/,
  noCapital: /[^A-Z]/,
  noSmall: /[^a-z]/,
  /** What stands in an address before the password, and in it; and in an address in an address. */
  user: /[^\s/?#@:"'<>\\]/,
  password: /[^\s/?#@"'<>\\]/,
  escapedUser: /[\w.~-]/,
  escapedPassword: /[\w.~!*'()-]/,
  /** What stands before some heads. */
  digits: /\d/,
  smallHex: /[0-9a-f]/,
  client: /[A-Za-z0-9_~.]/,
  /** How constants are written, and what they begin with; and names in code. */
  capital: /[A-Z]/,
  constant: /[A-Z0-9_]/,
  nameStart: /[A-Za-z_]/,
  /** The value of a cookie, what signs an address, and what stands between two tags; a mark ends each of them. */
  // oxlint-disable-next-line no-control-regex -- no cookie holds them
  cookie: /[^\s"'`,;<>[\]\\\u0000-\u001f\u0080-\u00ff]/,
  signature: /[\w.~%+/=-]/,
  content: /[^\s<>[\]\\]/,
  /** The same where markup says that none of it is. */
  data: /[^\s[\]\\]/,
} satisfies Readonly<Record<keyof typeof RUN, RegExp>>;
const RUN_WIDTH = 4;
/** One for all: a text is looked through to its end before the next one is. */
const RUNS = new Int32Array(KINDS.length * RUN_WIDTH);
/** For every letter one bit for each kind of run it belongs to. */
const MEMBERSHIP: Int32Array = Int32Array.from({ length: 256 }, (_, code) => {
  const character = String.fromCharCode(code);
  return KINDS.reduce((mask, kind) => (MEMBERS[kind].test(character) ? mask | (1 << RUN[kind]) : mask), 0);
});

/** One bit for each kind of run that a letter belongs to. */
export function kindsOf(letter: number): number {
  return MEMBERSHIP[letter] as number;
}

/** Whether a letter may stand in a run of this kind. */
export function isIn(kind: number, letter: number): boolean {
  return ((MEMBERSHIP[letter] as number) & (1 << kind)) !== 0;
}
