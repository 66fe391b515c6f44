/** The one piece in which two texts differ: where it begins, how long it was, and what it is now. */
export interface TextDifference {
  readonly at: number;
  readonly remove: number;
  readonly insert: string;
}

/** The piece between what two texts both begin with and what both end with. No character is cut in two. */
export function textDifferenceOf(before: string, after: string): TextDifference {
  const shorter = Math.min(before.length, after.length);
  let head = sharedLength(shorter, (from, to) => before.slice(from, to) === after.slice(from, to));
  if (isInsideCharacter(after, head) || isInsideCharacter(before, head)) head -= 1;
  const [end, oldEnd] = [after.length, before.length];
  let tail = sharedLength(
    shorter - head,
    (from, to) => before.slice(oldEnd - to, oldEnd - from) === after.slice(end - to, end - from),
  );
  if (isInsideCharacter(after, end - tail) || isInsideCharacter(before, oldEnd - tail)) tail -= 1;
  return { at: head, remove: oldEnd - tail - head, insert: after.slice(head, end - tail) };
}

/** Compared by pieces, then by halves of the piece that differs: letter by letter takes long where a text is. */
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

function isInsideCharacter(text: string, at: number): boolean {
  return at > 0 && at < text.length && isLow(text.charCodeAt(at)) && isHigh(text.charCodeAt(at - 1));
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
