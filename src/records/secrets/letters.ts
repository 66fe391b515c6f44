/** How far may be looked ahead without asking whether the text goes on. */
export const AHEAD = 8;
/** Stands for every character that is no letter. */
const OTHER = 255;
/** Stands for every blank that is wider than a byte: one that is not, and that no keyboard writes. */
const BLANK = 0xa0;
const WIDE = /[\u0100-\uffff]/;
const BENCH: Buffer = Buffer.alloc(64 * 1024);
const BENCH_IN_TWOS = new Uint16Array(BENCH.buffer, BENCH.byteOffset, BENCH.length / 2);

/**
 * Of every character of a text the lower byte, with zeros behind the last: several times quicker to walk along than the text
 * itself. Good until the next text is asked for, and only good enough to tell where to look closer; see `exact`.
 */
export function roughLetters(text: string): Uint8Array {
  const end = text.length + AHEAD;
  const letters = end <= BENCH.length ? BENCH : Buffer.allocUnsafeSlow(end + (end % 2));
  letters.write(text, 0, "latin1");
  for (let at = text.length; at < end; at += 1) letters[at] = 0;
  return letters;
}

/** The same letters two by two, as `inTwos` tells two of them: half as many to walk along. */
export function lettersInTwos(letters: Uint8Array): Uint16Array {
  return letters === BENCH ? BENCH_IN_TWOS : new Uint16Array(letters.buffer, letters.byteOffset, letters.length / 2);
}

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

export function inTwos(first: number, second: number): number {
  return IS_LITTLE_ENDIAN ? first | (second << 8) : (first << 8) | second;
}

/** Whether the lower bytes are all there is to its characters. */
export function isNarrow(text: string): boolean {
  return !WIDE.test(text);
}

/** The same made exact: whatever is wider than a byte is no letter, and a blank only if it is one. */
export function exact(text: string, letters: Uint8Array): Uint8Array {
  return isNarrow(text) ? letters : exactOf(Buffer.from(text, "utf16le"), letters);
}

/** Of the rough letters only those change that have a byte more, in a text that is given two bytes for each. */
export function exactOf(wide: Buffer, letters: Uint8Array): Uint8Array {
  const end = wide.length;
  for (let at = 1; at < end; at += 2) {
    const upper = wide[at] as number;
    if (upper !== 0) letters[at >> 1] = isWideBlank((upper << 8) | (wide[at - 1] as number)) ? BLANK : OTHER;
  }
  return letters;
}

function isWideBlank(code: number): boolean {
  if (code >= 0x2000 && code <= 0x205f)
    return code <= 0x200a || code === 0x2028 || code === 0x2029 || code === 0x202f || code === 0x205f;
  return code === 0x3000 || code === 0xfeff || code === 0x1680;
}

/** The letters of a word that has no others. */
export function lettersOf(word: string): Uint8Array {
  return Uint8Array.from(Buffer.from(word, "latin1"));
}

/** Whether a word stands here. */
export function standsAt(word: Uint8Array, letters: Uint8Array, at: number): boolean {
  for (let nth = 0; nth < word.length; nth += 1) if (letters[at + nth] !== word[nth]) return false;
  return true;
}

/** Whether a word ends here. */
export function endsWith(word: Uint8Array, letters: Uint8Array, end: number): boolean {
  return end >= word.length && standsAt(word, letters, end - word.length);
}

/** How long an escape of an address is: `%3A`. */
export const ESCAPE_WIDTH = 3;

/** The letter that an escape of an address stands for, whose own letters may be small; -1 where none stands. */
export function escapedAt(letters: Uint8Array, at: number): number {
  if (letters[at] !== PERCENT) return -1;
  const high = HEX[letters[at + 1] as number] as number;
  const low = HEX[letters[at + 2] as number] as number;
  return high < 0 || low < 0 ? -1 : (high << 4) | low;
}

const HEX: Int8Array = Int8Array.from({ length: 256 }, (_, code) =>
  "0123456789abcdef".indexOf(String.fromCharCode(code).toLowerCase()),
);

/** A head as an address may write it: with capitals, and with small letters. */
export function escapedHeads(head: string): readonly string[] {
  const escaped = encodeURIComponent(head);
  return [...new Set([escaped, escaped.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())])];
}

/** Three letters, small or not, as one number. */
export function trio(a: number, b: number, c: number): number {
  return ((a & 31) << 10) | ((b & 31) << 5) | (c & 31);
}

/** For every three letters whether one of these words begins with them. */
export function trios(words: readonly string[]): Uint8Array {
  const table = new Uint8Array(1 << 15);
  for (const word of words) table[trio(word.charCodeAt(0), word.charCodeAt(1), word.charCodeAt(2))] = 1;
  return table;
}

/** For every letter whether it is one of these. */
export function oneOf(letters: string): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (letters.includes(String.fromCharCode(code)) ? 1 : 0));
}

export const [AT, BACKSLASH, BRACE, BRACKET, CLOSING, COLON, DOT, EQUALS, GREATER, PARENTHESIS, PERCENT, QUESTION] = [
  64, 92, 123, 91, 93, 58, 46, 61, 62, 40, 37, 63,
] as const;
export const [AND, COMMA, DASH, LESS, SEMICOLON, SLASH] = [38, 44, 45, 60, 59, 47] as const;
