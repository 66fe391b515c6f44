import {
  BACKSLASH,
  BRACE,
  COLON,
  DOT,
  EQUALS,
  exact,
  GREATER,
  oneOf,
  PARENTHESIS,
  PERCENT,
  QUESTION,
  roughLetters,
  trio,
  trios,
} from "./letters.ts";
import { mayNameSecret, namesSecret } from "./names.ts";
import { holdsAt, isIn, RUN, Scan } from "./scan.ts";

/** How something begins that stands where a secret would, words that are in it, and how it ends. */
const PLACEHOLDER = /[$%*<{[]|\.\.\.|x{4}|https?:|file:|\.{0,2}\/|~\/|[A-Za-z]:\\/iy;
const PLACEHOLDER_BEGINS = oneOf("$%*<{[.xXhHfF/~");
const PLACEHOLDER_WORD =
  /your|example|placeholder|changeme|redacted|dummy|sample|process\.|environ|getenv|config\.|settings\.|secrets\.|vault:|arn:|undefined/iy;
const BEGINNINGS = trios("you exa pla cha red dum sam pro env get con set sec vau arn und".split(" "));
const LITERAL = /(?<=null|none|true|false)/iy;
const LITERAL_ENDS = oneOf("lLeE");
const LONGEST_PLACEHOLDER = 128;

/** Whether this is what a secret is called, and its value is one word that looks like one. */
export function isSecretField(name: string, value: string): boolean {
  if (!isSecretName(name) || /\s/.test(value)) return false;
  const scan = new Scan(value);
  return mayBeSecret(scan, 0, value.length) && looksSecret(scan, 0, value.length, true);
}

function isSecretName(name: string): boolean {
  const end = name.length;
  if (end < 3 || !mayNameSecret(name.charCodeAt(end - 3), name.charCodeAt(end - 2), name.charCodeAt(end - 1)))
    return false;
  return namesSecret(exact(name, roughLetters(name)), end, 0);
}

/** Whether a value that may be one looks like what somebody keeps secret, and not like what is said about it. */
function looksSecret(scan: Scan, from: number, to: number, quoted: boolean): boolean {
  if (scan.runEnd(RUN.noCapital, from) >= to && scan.runEnd(RUN.noSmall, from) >= to) return false;
  return !isPlaceholder(scan, from, to) && (quoted || !isCode(scan, from, to));
}

/** Most are told by this, before anything else is looked at. */
function mayBeSecret(scan: Scan, from: number, to: number): boolean {
  return to - from >= 8 && to - from <= 4096 && scan.runEnd(RUN.noDigit, from) < to;
}

function isPlaceholder(scan: Scan, from: number, to: number): boolean {
  const { text, letters } = scan;
  const mayBegin = PLACEHOLDER_BEGINS[letters[from] as number] === 1 || letters[from + 1] === COLON;
  if (mayBegin && holdsAt(PLACEHOLDER, text, from)) return true;
  const mayEnd = to - from <= LONGEST_PLACEHOLDER && LITERAL_ENDS[letters[to - 1] as number] === 1;
  if (mayEnd && holdsAt(LITERAL, text, to)) return true;
  const end = Math.min(to, from + LONGEST_PLACEHOLDER) - 2;
  return nextPlaceholderWord(scan, from, end) < end;
}

/** The next place where such a word begins. Many names may stand before one: the way there is gone once for all of them. */
function nextPlaceholderWord(scan: Scan, from: number, end: number): number {
  const { noPlaceholder: known } = scan;
  const isKnown = from >= known.from && from <= known.to;
  if (isKnown && known.isThere) return known.to;
  let at = isKnown ? known.to : from;
  while (at < end && !isPlaceholderWord(scan, at)) at += 1;
  if (!isKnown) known.from = from;
  known.to = at;
  known.isThere = at < end;
  return at;
}

function isPlaceholderWord({ text, letters }: Scan, at: number): boolean {
  const begins = trio(letters[at] as number, letters[at + 1] as number, letters[at + 2] as number);
  return BEGINNINGS[begins] === 1 && holdsAt(PLACEHOLDER_WORD, text, at);
}

/** Unquoted it may be a variable, or a field of one. */
function isCode(scan: Scan, from: number, to: number): boolean {
  const name = scan.runEnd(RUN.name, from);
  const digit = scan.runEnd(RUN.noDigit, from);
  if (name === to) return digit > from && scan.runEnd(RUN.noDigit, digit + 1) >= to;
  return isDottedName(scan, from, to);
}

/** `a.b`, `a?.b`, `a.b.c` */
function isDottedName(scan: Scan, from: number, to: number): boolean {
  const { letters } = scan;
  for (let part = from; isIn(RUN.nameStart, letters[part] as number); ) {
    const end = scan.runEnd(RUN.name, part);
    if (end === to) return part > from;
    const dot = letters[end] === QUESTION ? end + 1 : end;
    if (letters[dot] !== DOT) return false;
    part = dot + 1;
  }
  return false;
}

/** At a `=` or `:`, as it is or as an address writes it, the value of a name that says it is secret. */
export function assignedSecret(scan: Scan, mark: number, width = 1): boolean {
  const { letters } = scan;
  let end = mark;
  for (let skipped = 0; skipped < 4 && end > 0 && AROUND[letters[end - 1] as number] === 1; skipped += 1) end -= 1;
  while (width > 1 && end >= 3 && isAroundInAddress(letters, end - 3)) end -= 3;
  if (end < 3) return false;
  if (!mayNameSecret(letters[end - 3] as number, letters[end - 2] as number, letters[end - 1] as number)) return false;
  const from = valueFrom(letters, mark, width);
  const to = scan.runEnd(RUN.value, from);
  if (!mayBeSecret(scan, from, to) || scan.goesOn(to) || !namesSecret(letters, end, scan.hiddenTo)) return false;
  const quoted = QUOTE[letters[from - 1] as number] === 1;
  const next = letters[to] as number;
  if (next === PARENTHESIS || next === BRACE || (quoted && QUOTE[next] === 0 && next !== BACKSLASH)) return false;
  return looksSecret(scan, from, to, quoted) && scan.tell(from, to);
}

/** Behind `=`, `:`, `:=` or `=>`, blanks and an opening quote, escaped or not. */
function valueFrom(letters: Uint8Array, mark: number, width: number): number {
  let from = mark + width;
  if (letters[from] === GREATER || (letters[mark] === COLON && letters[from] === EQUALS)) from += 1;
  for (let skipped = 0; skipped < 4 && AROUND[letters[from] as number] === 1; skipped += 1) from += 1;
  while (width > 1 && isAroundInAddress(letters, from)) from += 3;
  return from;
}

/** The same, as an address writes it: `%20`, `%22`, `%27`. */
function isAroundInAddress(letters: Uint8Array, at: number): boolean {
  return letters[at] === PERCENT && letters[at + 1] === TWO && AROUND_IN_ADDRESS[letters[at + 2] as number] === 1;
}

const TWO = "2".charCodeAt(0);
const AROUND_IN_ADDRESS = oneOf("027");
const QUOTES = "\"'`";
const QUOTE = oneOf(QUOTES);
/** A blank, a quote, or what escapes one. */
const AROUND = oneOf(` \t\\${QUOTES}`);
/** What may stand before a `=` or `:` that assigns a secret: the last letter of a name, or something between the two. */
export const BEFORE_MARK: Uint8Array = oneOf(`detlsyngwhDETLSYNGWH \t\\${QUOTES}`);
