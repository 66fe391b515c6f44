import type { Found } from "./candidate.ts";
import type { Scan } from "./scan.ts";

/** What secrets are called. What is called `token` alone may as well be a place in a list that somebody wants to read on from. */
const SECRET_NAME =
  /(?:password|passwd|passphrase|pwd|secret|credentials?|(?:api|secret|access|private|signing|encryption|account|master)[_.-]?keys?|(?:api|auth|access|refresh|bearer|session|id|security|deploy|bot)[_.-]?token|client[_.-]?secret|connection[_.-]?string)$/i;
/** As it is written in the environment of a program. */
const ENVIRONMENT_NAME = /^[A-Z][A-Z0-9_]*_(?:TOKEN|PASS|PW|KEY_BASE|AUTH)$/;

/** Words that stand where a secret would. */
const PLACEHOLDER =
  /^(?:[$%*<{[]|\.\.\.|-+$|x{4,}|https?:|file:|\.{0,2}\/|~\/|[A-Za-z]:\\)|your|example|placeholder|changeme|redacted|dummy|sample|process\.|environ|getenv|config\.|settings\.|secrets\.|vault:|arn:|undefined|null$|none$|true$|false$/i;
const DOTTED_NAME = /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/;
const NAME = /^[A-Za-z_$][\w$]*$/;

/** Names that were asked for lately: texts that assign at all assign to the same few. */
const known = new Map<string, boolean>();
const MOST_KNOWN = 512;

export function isSecretName(name: string): boolean {
  if (name.length > 80) return false;
  const before = known.get(name);
  if (before !== undefined) return before;
  const is = SECRET_NAME.test(name) || ENVIRONMENT_NAME.test(name);
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(name, is);
  return is;
}

/** Whether a value looks like what somebody keeps secret, and not like what is said about it. */
export function looksSecret(value: string, quoted: boolean): boolean {
  if (value.length < 8 || value.length > 4096 || PLACEHOLDER.test(value.slice(0, 128))) return false;
  if (!/\d/.test(value) || !/[A-Za-z]/.test(value)) return false;
  if (quoted) return true;
  // Unquoted it may be code: a variable, or a field of one.
  if (DOTTED_NAME.test(value.slice(0, 200))) return false;
  return !NAME.test(value) || (value.match(/\d/g)?.length ?? 0) >= 2;
}

/** At a `=` or `:`, as it is or as an address writes it, the value of a name that says it is secret. */
export function assignedSecret(scan: Scan, mark: number, width = 1): Found | undefined {
  const { text } = scan;
  let end = mark;
  for (let skipped = 0; skipped < 4 && isAround(text.charCodeAt(end - 1)); skipped += 1) end -= 1;
  while (width > 1 && AROUND_IN_ADDRESS.has(text.slice(end - 3, end))) end -= 3;
  if (!ENDINGS.has(endingOf(text, end))) return undefined;
  const from = valueFrom(text, mark, width);
  const to = scan.runEnd("value", from);
  // Most are told by this, before anything is cut out of the text.
  if (to - from < 8 || to - from > 4096 || scan.next("digit", from) >= to || scan.goesOn(to)) return undefined;
  let begin = end;
  while (begin > 0 && end - begin < LONGEST_NAME && isNamed(text.charCodeAt(begin - 1))) begin -= 1;
  if (!isSecretName(text.slice(begin, end))) return undefined;
  const quoted = isQuote(text.charCodeAt(from - 1));
  if (text[to] === "(" || text[to] === "{" || (quoted && !isClosing(text, to))) return undefined;
  return looksSecret(text.slice(from, to), quoted) ? { from, to } : undefined;
}

const LONGEST_NAME = 64;

/** Behind `=`, `:`, `:=` or `=>`, blanks and an opening quote, escaped or not. */
function valueFrom(text: string, mark: number, width: number): number {
  let from = mark + width;
  if (text[from] === ">" || (text[mark] === ":" && text[from] === "=")) from += 1;
  for (let skipped = 0; skipped < 4 && isAround(text.charCodeAt(from)); skipped += 1) from += 1;
  while (width > 1 && AROUND_IN_ADDRESS.has(text.slice(from, from + 3))) from += 3;
  return from;
}

function isClosing(text: string, at: number): boolean {
  return isQuote(text.charCodeAt(at)) || text[at] === "\\";
}

/** The same, as an address writes it. */
const AROUND_IN_ADDRESS: ReadonlySet<string> = new Set(["%20", "%22", "%27"]);

/** A blank, a quote, or what escapes one. */
function isAround(code: number): boolean {
  return code === 32 || code === 9 || code === 92 || isQuote(code);
}

function isQuote(code: number): boolean {
  return code === 34 || code === 39 || code === 96;
}

function isNamed(code: number): boolean {
  if (code >= 97 && code <= 122) return true;
  return (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95 || code === 45 || code === 46;
}

/** For every letter whether the name before a `=` or `:` may end with it, or something that may stand between the two. */
export const BEFORE_MARK: Uint8Array = new Uint8Array(256);

/** The last three letters, in small ones: most names are no secret's, and are told apart by these alone. */
function endingOf(text: string, end: number): number {
  return packed(text.charCodeAt(end - 3) | 32, text.charCodeAt(end - 2) | 32, text.charCodeAt(end - 1) | 32);
}

function packed(a: number, b: number, c: number): number {
  return (a << 16) | (b << 8) | c;
}

const ENDINGS: ReadonlySet<number> = new Set(
  ["ord", "swd", "ase", "pwd", "ret", "ial", "als", "key", "eys", "ken", "ing", "ass", "_pw", "uth"].map((ending) =>
    packed(ending.charCodeAt(0) | 32, ending.charCodeAt(1) | 32, ending.charCodeAt(2) | 32),
  ),
);
for (const ending of ["d", "e", "t", "l", "s", "y", "n", "g", "w", "h"])
  for (const letter of [ending, ending.toUpperCase()]) BEFORE_MARK[letter.charCodeAt(0)] = 1;
for (let code = 0; code < 256; code += 1) if (isAround(code)) BEFORE_MARK[code] = 1;
