import { AT, BRACKET, COLON, EQUALS, endsWith, lettersOf, oneOf, PERCENT, standsAt } from "./letters.ts";
import { Mark } from "./mark.ts";
import { ENDLESS, isIn, isMixed, RUN, type Scan } from "./scan.ts";

const [LONGEST_USER, LONGEST_PASSWORD] = [256, 512];
export const URL_PASSWORD: Mark = new Mark("url-password");
export const URL_TOKEN: Mark = new Mark("url-token");
export const URL_SIGNATURE: Mark = new Mark("url-signature");

/** What stands where a password would. */
const NO_PASSWORD = /^(?:\$|<|\{|%7B|\*+$|x+$|password$|pass$)|\[redacted:/i;
const NO_PASSWORD_BEGINS = oneOf("$<{%*xXpP");

/** `scheme://user:password@host`: the password alone. */
export function urlPassword(scan: Scan, at: number): boolean {
  takeOtherAddress(scan);
  const { address } = scan;
  address.user = at + "://".length;
  address.from = address.user;
  address.length = 0;
  return passwordOf(scan);
}

/**
 * The same, for an address in whose user something was just hidden: a letter of it may have ended the user before its time,
 * and the mark that stands there now does not.
 */
export function foreseeUrlPassword(scan: Scan): void {
  const { from, to } = scan;
  if (from < scan.address.user) {
    // There is none; or how it began is hidden, so that it is none, and the one before it goes on.
    scan.address.user = ENDLESS;
    if (from < scan.otherAddress.user) return;
    takeOtherAddress(scan);
  }
  const { address } = scan;
  if (from < address.from) address.length -= to - from;
  else if (scan.runEnd(RUN.user, address.from) >= from) address.length += from - address.from;
  else address.user = ENDLESS;
  address.from = Math.max(address.from, to);
  if (address.user !== ENDLESS && passwordOf(scan)) scan.foresee(scan.from, scan.to, URL_PASSWORD);
}

function takeOtherAddress(scan: Scan): void {
  const { address } = scan;
  scan.address = scan.otherAddress;
  scan.otherAddress = address;
}

function passwordOf(scan: Scan): boolean {
  const { address, letters } = scan;
  let colon = scan.runEnd(RUN.user, address.from);
  for (let mark = scan.markEnd(colon); mark > colon; mark = scan.markEnd(colon)) {
    address.length += colon - "[redacted".length - address.from;
    address.from = mark;
    colon = scan.runEnd(RUN.user, mark);
  }
  if (letters[colon] !== COLON || address.length + colon - address.from > LONGEST_USER) return false;
  const from = colon + 1;
  const to = scan.runEnd(RUN.password, from);
  return letters[to] === AT && isPassword(scan, from, to, to - from) && scan.tell(from, to);
}

/** `scheme%3A%2F%2Fuser%3Apassword%40host`. As in an address itself no slash stands in it: the next one ends the look at this. */
export function escapedUrlPassword(scan: Scan, at: number): boolean {
  const { letters } = scan;
  const user = at + "%3A%2F%2F".length;
  const colon = scan.runEnd(RUN.escapedUser, user);
  if (colon - user > LONGEST_USER || !standsAt(ESCAPED_COLON, letters, colon)) return false;
  const from = colon + ESCAPED_COLON.length;
  let to = from;
  let length = 0;
  for (let width = widthAt(letters, to); width > 0 && length <= LONGEST_PASSWORD; width = widthAt(letters, to)) {
    to += width;
    length += 1;
  }
  return standsAt(ESCAPED_AT, letters, to) && isPassword(scan, from, to, length) && scan.tell(from, to);
}

/** How many letters the next character of a password takes that is written so; 0 where it ends. */
function widthAt(letters: Uint8Array, at: number, ends: ReadonlySet<number> = ENDS): number {
  if (isIn(RUN.escapedPassword, letters[at] as number)) return 1;
  if (letters[at] !== PERCENT) return 0;
  const first = letters[at + 1] as number;
  const second = letters[at + 2] as number;
  if (ESCAPE[first] === 0 || ESCAPE[second] === 0) return 0;
  return ends.has((first << 8) | second) ? 0 : 3;
}

const ESCAPED_COLON = lettersOf("%3A");
const ESCAPED_AT = lettersOf("%40");
const ESCAPE = oneOf("0123456789ABCDEF");
/** `@`, `/`, `?` and `#`. */
const ENDS = endsOf("40 2F 3F 23");
/** `&`, `?`, `#`, a blank, a quote and the end of a line. */
const ENDS_SIGNATURE = endsOf("26 3F 23 20 22 27 0A 0D");

function endsOf(escapes: string): ReadonlySet<number> {
  return new Set(escapes.split(" ").map((end) => (end.charCodeAt(0) << 8) | end.charCodeAt(1)));
}

/** `scheme://token@host`: a user that nobody chose, and that opens the door without a password. */
export function urlToken(scan: Scan, at: number): boolean {
  const from = at + "://".length;
  const to = scan.runEnd(RUN.user, from);
  return scan.letters[to] === AT && isToken(scan, from, to) && scan.tell(from, to);
}

export function escapedUrlToken(scan: Scan, at: number): boolean {
  const from = at + "%3A%2F%2F".length;
  const to = scan.runEnd(RUN.escapedUser, from);
  return standsAt(ESCAPED_AT, scan.letters, to) && isToken(scan, from, to) && scan.tell(from, to);
}

/** Users have names, and numbers behind them; what chance makes has a long run of letters with digits among them. */
function isToken(scan: Scan, from: number, to: number): boolean {
  if (to - from < SHORTEST_TOKEN || to - from > LONGEST_USER) return false;
  const digit = scan.runEnd(RUN.noDigit, from);
  const next = scan.runEnd(RUN.noDigit, digit + 1);
  if (digit >= to || next >= to) return false;
  const letters = Math.min(scan.runEnd(RUN.noSmall, digit), scan.runEnd(RUN.noCapital, digit));
  return letters < to && hasLongRun(scan, from, to);
}

function hasLongRun(scan: Scan, from: number, to: number): boolean {
  for (let at = from; at < to; ) {
    const end = scan.runEnd(RUN.letters, at);
    if (end - at >= SHORTEST_TOKEN) return true;
    at = end + 1;
  }
  return false;
}

const SHORTEST_TOKEN = 20;

/** `?sig=…`, `&Signature=…`: what signs an address, at its `=`. Whoever has it is let in, for as long as it is good. */
export function urlSignature(scan: Scan, mark: number): boolean {
  const { letters } = scan;
  const from = mark + 1;
  if (letters[mark] !== EQUALS || !isParameter(letters, mark, BEFORE_PARAMETER)) return false;
  const to = scan.runEnd(RUN.signature, from);
  return isSignature(scan, from, to) && scan.tell(from, to);
}

/** The same in an address in an address. The next parameter ends it, so that nothing is walked twice. */
export function escapedUrlSignature(scan: Scan, mark: number): boolean {
  const { letters } = scan;
  if (!isParameter(letters, mark, BEFORE_ESCAPED_PARAMETER)) return false;
  const from = mark + "%3D".length;
  let to = from;
  for (let width = widthAt(letters, to, ENDS_SIGNATURE); width > 0; width = widthAt(letters, to, ENDS_SIGNATURE))
    to += width;
  return isSignature(scan, from, to) && scan.tell(from, to);
}

/** Whether all of a parameter's name says that it is a signature. */
function isParameter(letters: Uint8Array, end: number, befores: readonly Uint8Array[]): boolean {
  const name = SIGNATURES.find((one) => endsWith(one, letters, end));
  return name !== undefined && befores.some((before) => endsWith(before, letters, end - name.length));
}

const SIGNATURES = ["sig", "Signature", "signature"].map(lettersOf);
/** As it is, as markup writes it, and as JSON does that is fit for markup. */
const BEFORE_PARAMETER = ["?", "&", "&amp;", "\\u0026"].map(lettersOf);
const BEFORE_ESCAPED_PARAMETER = ["%3F", "%26"].map(lettersOf);

function isSignature(scan: Scan, from: number, to: number): boolean {
  return to - from >= SHORTEST_SIGNATURE && isMixed(scan, from, to, false);
}

const SHORTEST_SIGNATURE = 24;

function isPassword({ letters, text }: Scan, from: number, to: number, length: number): boolean {
  if (length < 1 || length > LONGEST_PASSWORD) return false;
  return !mayBeNone(letters, from, to) || !NO_PASSWORD.test(text.slice(from, to));
}

/** Told by a letter, for most. */
function mayBeNone(letters: Uint8Array, from: number, to: number): boolean {
  if (NO_PASSWORD_BEGINS[letters[from] as number] === 1) return true;
  for (let at = from; at < to; at += 1) if (letters[at] === BRACKET) return true;
  return false;
}
