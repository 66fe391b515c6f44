/** A set of characters: ranges of code points, or all but those. */
export interface CharSet {
  readonly ranges: readonly (readonly [from: number, to: number])[];
  readonly not: boolean;
}

export type Node =
  | { readonly is: "set"; readonly set: CharSet }
  | { readonly is: "place"; readonly place: "start" | "end" | "edge" | "inside" }
  | { readonly is: "one-after-another"; readonly nodes: readonly Node[] }
  | { readonly is: "either"; readonly nodes: readonly Node[] }
  | { readonly is: "times"; readonly node: Node; readonly least: number; readonly most: number };

/** What a pattern may not hold, in words. */
export class PatternError extends Error {}

const MOST_REPEATS = 1_000;
const DEEPEST = 100;

const DIGIT: CharSet["ranges"] = [[48, 57]];
const WORD: CharSet["ranges"] = [
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
];
const SPACE: CharSet["ranges"] = [
  [9, 13],
  [32, 32],
  [160, 160],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const CLASSES: Readonly<Record<string, CharSet>> = {
  d: { ranges: DIGIT, not: false },
  D: { ranges: DIGIT, not: true },
  w: { ranges: WORD, not: false },
  W: { ranges: WORD, not: true },
  s: { ranges: SPACE, not: false },
  S: { ranges: SPACE, not: true },
};
/** `[[:space:]]`: how grep and sed write it, and therefore many models. */
const NAMED: Readonly<Record<string, CharSet["ranges"]>> = {
  digit: DIGIT,
  word: WORD,
  space: SPACE,
  blank: ranges("\t\t  "),
  lower: ranges("az"),
  upper: ranges("AZ"),
  alpha: ranges("azAZ"),
  alnum: ranges("azAZ09"),
  xdigit: ranges("afAF09"),
  punct: ranges("!/:@[`{~"),
};
const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, "0": 0 };

/** Reads a regular expression. What cannot be matched in one pass, lookaround and backreferences, is refused by name. */
export function parsePattern(source: string): Node {
  return new Parser(source).whole();
}

class Parser {
  readonly #letters: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    this.#letters = Array.from(source);
  }

  whole(): Node {
    const node = this.#either();
    if (this.#at < this.#letters.length) throw new PatternError(`There is a ")" without its "(".`);
    return node;
  }

  get #next(): string | undefined {
    return this.#letters[this.#at];
  }

  #take(letter: string): boolean {
    if (this.#next !== letter) return false;
    this.#at += 1;
    return true;
  }

  #either(): Node {
    const nodes = [this.#sequence()];
    while (this.#take("|")) nodes.push(this.#sequence());
    return nodes.length === 1 ? (nodes[0] as Node) : { is: "either", nodes };
  }

  #sequence(): Node {
    const nodes: Node[] = [];
    while (this.#next !== undefined && this.#next !== "|" && this.#next !== ")")
      nodes.push(this.#repeated(this.#one()));
    return { is: "one-after-another", nodes };
  }

  #repeated(node: Node): Node {
    const times = this.#times();
    if (times === undefined) return node;
    this.#take("?"); // lazy or not: a line matches or does not
    if (this.#times() !== undefined) throw new PatternError("There is nothing to repeat before a *, +, ? or {}.");
    return { is: "times", node, ...times };
  }

  #times(): { readonly least: number; readonly most: number } | undefined {
    if (this.#take("*")) return { least: 0, most: Number.POSITIVE_INFINITY };
    if (this.#take("+")) return { least: 1, most: Number.POSITIVE_INFINITY };
    if (this.#take("?")) return { least: 0, most: 1 };
    const counted = /^\{(\d+)(?:(,)(\d*))?\}/.exec(this.#letters.slice(this.#at, this.#at + 16).join(""));
    if (counted === null) return undefined;
    const [all, from = "", comma, to = ""] = counted;
    const least = Number(from);
    const most = comma === undefined ? least : to === "" ? Number.POSITIVE_INFINITY : Number(to);
    if (least > MOST_REPEATS || (most !== Number.POSITIVE_INFINITY && (most > MOST_REPEATS || most < least)))
      throw new PatternError(`${all} is not a number of repeats up to ${MOST_REPEATS}.`);
    this.#at += all.length;
    return { least, most };
  }

  #one(): Node {
    const letter = this.#next ?? "";
    this.#at += 1;
    if (letter === "(") return this.#group();
    if (letter === "[") return { is: "set", set: this.#set() };
    if (letter === ".") return { is: "set", set: { ranges: [], not: true } };
    if (letter === "^") return { is: "place", place: "start" };
    if (letter === "$") return { is: "place", place: "end" };
    if (letter === "\\") return this.#escaped();
    if (letter === "*" || letter === "+" || letter === "?")
      throw new PatternError(`There is nothing to repeat before the "${letter}".`);
    return { is: "set", set: exactly(letter) };
  }

  #group(): Node {
    if (this.#take("?")) {
      const named = this.#letters.slice(this.#at).join("");
      if (/^<[A-Za-z_]\w*>/.test(named)) this.#at += named.indexOf(">") + 1;
      else if (!this.#take(":"))
        throw new PatternError("Lookahead, lookbehind and flags inside a pattern are not supported.");
    }
    this.#depth += 1;
    if (this.#depth > DEEPEST) throw new PatternError("The groups of the pattern are nested too deeply.");
    const node = this.#either();
    this.#depth -= 1;
    if (!this.#take(")")) throw new PatternError(`There is a "(" without its ")".`);
    return node;
  }

  #escaped(): Node {
    const letter = this.#next;
    if (letter === "b" || letter === "B") {
      this.#at += 1;
      return { is: "place", place: letter === "b" ? "edge" : "inside" };
    }
    if (letter !== undefined && (/[1-9]/.test(letter) || letter === "k"))
      throw new PatternError("Backreferences are not supported.");
    return { is: "set", set: this.#escapedSet() };
  }

  #escapedSet(): CharSet {
    const letter = this.#next;
    if (letter === undefined) throw new PatternError("The pattern ends in a backslash.");
    this.#at += 1;
    const known = Object.hasOwn(CLASSES, letter) ? CLASSES[letter] : undefined;
    if (known !== undefined) return known;
    if (letter === "p" || letter === "P") throw new PatternError("\\p{…} is not supported.");
    if (letter === "<" || letter === ">")
      throw new PatternError(`\\${letter} is not supported: \\b is the edge of a word, ${letter} the sign itself.`);
    const hex = /^(?:x([0-9a-f]{2})|u([0-9a-f]{4})|u\{([0-9a-f]{1,6})\})/i.exec(
      [letter, ...this.#letters.slice(this.#at, this.#at + 9)].join(""),
    );
    if (hex !== null) {
      this.#at += hex[0].length - 1;
      const code = Number.parseInt(hex[1] ?? hex[2] ?? hex[3] ?? "0", 16);
      return { ranges: [[code, code]], not: false };
    }
    const control = Object.hasOwn(CONTROLS, letter) ? CONTROLS[letter] : undefined;
    if (control !== undefined) return { ranges: [[control, control]], not: false };
    if (/[A-Za-z]/.test(letter)) throw new PatternError(`\\${letter} is not supported.`);
    return exactly(letter);
  }

  #set(): CharSet {
    const not = this.#take("^");
    const ranges: (readonly [number, number])[] = [];
    for (let first = true; ; first = false) {
      if (this.#next === undefined) throw new PatternError(`There is a "[" without its "]".`);
      if (!first && this.#take("]")) return { ranges, not };
      if (first && this.#next === "]" && this.#letters[this.#at + 1] === undefined)
        throw new PatternError(`There is a "[" without its "]".`);
      if (first && this.#take("]")) return { ranges, not };
      const low = this.#member();
      const isRange =
        this.#next === "-" && this.#letters[this.#at + 1] !== "]" && this.#letters[this.#at + 1] !== undefined;
      if (!isRange || low.length !== 1 || low[0]?.[0] !== low[0]?.[1]) {
        ranges.push(...low);
        continue;
      }
      this.#at += 1;
      const high = this.#member();
      const [from, to] = [low[0]?.[0] ?? 0, high[0]?.[1] ?? 0];
      if (high.length !== 1 || to < from) throw new PatternError("A range in [ ] runs backwards.");
      ranges.push([from, to]);
    }
  }

  #member(): CharSet["ranges"] {
    const [named, name = ""] = /^\[:(\w+):\]/.exec(this.#letters.slice(this.#at, this.#at + 16).join("")) ?? [];
    if (named !== undefined) {
      const known = Object.hasOwn(NAMED, name) ? NAMED[name] : undefined;
      if (known === undefined) throw new PatternError(`${named} is not supported.`);
      this.#at += named.length;
      return known;
    }
    if (!this.#take("\\")) {
      const code = this.#next?.codePointAt(0) ?? 0;
      this.#at += 1;
      return [[code, code]];
    }
    if (this.#take("b")) return [[8, 8]];
    const { ranges, not } = this.#escapedSet();
    return not ? allBut(ranges) : ranges;
  }
}

/** Ranges from a text of their first and last letters. */
function ranges(ends: string): CharSet["ranges"] {
  return (ends.match(/../gs) ?? []).map((pair) => [pair.charCodeAt(0), pair.charCodeAt(1)] as const);
}

function exactly(letter: string): CharSet {
  const code = letter.codePointAt(0) ?? 0;
  return { ranges: [[code, code]], not: false };
}

function allBut(ranges: CharSet["ranges"]): CharSet["ranges"] {
  const left: (readonly [number, number])[] = [];
  let from = 0;
  for (const [low, high] of ranges) {
    if (low > from) left.push([from, low - 1]);
    from = high + 1;
  }
  return [...left, [from, 0x10ffff]];
}
