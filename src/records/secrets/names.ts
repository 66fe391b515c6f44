import { trio, trios } from "./letters.ts";
import { isIn, RUN } from "./scan.ts";

/** What secrets are called. What is called `token` alone may as well be a place in a list that somebody wants to read on from. */
const NAMES: readonly string[] = [
  ..."password passwd passphrase pwd secret credential credentials".split(" "),
  ...joined("api secret access private signing encryption account master", "key keys"),
  ...joined("api auth access refresh bearer session id security deploy bot", "token"),
  ...joined("connection", "string"),
  ...joined("amz goog oss", "signature"),
];
/** As they end in the environment of a program, where they are written in capitals. */
const ENVIRONMENT_NAMES = "_TOKEN _PASS _PW _KEY_BASE _AUTH".split(" ");
const LONGEST_BEFORE = 57;

function joined(firsts: string, lasts: string): readonly string[] {
  return firsts
    .split(" ")
    .flatMap((first) => lasts.split(" ").flatMap((last) => ["", "_", ".", "-"].map((mark) => first + mark + last)));
}

/** Words, letter by letter from their ends: one look back at a text tells whether it ends with one of them. */
class Endings {
  /** For every row of the table and every letter the row that comes next; 0 for none. */
  readonly #next: Uint16Array;
  /** Of every row how long the word is that begins there; 0 for none. */
  readonly #lengths: Uint8Array;
  readonly #letters: Uint8Array;

  constructor(words: readonly string[], cases: "any" | "exact") {
    const most = words.reduce((sum, { length }) => sum + length, 1);
    this.#next = new Uint16Array(most * ALPHABET);
    this.#lengths = new Uint8Array(most);
    this.#letters = Uint8Array.from({ length: 256 }, (_, code) => {
      const letter = String.fromCharCode(code);
      return LETTERS.indexOf(cases === "any" && code < 128 ? letter.toUpperCase() : letter) + 1;
    });
    let rows = 1;
    for (const word of words) {
      let row = 0;
      for (let at = word.length - 1; at >= 0; at -= 1) {
        const place = row * ALPHABET + (this.#letters[word.charCodeAt(at)] as number);
        if (this.#next[place] === 0) this.#next[place] = rows++;
        row = this.#next[place] as number;
      }
      this.#lengths[row] = word.length;
    }
  }

  /** How long the shortest of the words is that ends here; 0 when none does. */
  lengthAt(letters: Uint8Array, end: number): number {
    const next = this.#next;
    let row = 0;
    for (let at = end - 1; at >= 0; at -= 1) {
      const letter = this.#letters[letters[at] as number] as number;
      row = letter === 0 ? 0 : (next[row * ALPHABET + letter] as number);
      if (row === 0) return 0;
      const length = this.#lengths[row] as number;
      if (length > 0) return length;
    }
    return 0;
  }
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_.-";
const ALPHABET = 32;
const SECRET_NAMES = new Endings(NAMES, "any");
const ENVIRONMENT = new Endings(ENVIRONMENT_NAMES, "exact");
/** Three letters tell most names apart. */
const ENDINGS = trios([...NAMES, ...ENVIRONMENT_NAMES].map((name) => name.slice(-3)));

/** Whether a name that says it is secret ends here. */
export function namesSecret(letters: Uint8Array, end: number, hiddenTo: number): boolean {
  return SECRET_NAMES.lengthAt(letters, end) > 0 || namesInEnvironment(letters, end, hiddenTo);
}

/** Whether one may end with these three letters. */
export function mayNameSecret(a: number, b: number, c: number): boolean {
  return ENDINGS[trio(a, b, c)] === 1;
}

/** A word of its own, all in capitals. Behind something hidden a word begins. */
function namesInEnvironment(letters: Uint8Array, end: number, hiddenTo: number): boolean {
  const length = ENVIRONMENT.lengthAt(letters, end);
  if (length === 0) return false;
  const to = end - length;
  let from = to;
  while (from > hiddenTo && to - from <= LONGEST_BEFORE && isIn(RUN.constant, letters[from - 1] as number)) from -= 1;
  if (from === to || to - from > LONGEST_BEFORE || !isIn(RUN.capital, letters[from] as number)) return false;
  return from === hiddenTo || !isIn(RUN.dotted, letters[from - 1] as number);
}
