import type { Found } from "./candidate.ts";
import {
  BACKSLASH,
  BRACE,
  COLON,
  DOT,
  EQUALS,
  GREATER,
  oneOf,
  PARENTHESIS,
  PERCENT,
  QUESTION,
  trio,
  trios,
} from "./letters.ts";
import { formEnd, holdsAt, RUN, Scan } from "./scan.ts";

/** What secrets are called. What is called `token` alone may as well be a place in a list that somebody wants to read on from. */
const SECRET_NAME =
  /(?<=password|passwd|passphrase|pwd|secret|credentials?|(?:api|secret|access|private|signing|encryption|account|master)[_.-]?keys?|(?:api|auth|access|refresh|bearer|session|id|security|deploy|bot)[_.-]?token|connection[_.-]?string)/iy;
/** As it is written in the environment of a program. */
const ENVIRONMENT_NAME = /(?<=(?<![\w.-])[A-Z][A-Z0-9_]{0,56}_(?:TOKEN|PASS|PW|KEY_BASE|AUTH))/y;
/** Three letters tell most names apart. */
const ENDINGS = trios("ord swd ase pwd ret ial als key eys ken ing ass _pw uth");

/** How something begins that stands where a secret would, words that are in it, and how it ends. */
const PLACEHOLDER = /[$%*<{[]|\.\.\.|x{4}|https?:|file:|\.{0,2}\/|~\/|[A-Za-z]:\\/iy;
const PLACEHOLDER_BEGINS = oneOf("$%*<{[.xXhHfF/~");
const PLACEHOLDER_WORD =
  /your|example|placeholder|changeme|redacted|dummy|sample|process\.|environ|getenv|config\.|settings\.|secrets\.|vault:|arn:|undefined/iy;
const BEGINNINGS = trios("you exa pla cha red dum sam pro env get con set sec vau arn und");
const LITERAL = /(?<=null|none|true|false)/iy;
const LITERAL_ENDS = oneOf("lLeE");
const LONGEST_PLACEHOLDER = 128;

const DOTTED_NAME = /[A-Za-z_]\w*(?:\??\.[A-Za-z_]\w*)+/y;

/** Whether this is what a secret is called, and its value is one word that looks like one. */
export function isSecretField(name: string, value: string): boolean {
  return isSecretName(name) && !/\s/.test(value) && looksSecret(new Scan(value), 0, value.length, true);
}

function isSecretName(name: string): boolean {
  const end = name.length;
  if (end < 3) return false;
  const ending = trio(name.charCodeAt(end - 3), name.charCodeAt(end - 2), name.charCodeAt(end - 1));
  return ENDINGS[ending] === 1 && namesSecret(name, end);
}

function namesSecret(text: string, end: number): boolean {
  return holdsAt(SECRET_NAME, text, end) || holdsAt(ENVIRONMENT_NAME, text, end);
}

/** Whether a value looks like what somebody keeps secret, and not like what is said about it. */
function looksSecret(scan: Scan, from: number, to: number, quoted: boolean): boolean {
  if (!mayBeSecret(scan, from, to)) return false;
  if (scan.runEnd(RUN.noCapital, from) >= to && scan.runEnd(RUN.noSmall, from) >= to) return false;
  return !isPlaceholder(scan, from, to) && (quoted || !isCode(scan, from, to));
}

/** Most are told by this, before anything else is looked at. */
function mayBeSecret(scan: Scan, from: number, to: number): boolean {
  return to - from >= 8 && to - from <= 4096 && scan.runEnd(RUN.noDigit, from) < to;
}

function isPlaceholder({ text, letters }: Scan, from: number, to: number): boolean {
  const mayBegin = PLACEHOLDER_BEGINS[letters[from] as number] === 1 || letters[from + 1] === COLON;
  if (mayBegin && holdsAt(PLACEHOLDER, text, from)) return true;
  const mayEnd = to - from <= LONGEST_PLACEHOLDER && LITERAL_ENDS[letters[to - 1] as number] === 1;
  if (mayEnd && holdsAt(LITERAL, text, to)) return true;
  const end = Math.min(to, from + LONGEST_PLACEHOLDER) - 2;
  for (let at = from; at < end; at += 1) {
    const begins = trio(letters[at] as number, letters[at + 1] as number, letters[at + 2] as number);
    if (BEGINNINGS[begins] === 1 && holdsAt(PLACEHOLDER_WORD, text, at)) return true;
  }
  return false;
}

/** Unquoted it may be a variable, or a field of one. */
function isCode(scan: Scan, from: number, to: number): boolean {
  const name = scan.runEnd(RUN.name, from);
  const digit = scan.runEnd(RUN.noDigit, from);
  if (name === to) return digit > from && scan.runEnd(RUN.noDigit, digit + 1) >= to;
  const next = scan.letters[name];
  return (next === DOT || next === QUESTION) && formEnd(DOTTED_NAME, scan.text, from) === to;
}

/** At a `=` or `:`, as it is or as an address writes it, the value of a name that says it is secret. */
export function assignedSecret(scan: Scan, mark: number, width = 1): Found | undefined {
  const { letters, text } = scan;
  let end = mark;
  for (let skipped = 0; skipped < 4 && end > 0 && AROUND[letters[end - 1] as number] === 1; skipped += 1) end -= 1;
  while (width > 1 && end >= 3 && isAroundInAddress(letters, end - 3)) end -= 3;
  if (end < 3) return undefined;
  const ending = trio(letters[end - 3] as number, letters[end - 2] as number, letters[end - 1] as number);
  if (ENDINGS[ending] === 0) return undefined;
  const from = valueFrom(letters, mark, width);
  const to = scan.runEnd(RUN.value, from);
  if (!mayBeSecret(scan, from, to) || scan.goesOn(to) || !namesSecret(text, end)) return undefined;
  const quoted = QUOTE[letters[from - 1] as number] === 1;
  const next = letters[to] as number;
  if (next === PARENTHESIS || next === BRACE || (quoted && QUOTE[next] === 0 && next !== BACKSLASH)) return undefined;
  return looksSecret(scan, from, to, quoted) ? { from, to } : undefined;
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
