import { URL_PASSWORD, URL_SIGNATURE, urlSignature } from "./addresses.ts";
import { nameBeside } from "./beside.ts";
import { COOKIE, cookieSecret } from "./cookies.ts";
import { COLON, EQUALS, ESCAPE_WIDTH, exact, GREATER, oneOf, PERCENT, roughLetters, trio, trios } from "./letters.ts";
import { ASSIGNED_SECRET } from "./mark.ts";
import { mayNameSecret, namesSecret } from "./names.ts";
import { Scan } from "./scan.ts";
import { findValue, isEscape, isSecretValue, looksSecret, mayBeSecret, QUOTES, takeAsValue } from "./values.ts";

/** Whether this is what a secret is called, and its value is one word that looks like one. */
export function isSecretField(name: string, value: string): boolean {
  if (!isSecretName(name) || /\s/.test(value)) return false;
  const scan = new Scan(value);
  takeAsValue(scan, 0, value.length);
  return mayBeSecret(scan.value) && looksSecret(scan, true);
}

/** Whether this is what a secret is called. */
export function isSecretName(name: string): boolean {
  const end = name.length;
  if (end < 3 || !mayNameSecret(name.charCodeAt(end - 3), name.charCodeAt(end - 2), name.charCodeAt(end - 1)))
    return false;
  return namesSecret(exact(name, roughLetters(name)), end, 0);
}

/** At a `=` or `:` what is marked by it, by whatever stands before it; the scan is told as what. */
export function markedSecret(scan: Scan, mark: number): boolean {
  const { letters } = scan;
  const end = nameEnd(letters, mark);
  if (end < 3) return false;
  const [a, b, c] = [letters[end - 3] as number, letters[end - 2] as number, letters[end - 1] as number];
  // Told by three letters, for most.
  const isOther = OTHER_ENDINGS[trio(a, b, c)] === 1;
  if (!isOther && !mayNameSecret(a, b, c)) return false;
  scan.mark = COOKIE;
  if (isOther && cookieSecret(scan, end)) return true;
  scan.mark = URL_SIGNATURE;
  if (isOther && end === mark && urlSignature(scan, mark)) return true;
  scan.mark = ASSIGNED_SECRET;
  return assignedTo((isOther && nameBeside(letters, end)) || end, scan, mark, 1);
}

/** At a `=` or `:` as an address writes it, the value of a name that says it is secret. */
export function assignedInAddress(scan: Scan, mark: number): boolean {
  const { letters } = scan;
  let end = nameEnd(letters, mark);
  while (end >= 3 && isAroundInAddress(letters, end - 3)) end -= 3;
  return end >= 3 && assignedTo(end, scan, mark, ESCAPE_WIDTH);
}

function nameEnd(letters: Uint8Array, mark: number): number {
  let end = mark;
  while (mark - end < LONGEST_JOINT && end > 0 && AROUND[letters[end - 1] as number] === 1) end -= 1;
  return end;
}

/** Of names that say so otherwise: of cookies, of what signs an address, and of values that another name stands beside. */
const OTHER_ENDINGS = trios(["kie", "sig", "ure", "lue"]);

function assignedTo(end: number, scan: Scan, mark: number, width: number): boolean {
  const { letters } = scan;
  if (!mayNameSecret(letters[end - 3] as number, letters[end - 2] as number, letters[end - 1] as number)) return false;
  const from = valueFrom(letters, mark, width);
  // The user of an address, called like a secret: the address knows where its password ends, and the host stays readable.
  if (from === scan.dueFrom && scan.dueMark === URL_PASSWORD) return false;
  if (isEscape(letters, from) || !findValue(scan, from)) return false;
  if (!mayBeSecret(scan.value) || !namesSecret(letters, end, scan.hiddenTo)) return false;
  return isSecretValue(scan, from) && scan.tell(from, scan.value.to);
}

/** Behind `=`, `:`, `:=` or `=>`, blanks and an opening quote, escaped or not. */
function valueFrom(letters: Uint8Array, mark: number, width: number): number {
  let from = mark + width;
  if (letters[from] === GREATER || (letters[mark] === COLON && letters[from] === EQUALS)) from += 1;
  for (let skipped = 0; skipped < LONGEST_JOINT && AROUND[letters[from] as number] === 1; skipped += 1) from += 1;
  while (width > 1 && isAroundInAddress(letters, from)) from += 3;
  return from;
}

/** The same, as an address writes it: `%20`, `%22`, `%27`. */
function isAroundInAddress(letters: Uint8Array, at: number): boolean {
  return letters[at] === PERCENT && letters[at + 1] === TWO && AROUND_IN_ADDRESS[letters[at + 2] as number] === 1;
}

/** A blank, and a quote as JSON in JSON in JSON in JSON writes it. */
const LONGEST_JOINT = 9;
const TWO = "2".charCodeAt(0);
const AROUND_IN_ADDRESS = oneOf("027");
/** A blank, a quote, or what escapes one. */
const AROUND = oneOf(` \t\\${QUOTES}`);
/** What may stand before a `=` or `:` that assigns a secret: the last letter of a name, or something between the two. */
export const BEFORE_MARK: Uint8Array = oneOf(`detlsyngwhDETLSYNGWH \t\\${QUOTES}`);
