import { DASH, EQUALS, endsWith, lettersOf, oneOf, SEMICOLON } from "./letters.ts";
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
  // A dash of something hidden is none any more.
  const dash = end - COOKIE_NAME.length - 2;
  const isAnswer = dash >= scan.hiddenTo && letters[dash] === DASH;
  return cookieValues(scan, from, isAnswer ? "answered" : "asked");
}

/** From the first value that looks like a secret to the last. */
export function cookieValues(scan: Scan, start: number, header: CookieHeader): boolean {
  const { letters } = scan;
  let [first, last] = [-1, -1];
  for (let from = start; ; ) {
    const name = scan.runEnd(RUN.dotted, from);
    if (name === from || letters[name] !== EQUALS) break;
    const to = scan.runEnd(RUN.cookie, name + 1);
    if (looksMade(scan, name + 1, to)) {
      if (first === -1) first = name + 1;
      last = to;
    }
    if (header === "answered" || letters[to] !== SEMICOLON) break;
    from = to + 1;
    while (BLANKS[letters[from] as number] === 1) from += 1;
  }
  return first !== -1 && scan.tell(first, last);
}

/** Of `Cookie` and of `cookie`. */
const COOKIE_NAME = lettersOf("ookie");
const LONGEST_JOINT = 16;
const JOINT = oneOf(" \t\\\"'`:=[");
const ENDS_JOINT = oneOf(" \t\"'`");
const BLANKS = oneOf(" \t");
