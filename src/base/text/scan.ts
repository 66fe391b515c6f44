/**
 * Walks JSON text without building values, so that a change can touch one value and leave every other byte alone.
 * Nothing here recurses: a million opening brackets are a fault to report, not a stack to overflow.
 */

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const COLON = 58;

/** The index after the JSON value that begins at `start`, or -1 when it does not end. Does not judge what is inside. */
export function valueEnd(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return stringEnd(text, start);
  if (!isOpening(first)) return scalarEnd(text, start);
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) {
      at = stringEnd(text, at) - 1;
      if (at < 0) return -1;
    } else if (isOpening(unit)) depth += 1;
    else if (isClosing(unit)) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

/** The index after the string that begins at `start`, or -1 when nothing closes it. */
export function stringEnd(text: string, start: number): number {
  let at = start;
  for (;;) {
    at = text.indexOf('"', at + 1);
    if (at === -1) return -1;
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
}

const DEEPEST = 2_000;

/** Whether values are nested deeper than any session nests them. Short texts are not looked at: they cost little. */
export function isTooDeep(text: string): boolean {
  if (text.length < 64 * 1024) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) {
      at = stringEnd(text, at) - 1;
      if (at < 0) return false;
    } else if (isOpening(unit)) {
      depth += 1;
      if (depth > DEEPEST) return true;
    } else if (isClosing(unit)) depth -= 1;
  }
  return false;
}

/** False for most texts that are no JSON, at the cost of two characters: a failed parse costs as much as ten good ones. */
export function mayBeJson(text: string): boolean {
  const first = text.charCodeAt(skipSpace(text, 0));
  let at = text.length - 1;
  while (isSpace(text.charCodeAt(at))) at -= 1;
  const last = text.charCodeAt(at);
  if (first === 123) return last === 125;
  if (first === 91) return last === 93;
  return first !== QUOTE || last === QUOTE;
}

export function skipSpace(text: string, start: number): number {
  let at = start;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

function scalarEnd(text: string, start: number): number {
  let at = start;
  while (at < text.length) {
    const unit = text.charCodeAt(at);
    if (unit === COMMA || unit === COLON || isSpace(unit) || isClosing(unit) || isOpening(unit)) break;
    at += 1;
  }
  return at === start ? -1 : at;
}

function isSpace(unit: number): boolean {
  return unit === 32 || unit === 10 || unit === 13 || unit === 9;
}

export function isOpening(unit: number): boolean {
  return unit === 123 || unit === 91;
}

export function isClosing(unit: number): boolean {
  return unit === 125 || unit === 93;
}

/** A child of an array or object: where it stands, with its key when it has one. */
export interface Child {
  readonly key: string | number;
  /** Where the child begins: at its key in an object. */
  readonly from: number;
  /** Where its value begins and ends. */
  readonly start: number;
  readonly end: number;
}

/** The children of the array or object that begins at `start`, in order. The text must be valid JSON. */
export function childrenOf(text: string, start: number): readonly Child[] {
  const object = text.charCodeAt(start) === 123;
  const children: Child[] = [];
  let at = skipSpace(text, start + 1);
  while (at < text.length && !isClosing(text.charCodeAt(at))) {
    const from = at;
    let key: string | number = children.length;
    if (object) {
      const keyEnd = stringEnd(text, at);
      key = JSON.parse(text.slice(at, keyEnd)) as string;
      at = skipSpace(text, skipSpace(text, keyEnd) + 1);
    }
    const end = valueEnd(text, at);
    if (end === -1) return children;
    children.push({ key, from, start: at, end });
    at = skipSpace(text, end);
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return children;
}
