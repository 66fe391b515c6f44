import { isTooDeep, skipSpace, valueEnd } from "./scan.ts";

/** What a damaged line still holds: whole records, and what is left of others. */
export interface Mended {
  readonly records: readonly string[];
  readonly fragments: readonly string[];
  readonly nuls: boolean;
}

/** How much is looked at for one damaged line, as a multiple of its length: hostile lines must not cost more. */
const EFFORT = 16;

/**
 * Finds the records in a line that is not one. Writers glue: two appends without a newline, an append after a torn
 * tail, a block of NUL that a crash left behind. A record counts only where nothing but another one follows it, so
 * that no inner object of a torn record is taken for one. `ended`: the line has its newline.
 */
export function mendLine(line: string, ended: boolean): Mended {
  const records: string[] = [];
  const fragments: string[] = [];
  const text = line.replace(/\0+/g, " "); // a run is one match: a crash leaves megabytes of them
  let effort = text.length * EFFORT + 1024;
  let torn = skipSpace(text, 0);
  let at = torn;
  while (at < text.length && effort > 0) {
    const end = text.charCodeAt(at) === 123 ? valueEnd(text, at) : -1;
    effort -= (end === -1 ? text.length : end) - at;
    const next = end === -1 ? -1 : skipSpace(text, end);
    const followed = next !== -1 && (next >= text.length || text[next] === "{");
    if (followed && !isInner(text, torn, at, ended) && parses(text.slice(at, end))) {
      if (torn < at) fragments.push(text.slice(torn, at));
      records.push(text.slice(at, end));
      torn = next;
      at = next;
    } else at = nextStart(text, at);
  }
  if (torn < text.length) fragments.push(text.slice(torn));
  // Only what JSON takes for space is nothing: a separator before a record makes strict readers lose it.
  return { records, fragments: fragments.filter((piece) => skipSpace(piece, 0) < piece.length), nuls: text !== line };
}

/**
 * Whether an object is more likely the last thing inside a torn record than a record behind it: it stands where a value
 * may stand. Only a line that somebody ended can hold such a record, and then it begins as the torn one did.
 */
function isInner(text: string, torn: number, at: number, ended: boolean): boolean {
  const before = text.slice(torn, at).trimEnd().at(-1) ?? "";
  if (!":,[".includes(before) || before === "") return false;
  return !ended || firstKey(text, torn) !== firstKey(text, at);
}

function firstKey(text: string, at: number): string {
  return /^\{\s*("[^"\\]{0,64}")/.exec(text.slice(at, at + 96))?.[1] ?? "";
}

/** Records begin with a key; a brace without one is more likely code inside a text. */
function nextStart(text: string, at: number): number {
  const next = text.indexOf('{"', at + 1);
  return next === -1 ? text.length : next;
}

function parses(text: string): boolean {
  if (isTooDeep(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
