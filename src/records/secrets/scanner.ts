import { foreseeUrlPassword } from "./addresses.ts";
import { BEFORE_MARK, markedSecret } from "./assigned.ts";
import { elementSecret } from "./beside.ts";
import { type Candidate, ShapeCandidate, TextCandidate } from "./candidate.ts";
import { flagSecret, nextFlag } from "./commands.ts";
import { COOKIE, type CookieHeader, cookieValues } from "./cookies.ts";
import { DISCORD_TOKEN, discordToken, mayBeDiscordToken, SPECIALS } from "./forms.ts";
import { Heads } from "./heads.ts";
import { DASH, DOT, escapedHeads, exact, GREATER, inTwos, lettersInTwos, roughLetters } from "./letters.ts";
import { ASSIGNED_SECRET, Mark } from "./mark.ts";
import { ENDLESS, Scan } from "./scan.ts";
import { SECRET_SHAPES, type SecretShape } from "./shapes.ts";

/**
 * Finds secrets in one pass: every place is looked at once, through a table of the first letters of all heads. What a
 * head promises is checked in bounded steps, or by a run that is walked once, however many heads lie in it; so no text,
 * whoever wrote it, takes more than its length.
 */
export class SecretScanner {
  /**
   * For every two letters, whether something may begin with them or right before them, or be marked by one of them: the one
   * question that is asked all along, at every second place.
   */
  readonly #concerns = new Uint8Array(TWOS);
  /** For every two letters, whether something may begin with them. */
  readonly #begins = new Uint8Array(PAIRS);
  /** For every three, by a hash of them, the same: asked where two do not tell enough. */
  readonly #beginsLonger = new Uint8Array(TRIPLES);
  readonly #heads = new Heads();
  /** Those of texts that are hidden wherever they stand. */
  readonly #texts = new Heads();
  readonly #shapes: boolean;

  constructor(options: { readonly shapes: boolean }) {
    this.#shapes = options.shapes;
    if (!options.shapes) return;
    for (const shape of SECRET_SHAPES) {
      const mark = new Mark(shape.name);
      for (const head of writtenHeads(shape)) this.#add(new ShapeCandidate(shape, head, mark));
    }
    for (const special of SPECIALS) this.#add(special);
    for (const mark of "=:.>") {
      const code = mark.charCodeAt(0);
      for (let beside = 0; beside < 128; beside += 1) {
        const pair = pairOf(code, beside);
        this.#begins[pair] = (this.#begins[pair] ?? 0) | MARK;
        this.#concern(code, beside);
        this.#concern(beside, code);
      }
    }
  }

  /** A text that is hidden wherever it stands. At least three characters long. */
  addText(text: string, mark: Mark): void {
    const candidate = new TextCandidate(text, mark);
    this.#add(candidate);
    this.#texts.add(candidate);
  }

  /** Tells of every place that must not be kept, from the first to the last. It may be all that a header says. */
  find(text: string, hide: (found: Scan) => void, header?: CookieHeader): void {
    if (text.length < SHORTEST) return;
    const letters = roughLetters(text);
    const twos = lettersInTwos(letters);
    let flag = this.#shapes ? nextFlag({ text, letters }, 0) : ENDLESS;
    let at = this.#mayBegin(letters, twos, 0, Math.min(flag, text.length));
    if (at === text.length && header === undefined) return; // in most texts nothing may
    const scan = new Scan(text, letters);
    if (header !== undefined && this.#shapes && cookieValues(scan, 0, header)) {
      scan.foresee(scan.from, scan.to, COOKIE);
      at = Math.min(at, scan.dueFrom);
    }
    while (at < text.length) {
      let next = at + 1;
      if (at === flag && flagSecret(scan, at)) scan.foresee(scan.from, scan.to, scan.mark);
      if (this.#secretAt(scan, at)) {
        const { from, to } = scan;
        next = to;
        hide(scan);
        scan.hideTo(to);
        foreseeUrlPassword(scan);
        this.#foreseeTexts(scan, twos, from, to);
      }
      // What was hidden may end between dashes: what is left of them is looked at as if nothing had stood before.
      if (flag < next || (next > at + 1 && letters[next] === DASH))
        flag = this.#shapes ? nextFlag(scan, next) : ENDLESS;
      at = this.#mayBegin(letters, twos, next, Math.min(scan.dueFrom, flag, text.length));
    }
  }

  /** Of a text that begins in what was hidden and goes on behind it, the rest must not be kept either. */
  #foreseeTexts(scan: Scan, twos: Uint16Array, from: number, to: number): void {
    if (this.#texts.isEmpty) return;
    const next = (after: number) => this.#mayBegin(scan.letters, twos, after + 1, to);
    for (let at = next(from); at < to; at = next(at))
      if (this.#texts.longest(scan, at) && scan.to > to) scan.foresee(to, scan.to, scan.mark);
  }

  /** The next place where a secret may begin, or be marked; the end when there is none. */
  #mayBegin(letters: Uint8Array, twos: Uint16Array, from: number, end: number): number {
    const concerns = this.#concerns;
    // What begins at an odd place is told by the two letters behind its first.
    for (let even = from & ~1; even <= end; even += 2) {
      if (concerns[twos[even >> 1] as number] === 0) continue;
      const last = Math.min(even + 1, end - 1);
      for (let at = Math.max(even - 1, from); at <= last; at += 1) if (this.#mayBeginAt(letters, at)) return at;
    }
    return end;
  }

  #mayBeginAt(letters: Uint8Array, at: number): boolean {
    const pair = pairOf(letters[at] as number, letters[at + 1] as number);
    const is = this.#begins[pair] as number;
    if ((is & HEAD) !== 0 && this.#beginsLonger[tripleOf(pair, letters[at + 2] as number)] !== 0) return true;
    return (is & MARK) !== 0 && mayMark(letters, at);
  }

  /** Whether a secret begins here; of one that was foreseen and one that begins here by itself, the longer. */
  #secretAt(scan: Scan, at: number): boolean {
    if (this.#beginsAt(scan, at) && (scan.dueFrom > at || scan.to >= scan.dueTo)) return true;
    if (scan.dueFrom !== at) return false;
    scan.mark = scan.dueMark;
    return scan.tell(at, scan.dueTo);
  }

  #beginsAt(scan: Scan, at: number): boolean {
    const { letters } = scan;
    const is = this.#begins[pairOf(letters[at] as number, letters[at + 1] as number)] as number;
    if ((is & HEAD) !== 0 && this.#heads.longest(scan, at)) return true;
    if ((is & MARK) === 0 || !mayMark(letters, at)) return false;
    if (letters[at] === DOT) return discordToken(scan, at);
    if (letters[at] !== GREATER) {
      if (markedSecret(scan, at)) scan.foresee(scan.from, scan.to, scan.mark);
    } else if (elementSecret(scan, at)) scan.foresee(scan.from, scan.to, ASSIGNED_SECRET);
    return false;
  }

  #add(candidate: Candidate): void {
    const { head } = candidate;
    this.#heads.add(candidate);
    this.#addBeginning(roughLetters(head));
    this.#addBeginning(exact(head, roughLetters(head)));
  }

  #addBeginning(letters: Uint8Array): void {
    const pair = pairOf(letters[0] as number, letters[1] as number);
    this.#begins[pair] = (this.#begins[pair] ?? 0) | HEAD;
    this.#beginsLonger[tripleOf(pair, letters[2] as number)] = 1;
    this.#concern(letters[0] as number, letters[1] as number);
    this.#concern(letters[1] as number, letters[2] as number);
  }

  /** The highest bit does not count: it makes no letter another one. */
  #concern(first: number, second: number): void {
    for (const one of [first & 127, first | 128])
      for (const other of [second & 127, second | 128]) this.#concerns[inTwos(one, other)] = 1;
  }

  /** Whether it knows secrets by how they look, and by what they are called. */
  get knowsShapes(): boolean {
    return this.#shapes;
  }
}

/** Marks stand everywhere, and few where they mark something: what stands beside them tells most apart. */
function mayMark(letters: Uint8Array, at: number): boolean {
  if (letters[at] === DOT) return mayBeDiscordToken(letters, at);
  return at > 0 && BEFORE_MARK[letters[at - 1] as number] === 1;
}

/** Two letters as one number. */
function pairOf(first: number, second: number): number {
  return ((first << 7) | (second & 127)) & (PAIRS - 1);
}

function tripleOf(pair: number, third: number): number {
  return (pair * 37 + (third & 127)) & (TRIPLES - 1);
}

/** As they are, and as an address writes them. */
function writtenHeads({ heads }: SecretShape): ReadonlySet<string> {
  return new Set([...heads, ...heads.flatMap(escapedHeads)]);
}

const TWOS = 256 * 256;
const PAIRS = 128 * 128;
const TRIPLES = 32_768;
const HEAD = 1;
const MARK = 2;
const SHORTEST = 6;

/** What stands in the place of secrets that nobody registered. */
export const KNOWN_MARKS: ReadonlySet<string> = new Set(
  [
    ...SECRET_SHAPES.map(({ name }) => new Mark(name)),
    ...SPECIALS.map(({ mark }) => mark),
    ASSIGNED_SECRET,
    COOKIE,
    DISCORD_TOKEN,
  ].map(({ text }) => text),
);
