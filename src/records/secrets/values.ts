import { BACKSLASH, BRACE, COLON, DOT, oneOf, PARENTHESIS, QUESTION, trio, trios } from "./letters.ts";
import { holdsAt, isIn, isMixed, kindsOf, RUN, type Scan, type Value } from "./scan.ts";

/** How something begins that stands where a secret would, words that are in it, and how it ends. */
const PLACEHOLDER = /[$%*<{[]|\.\.\.|x{4}|https?:|file:|\.{0,2}\/|~\/|[A-Za-z]:\\/iy;
const PLACEHOLDER_BEGINS = oneOf("$%*<{[.xXhHfF/~");
const PLACEHOLDER_WORD =
  /your|example|placeholder|changeme|redacted|dummy|sample|process\.|environ|getenv|config\.|settings\.|secrets\.|vault:|arn:|undefined/iy;
const BEGINNINGS = trios("you exa pla cha red dum sam pro env get con set sec vau arn und".split(" "));
const LITERAL = /(?<=null|none|true|false)/iy;
const LITERAL_ENDS = oneOf("lLeE");
const LONGEST_PLACEHOLDER = 128;

const [SHORTEST, LONGEST] = [8, 4096];

/**
 * Looks at what stands here and may be a value: all that is asked of it, in one walk. Whether it is as long as a secret, and
 * nothing that is known already speaks against it.
 */
export function findValue(scan: Scan, from: number): boolean {
  const { value } = scan;
  if (from < value.from || from >= value.to) walkValue(scan, from);
  const { to } = value;
  if (to - from < SHORTEST || to - from > LONGEST || value.isNone) return false;
  if (isLiteral(value, from) || isKnownPlaceholder(scan, from, to)) return false;
  if (from > value.from) takeAsValue(scan, from, to);
  return true;
}

function walkValue(scan: Scan, from: number): void {
  const { letters, text, value } = scan;
  const end = text.length;
  let to = from;
  let digits = 0;
  let kinds = -1;
  for (; to < end; to += 1) {
    const of = kindsOf(letters[to] as number);
    if ((of & IN_VALUE) === 0) break;
    kinds &= of;
    digits += (of >>> RUN.digits) & 1;
  }
  value.from = from;
  value.to = to;
  value.digits = digits;
  value.kinds = kinds;
  value.isNone = isCall(letters[to] as number) || scan.goesOn(to);
  value.endsLiteral = endsLiteral(scan, to);
}

/** The same of what is left of one, behind a name in it: nothing is walked twice, however many names it holds. */
export function takeAsValue(scan: Scan, from: number, to: number): void {
  const { value } = scan;
  const digit = scan.runEnd(RUN.noDigit, from);
  value.from = from;
  value.to = to;
  value.digits = digit >= to ? 0 : scan.runEnd(RUN.noDigit, digit + 1) >= to ? 1 : 2;
  value.endsLiteral = endsLiteral(scan, to);
  value.kinds = 0;
  for (const kind of [RUN.noCapital, RUN.noSmall, RUN.name])
    if (scan.runEnd(kind, from) >= to) value.kinds |= 1 << kind;
}

/** `(` and `{` */
function isCall(letter: number): boolean {
  return letter === PARENTHESIS || letter === BRACE;
}

/** Most are told by this, before anything else is looked at. */
export function mayBeSecret({ from, to, digits, kinds }: Value): boolean {
  return to - from >= SHORTEST && to - from <= LONGEST && digits > 0 && (kinds & WITHOUT_LETTERS) !== WITHOUT_LETTERS;
}

/** Whether what stands where only a secret would looks like one, whatever it is made of. */
export function looksMade(scan: Scan, from: number, to: number): boolean {
  if (to - from < SHORTEST || to - from > LONGEST || !isMixed(scan, from, to, false)) return false;
  return !standsForOne(scan, from, to);
}

/** The same of one that ends as it began: in quotes, or without. */
export function isSecretValue(scan: Scan, from: number): boolean {
  const { letters, value } = scan;
  const next = letters[value.to] as number;
  const quoted = QUOTE[letters[from - 1] as number] === 1;
  if (quoted && QUOTE[next] === 0 && next !== BACKSLASH) return false;
  return looksSecret(scan, quoted);
}

/** Whether a letter is one of JSON's own: hidden, it would leave half an escape, and what stands behind it is another line. */
export function isEscape(letters: Uint8Array, at: number): boolean {
  return letters[at - 1] === BACKSLASH && ESCAPED[letters[at] as number] === 1;
}

export const QUOTES = "\"'`";
const QUOTE = oneOf(QUOTES);
const ESCAPED = oneOf("nrtbfu");

/** Whether a value that may be one looks like what somebody keeps secret, and not like what is said about it. */
export function looksSecret(scan: Scan, quoted: boolean): boolean {
  const { from, to } = scan.value;
  return !isPlaceholder(scan, from, to) && (quoted || !isCode(scan, from, to));
}

const IN_VALUE = 1 << RUN.value;
const IN_NAME = 1 << RUN.name;
const WITHOUT_LETTERS = (1 << RUN.noCapital) | (1 << RUN.noSmall);

function isPlaceholder(scan: Scan, from: number, to: number): boolean {
  return isLiteral(scan.value, from) || standsForOne(scan, from, to);
}

function standsForOne(scan: Scan, from: number, to: number): boolean {
  const { text, letters } = scan;
  const mayBegin = PLACEHOLDER_BEGINS[letters[from] as number] === 1 || letters[from + 1] === COLON;
  if (mayBegin && holdsAt(PLACEHOLDER, text, from)) return true;
  const end = Math.min(to, from + LONGEST_PLACEHOLDER) - 2;
  return nextPlaceholderWord(scan, from, end) < end;
}

function isLiteral({ to, endsLiteral: does }: Value, from: number): boolean {
  return does && to - from <= LONGEST_PLACEHOLDER;
}

function endsLiteral({ text, letters }: Scan, to: number): boolean {
  return LITERAL_ENDS[letters[to - 1] as number] === 1 && holdsAt(LITERAL, text, to);
}

/** Whether one is known to stand in there, from a look at what it is part of. */
function isKnownPlaceholder({ noPlaceholder: known }: Scan, from: number, to: number): boolean {
  return (
    known.isThere && from >= known.from && from <= known.to && known.to < Math.min(to, from + LONGEST_PLACEHOLDER) - 2
  );
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
  const { digits, kinds } = scan.value;
  if ((kinds & IN_NAME) !== 0) return digits === 1 && !isIn(RUN.digits, scan.letters[from] as number);
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
