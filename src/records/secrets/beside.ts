import { BACKSLASH, COLON, endsWith, LESS, lettersOf, oneOf, SLASH, standsAt } from "./letters.ts";
import { mayNameSecret, namesSecret } from "./names.ts";
import { isIn, RUN, type Scan } from "./scan.ts";
import { looksMade } from "./values.ts";

/**
 * `"name": "API_KEY", "value": …`, `key="Password" value=…`, `type="password" value=…`: where the name ends that stands
 * before a value that is called nothing but that; 0 where none does.
 */
export function nameBeside(letters: Uint8Array, end: number): number {
  if (!endsWithAny(VALUES, letters, end)) return 0;
  const value = end - "value".length;
  let named = value;
  while (value - named < LONGEST_GAP && named > 0) {
    const letter = letters[named - 1] as number;
    // Lines end in JSON as they do in a text.
    const width = GAP[letter] === 1 ? 1 : LINE_ENDS[letter] === 1 && letters[named - 2] === BACKSLASH ? 2 : 0;
    if (width === 0) break;
    named -= width;
  }
  return named < value && named >= 3 && hasLabel(letters, named) ? named : 0;
}

/** Whether all that is said before the end is a name, and that it is one. */
function hasLabel(letters: Uint8Array, end: number): boolean {
  const name = back(letters, end, LONGEST_NAME, (letter) => isIn(RUN.dotted, letter));
  const mark = back(letters, name, LONGEST_JOINT, (letter) => AROUND[letter] === 1);
  if (mark === 0 || ASSIGNS[letters[mark - 1] as number] === 0) return false;
  const label = back(letters, mark - 1, LONGEST_JOINT, (letter) => AROUND[letter] === 1);
  return endsWithAny(LABELS, letters, label);
}

function back(letters: Uint8Array, end: number, most: number, is: (letter: number) => boolean): number {
  let at = end;
  while (at > 0 && end - at < most && is(letters[at - 1] as number)) at -= 1;
  return at;
}

function endsWithAny(words: readonly Uint8Array[], letters: Uint8Array, end: number): boolean {
  return words.some((word) => endsWith(word, letters, end));
}

const VALUES = ["value", "Value"].map(lettersOf);
const LABELS = ["name", "Name", "key", "Key", "type"].map(lettersOf);
const [LONGEST_GAP, LONGEST_NAME, LONGEST_JOINT] = [64, 64, 9];
const GAP = oneOf(" \t\r\n\"'`\\,");
const LINE_ENDS = oneOf("nrt");
const AROUND = oneOf(" \t\"'`\\");
const ASSIGNS = oneOf(":=");

/** `<password>…</password>`, `<password><![CDATA[…]]></password>`: at what ends the first tag, as it is or as JSON writes it that is fit for markup. */
export function elementSecret(scan: Scan, mark: number, width = 1): boolean {
  const { letters } = scan;
  const end = back(letters, mark, width > 1 ? LONGEST_JOINT : 0, (letter) => letter === BACKSLASH);
  if (end < 3) return false;
  if (!mayNameSecret(letters[end - 3] as number, letters[end - 2] as number, letters[end - 1] as number)) return false;
  if (!namesSecret(letters, end, scan.hiddenTo)) return false;
  const tag = back(letters, end, LONGEST_NAME, (letter) => letter === COLON || isIn(RUN.dotted, letter));
  if (tag === 0 || letters[tag - 1] !== (width > 1 ? BACKSLASH : LESS)) return false;
  const from = mark + width;
  const data = dataFrom(letters, from);
  const to = scan.runEnd(data > from ? RUN.data : width > 1 ? RUN.value : RUN.content, data);
  const closing = data > from ? dataEnd(letters, to) : to;
  return isClosed(letters, closing) && looksMade(scan, data, to) && scan.tell(data, to);
}

/** Behind `<![CDATA[`, and how it is written; the same place where it does not stand. */
function dataFrom(letters: Uint8Array, at: number): number {
  const opened = signEnd(SMALLER, letters, at);
  return opened > at && standsAt(DATA, letters, opened) ? opened + DATA.length : at;
}

/** Behind `]]>`. */
function dataEnd(letters: Uint8Array, at: number): number {
  return standsAt(DATA_END, letters, at) ? signEnd(LARGER, letters, at + DATA_END.length) : at;
}

/** `</`, and how it is written. */
function isClosed(letters: Uint8Array, at: number): boolean {
  let to = signEnd(SMALLER, letters, at);
  if (to === at) return false;
  while (to - at < LONGEST_JOINT * 2 && letters[to] === BACKSLASH) to += 1;
  return letters[to] === SLASH;
}

/** Behind a sign of markup, as it is or as JSON writes it; the same place where it does not stand. */
function signEnd(signs: readonly Uint8Array[], letters: Uint8Array, at: number): number {
  let to = at;
  while (to - at < LONGEST_JOINT && letters[to] === BACKSLASH) to += 1;
  const sign = signs.find((one) => standsAt(one, letters, to));
  return sign === undefined ? at : to + sign.length;
}

const SMALLER = ["<", "u003c", "u003C"].map(lettersOf);
const LARGER = [">", "u003e", "u003E"].map(lettersOf);
const DATA = lettersOf("![CDATA[");
const DATA_END = lettersOf("]]");
/** What ends a tag in JSON that is fit for markup. */
export const ELEMENT_HEADS: readonly string[] = ["\\u003e", "\\u003E"];
