import { DASH, EQUALS, endsWith, ESCAPE_WIDTH, escapedAt, lettersOf, oneOf, SEMICOLON, standsAt } from "./letters.ts";
import { Mark } from "./mark.ts";
import { RUN, type Scan } from "./scan.ts";
import { looksMade } from "./values.ts";

export const COOKIE: Mark = new Mark("cookie");

/** Who says what cookies there are: whoever asks tells all of them, who answers tells one, and how long it is good. */
export type CookieHeader = "asked" | "answered";

/** Of a field that is called like one of the two headers. */
export function cookieHeader(name: string): CookieHeader | undefined {
  if (name.length !== "cookie".length && name.length !== "set-cookie".length) return undefined;
  const header = name.toLowerCase();
  return header === "cookie" ? "asked" : header === "set-cookie" ? "answered" : undefined;
}

/** Behind a name that ends here: `Cookie: a=b; c=d`, `cookie = "a=b"`, and as JSON writes it. */
export function cookieSecret(scan: Scan, end: number): boolean {
  const { letters } = scan;
  if (!endsWith(COOKIE_NAME, letters, end)) return false;
  let from = end;
  while (from - end < LONGEST_JOINT && JOINT[letters[from] as number] === 1) from += 1;
  // What joins them ends in what ends every pair: so no look at pairs walks past where the next one would begin.
  if (from === end || ENDS_JOINT[letters[from - 1] as number] === 0) return false;
  return cookieValues(scan, from, headerAt(scan, end));
}

/** As an address writes it: `Cookie%3A%20a%3Db%3B%20c%3Dd`. */
export function cookieInAddress(scan: Scan, mark: number): boolean {
  const { letters } = scan;
  if (!endsWith(COOKIE_NAME, letters, mark)) return false;
  const from = IN_ADDRESS.blanksEnd(letters, mark + ESCAPE_WIDTH);
  if (from === mark + ESCAPE_WIDTH) return false; // here, too, what joins them ends in what ends every pair
  return cookieValues(scan, from, headerAt(scan, mark), IN_ADDRESS);
}

function headerAt({ letters, hiddenTo }: Scan, end: number): CookieHeader {
  // A dash of something hidden is none any more.
  const dash = end - COOKIE_NAME.length - 2;
  return dash >= hiddenTo && letters[dash] === DASH ? "answered" : "asked";
}

/** From the first value that looks like a secret to the last. */
export function cookieValues(scan: Scan, start: number, header: CookieHeader, written: Pairs = PLAIN): boolean {
  const { letters } = scan;
  const { signAt, width } = written;
  let [first, last] = [-1, -1];
  for (let from = start; ; ) {
    const name = scan.runEnd(RUN.dotted, from);
    if (name === from || signAt(letters, name) !== EQUALS) break;
    const value = name + width;
    const to = written.valueEnd(scan, value);
    if (looksMade(scan, value, to)) {
      if (first === -1) first = value;
      last = to;
    }
    if (header === "answered" || signAt(letters, to) !== SEMICOLON) break;
    from = written.blanksEnd(letters, to + width);
  }
  return first !== -1 && scan.tell(first, last);
}

/** How pairs are written. */
interface Pairs {
  /** The sign that stands here, and how many letters it takes. */
  readonly signAt: (letters: Uint8Array, at: number) => number | undefined;
  readonly width: number;
  readonly valueEnd: (scan: Scan, from: number) => number;
  readonly blanksEnd: (letters: Uint8Array, from: number) => number;
}

const PLAIN: Pairs = {
  signAt: (letters, at) => letters[at],
  width: 1,
  valueEnd: (scan, from) => scan.runEnd(RUN.cookie, from),
  blanksEnd: (letters, from) => {
    let to = from;
    while (BLANKS[letters[to] as number] === 1) to += 1;
    return to;
  },
};

const IN_ADDRESS: Pairs = {
  signAt: escapedAt,
  width: ESCAPE_WIDTH,
  valueEnd: (scan, from) => {
    let to = scan.runEnd(RUN.escapedUser, from);
    while (GOES_ON[escapedAt(scan.letters, to)] === 1) to = scan.runEnd(RUN.escapedUser, to + ESCAPE_WIDTH);
    return to;
  },
  blanksEnd: (letters, from) => {
    for (let to = from; ; ) {
      const blank = ESCAPED_BLANKS.find((one) => standsAt(one, letters, to));
      if (blank === undefined) return to;
      to += blank.length;
    }
  },
};

/** Of `Cookie` and of `cookie`. */
const COOKIE_NAME = lettersOf("ookie");
const LONGEST_JOINT = 16;
const JOINT = oneOf(" \t\\\"'`:=[");
const ENDS_JOINT = oneOf(" \t\"'`");
const BLANKS = oneOf(" \t");
const ESCAPED_BLANKS = ["%20", "+"].map(lettersOf);
/** What a value may hold and an address escapes. */
const GOES_ON = oneOf(":/+=|&@!$*()%");
