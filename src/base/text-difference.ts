/** The one piece in which two texts differ: where it begins, how long it was, and what it is now. */
export interface TextDifference {
  readonly at: number;
  readonly remove: number;
  readonly insert: string;
}

/**
 * The lines between those that two texts both begin with and those that both end with. Whole lines: what stands in a line
 * is found in the piece that brought it, though half of it was there before.
 */
export function textDifferenceOf(before: string, after: string): TextDifference {
  const shorter = Math.min(before.length, after.length);
  const head = sharedLength(shorter, (from, to) => before.slice(from, to) === after.slice(from, to));
  const [end, oldEnd] = [after.length, before.length];
  const tail = sharedLength(
    shorter - head,
    (from, to) => before.slice(oldEnd - to, oldEnd - from) === after.slice(end - to, end - from),
  );
  const from = startOfLine(after, head);
  const to = isStartOfLine(after, end - tail) ? end - tail : endOfLine(after, end - tail);
  return { at: from, remove: oldEnd - (end - to) - from, insert: after.slice(from, to) };
}

/** Compared by pieces, then by halves of the piece that differs: letter by letter would take as long as all else. */
function sharedLength(most: number, isShared: (from: number, to: number) => boolean): number {
  let shared = 0;
  for (let step = PIECE; step >= 1; ) {
    const to = Math.min(most, shared + step);
    if (to > shared && isShared(shared, to)) shared = to;
    else step = Math.floor(step / 2);
  }
  return shared;
}

const PIECE = 4_096;

function isStartOfLine(text: string, at: number): boolean {
  return at === 0 || text[at - 1] === "\n";
}

function startOfLine(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
}

function endOfLine(text: string, at: number): number {
  const newline = text.indexOf("\n", at);
  return newline === -1 ? text.length : newline;
}
