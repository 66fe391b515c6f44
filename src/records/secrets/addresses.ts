import {
  AND,
  AT,
  BRACKET,
  COLON,
  EQUALS,
  endsWith,
  ESCAPE_WIDTH,
  escapedAt,
  lettersOf,
  oneOf,
  QUESTION,
  SLASH,
} from "./letters.ts";
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
  const user = escapedUser(letters, at);
  if (user === at) return false;
  const colon = scan.runEnd(RUN.escapedUser, user);
  if (colon - user > LONGEST_USER || escapedAt(letters, colon) !== COLON) return false;
  const from = colon + ESCAPE_WIDTH;
  let to = from;
  let length = 0;
  for (let width = widthAt(letters, to); width > 0 && length <= LONGEST_PASSWORD; width = widthAt(letters, to)) {
    to += width;
    length += 1;
  }
  return escapedAt(letters, to) === AT && isPassword(scan, from, to, length) && scan.tell(from, to);
}

/** Where the user of an address begins at whose colon this is; the same place when two slashes do not follow. */
function escapedUser(letters: Uint8Array, at: number): number {
  const second = at + 2 * ESCAPE_WIDTH;
  const isAddress = escapedAt(letters, at + ESCAPE_WIDTH) === SLASH && escapedAt(letters, second) === SLASH;
  return isAddress ? second + ESCAPE_WIDTH : at;
}

/** How many letters the next character of a password takes that is written so; 0 where it ends. */
function widthAt(letters: Uint8Array, at: number, ends: Uint8Array = ENDS): number {
  if (isIn(RUN.escapedPassword, letters[at] as number)) return 1;
  const escaped = escapedAt(letters, at);
  return escaped === -1 || ends[escaped] === 1 ? 0 : ESCAPE_WIDTH;
}

const ENDS = oneOf("@/?#");
const ENDS_SIGNATURE = oneOf("&?# \"'\n\r");

/** `scheme://token@host`: a user that nobody chose, and that opens the door without a password. */
export function urlToken(scan: Scan, at: number): boolean {
  const from = at + "://".length;
  const to = scan.runEnd(RUN.user, from);
  return scan.letters[to] === AT && isToken(scan, from, to) && scan.tell(from, to);
}

export function escapedUrlToken(scan: Scan, at: number): boolean {
  const from = escapedUser(scan.letters, at);
  if (from === at) return false;
  const to = scan.runEnd(RUN.escapedUser, from);
  return escapedAt(scan.letters, to) === AT && isToken(scan, from, to) && scan.tell(from, to);
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
  if (letters[mark] !== EQUALS || !isParameter(letters, mark, opensParameter)) return false;
  const to = scan.runEnd(RUN.signature, from);
  return isSignature(scan, from, to) && scan.tell(from, to);
}

/** The same in an address in an address. The next parameter ends it, so that nothing is walked twice. */
export function escapedUrlSignature(scan: Scan, mark: number): boolean {
  const { letters } = scan;
  if (!isParameter(letters, mark, opensEscapedParameter)) return false;
  const from = mark + ESCAPE_WIDTH;
  let to = from;
  for (let width = widthAt(letters, to, ENDS_SIGNATURE); width > 0; width = widthAt(letters, to, ENDS_SIGNATURE))
    to += width;
  return isSignature(scan, from, to) && scan.tell(from, to);
}

/** Whether all of a parameter's name says that it is a signature. */
function isParameter(letters: Uint8Array, end: number, opens: typeof opensParameter): boolean {
  const name = SIGNATURES.find((one) => endsWith(one, letters, end));
  return name !== undefined && opens(letters, end - name.length);
}

function opensParameter(letters: Uint8Array, at: number): boolean {
  return BEFORE_PARAMETER.some((before) => endsWith(before, letters, at));
}

function opensEscapedParameter(letters: Uint8Array, at: number): boolean {
  const before = escapedAt(letters, at - ESCAPE_WIDTH);
  return before === QUESTION || before === AND;
}

const SIGNATURES = ["sig", "Signature", "signature"].map(lettersOf);
/** As it is, as markup writes it, and as JSON does that is fit for markup. */
const BEFORE_PARAMETER = ["?", "&", "&amp;", "\\u0026"].map(lettersOf);

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
