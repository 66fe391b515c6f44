import { assignedSecret, BEFORE_MARK } from "./assigned.ts";
import { type Candidate, candidateOf, type Hidden } from "./candidate.ts";
import { discordToken, SPECIALS } from "./forms.ts";
import { Scan } from "./scan.ts";
import { SECRET_SHAPES, type SecretShape } from "./shapes.ts";

/**
 * Finds secrets in one pass: every place is looked at once, through a table of the first letters of all heads. What a
 * head promises is checked in bounded steps, or by a run that is walked once, however many heads lie in it; so no text,
 * whoever wrote it, takes more than its length.
 */
export class SecretScanner {
  readonly #first = new Uint8Array(128);
  /** For every two letters, whether something may begin with them: the one question that every place is asked. */
  readonly #begins = new Uint8Array(128 * 128);
  /** For every three letters, by a hash of them, which of the lists below holds what begins with them; 0 for none. */
  readonly #heads = new Uint16Array(TRIPLES);
  readonly #lists: Begun[][] = [[]];
  readonly #shapes: boolean;

  constructor(options: { readonly shapes: boolean }) {
    this.#shapes = options.shapes;
    if (!options.shapes) return;
    for (const shape of SECRET_SHAPES) for (const head of writtenHeads(shape)) this.#add(candidateOf(shape, head));
    for (const special of SPECIALS) this.#add(special);
    for (const mark of "=:.") {
      const code = mark.charCodeAt(0);
      this.#first[code] = (this.#first[code] ?? 0) | MARK;
      for (let pair = code << 7; pair < (code + 1) << 7; pair += 1)
        this.#begins[pair] = (this.#begins[pair] ?? 0) | MARK;
    }
  }

  /** A text that is hidden wherever it stands. At least three characters long. */
  addText(text: string, name: string): void {
    this.#add({ head: text, name, find: (_scan, at) => ({ from: at, to: at + text.length }) });
  }

  find(text: string): readonly Hidden[] {
    const hidden: Hidden[] = [];
    if (text.length < SHORTEST) return hidden;
    let scan: Scan | undefined; // made when something may begin: in most texts nothing does
    const letters = lettersOf(text);
    const begins = this.#begins;
    const heads = this.#heads;
    const end = text.length;
    let pair = (letters[0] as number) & 127;
    for (let at = 0; at < end; ) {
      pair = ((pair << 7) | ((letters[at + 1] as number) & 127)) & 16_383;
      const is = begins[pair] as number;
      const may =
        is !== 0 &&
        (((is & HEAD) !== 0 && heads[tripleOf(pair, (letters[at + 2] as number) & 127)] !== 0) ||
          ((is & MARK) !== 0 && mayMark(letters, at)));
      const found = may ? this.#at((scan ??= new Scan(text)), at) : undefined;
      if (scan === undefined || found === undefined) {
        at += 1;
        continue;
      }
      hidden.push(found);
      scan.hiddenTo = found.to;
      at = found.to;
      pair = (letters[at] as number) & 127;
    }
    return hidden;
  }

  #at(scan: Scan, at: number): Hidden | undefined {
    const code = scan.text.charCodeAt(at) & 127;
    const is = this.#first[code] as number;
    const begun = (is & HEAD) === 0 ? undefined : this.#begun(scan, at);
    if (begun !== undefined || (is & MARK) === 0) return begun;
    if (code === DOT) return discordToken(scan, at);
    const value = assignedSecret(scan, at);
    if (value === undefined) return undefined;
    const told = this.#begun(scan, value.from);
    return told?.from === value.from && told.to >= value.to ? told : { ...value, name: "assigned-secret" };
  }

  /** The longest that begins here. */
  #begun(scan: Scan, at: number): Hidden | undefined {
    const { text } = scan;
    const third = text.charCodeAt(at + 2);
    const pair = ((text.charCodeAt(at) & 127) << 7) | (text.charCodeAt(at + 1) & 127);
    const list = this.#heads[tripleOf(pair, third & 127)] as number;
    if (list === 0) return undefined;
    const fourth = text.charCodeAt(at + 3);
    let longest: Hidden | undefined;
    for (const begun of this.#lists[list] as Begun[]) {
      // Compared as numbers first: most that begin alike go on otherwise.
      if (begun.third !== third || (begun.fourth !== fourth && begun.fourth !== -1)) continue;
      const { candidate } = begun;
      if (!text.startsWith(candidate.head, at)) continue;
      const found = candidate.find(scan, at);
      if (found !== undefined && found.to > (longest?.to ?? 0)) longest = { name: candidate.name, ...found };
    }
    return longest;
  }

  #add(candidate: Candidate): void {
    const { head } = candidate;
    const first = head.charCodeAt(0) & 127;
    const both = (first << 7) | (head.charCodeAt(1) & 127);
    this.#first[first] = (this.#first[first] ?? 0) | HEAD;
    this.#begins[both] = (this.#begins[both] ?? 0) | HEAD;
    const triple = tripleOf(both, head.charCodeAt(2) & 127);
    if (this.#heads[triple] === 0) this.#heads[triple] = this.#lists.push([]) - 1;
    const begun = { candidate, third: head.charCodeAt(2), fourth: head.length > 3 ? head.charCodeAt(3) : -1 };
    this.#lists[this.#heads[triple] as number]?.push(begun);
  }

  /** Whether it knows secrets by how they look, and by what they are called. */
  get knowsShapes(): boolean {
    return this.#shapes;
  }
}

/** Marks stand everywhere, and few where they mark something: what stands beside them tells most apart. */
function mayMark(letters: Uint8Array, at: number): boolean {
  if (letters[at] !== DOT) return BEFORE_MARK[letters[at - 1] as number] === 1;
  if (letters[at + 7] !== DOT || !isWordByte(letters[at - 1])) return false;
  for (let back = 23; back <= 28; back += 1) {
    const code = letters[at - back];
    if (code === CAPITAL_M || code === CAPITAL_M + 1 || code === CAPITAL_M + 2) return true;
  }
  return false;
}

function isWordByte(code: number | undefined): boolean {
  if (code === undefined || code > 122) return false;
  return code >= 97 || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95 || code === 45;
}

function tripleOf(pair: number, third: number): number {
  return (pair * 37 + third) & (TRIPLES - 1);
}

/** Of every letter its lower byte, one more than there are. Several times quicker to walk along than the text itself. */
function lettersOf(text: string): Uint8Array {
  const letters = text.length < BENCH.length ? BENCH : Buffer.allocUnsafe(text.length + 1);
  letters.write(text, 0, "latin1");
  letters[text.length] = 0;
  return letters;
}

const BENCH: Buffer = Buffer.alloc(64 * 1024);

/** A candidate, and the letters by which it is told from its neighbours. */
interface Begun {
  readonly candidate: Candidate;
  readonly third: number;
  readonly fourth: number;
}

/** As they are, and as an address writes them. */
function writtenHeads({ heads }: SecretShape): ReadonlySet<string> {
  return new Set([...heads, ...heads.map(encodeURIComponent)]);
}

const TRIPLES = 32_768;
const HEAD = 1;
const MARK = 2;
const SHORTEST = 6;
const DOT = ".".charCodeAt(0);
const CAPITAL_M = "M".charCodeAt(0);
