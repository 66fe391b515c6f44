import { URL_PASSWORD } from "./addresses.ts";
import { BACKSLASH, COLON, EQUALS, exact, GREATER, oneOf, PERCENT, roughLetters } from "./letters.ts";
import { mayNameSecret, namesSecret } from "./names.ts";
import { Scan } from "./scan.ts";
import { findValue, looksSecret, mayBeSecret, takeAsValue } from "./values.ts";

/** Whether this is what a secret is called, and its value is one word that looks like one. */
export function isSecretField(name: string, value: string): boolean {
  if (!isSecretName(name) || /\s/.test(value)) return false;
  const scan = new Scan(value);
  takeAsValue(scan, 0, value.length);
  return mayBeSecret(scan.value) && looksSecret(scan, true);
}

function isSecretName(name: string): boolean {
  const end = name.length;
  if (end < 3 || !mayNameSecret(name.charCodeAt(end - 3), name.charCodeAt(end - 2), name.charCodeAt(end - 1)))
    return false;
  return namesSecret(exact(name, roughLetters(name)), end, 0);
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
  // The user of an address, called like a secret: the address knows where its password ends, and the host stays readable.
  if (from === scan.dueFrom && scan.dueMark === URL_PASSWORD) return false;
  if (!findValue(scan, from) || !mayBeSecret(scan.value) || !namesSecret(letters, end, scan.hiddenTo)) return false;
  const { to } = scan.value;
  const next = letters[to] as number;
  const quoted = QUOTE[letters[from - 1] as number] === 1;
  if (quoted && QUOTE[next] === 0 && next !== BACKSLASH) return false;
  return looksSecret(scan, quoted) && scan.tell(from, to);
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
