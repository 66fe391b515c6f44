/** Elements of a list from one place up to another. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** One place where two lists differ: what `was` there in the first `is` something else in the second. */
export interface Difference {
  readonly was: Span;
  readonly is: Span;
}

/**
 * Where two lists differ, from left to right; what lies between two differences is in both, by reference. It knows
 * elements that only moved along because others went or came before them, as in a list that keeps its newest entries.
 */
export function differencesOf(before: readonly unknown[], after: readonly unknown[]): readonly Difference[] {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && Object.is(before[head], after[head])) head += 1;
  let tail = 0;
  while (tail < shorter - head && Object.is(before[before.length - 1 - tail], after[after.length - 1 - tail]))
    tail += 1;
  const found: Difference[] = [];
  let was: Span = { from: head, to: before.length - tail };
  let is: Span = { from: head, to: after.length - tail };
  while (lengthOf(was) + lengthOf(is) > 0) {
    const run = movedAlong(before, after, was, is);
    if (run === undefined) return [...found, { was, is }];
    found.push({ was: { from: was.from, to: run.was }, is: { from: is.from, to: run.is } });
    was = { from: run.was + run.length, to: was.to };
    is = { from: run.is + run.length, to: is.to };
  }
  return found;
}

interface Run {
  readonly was: number;
  readonly is: number;
  readonly length: number;
}

/** The run of shared elements after those that went, or came, first. A short one is chance, and worth no second difference. */
function movedAlong(before: readonly unknown[], after: readonly unknown[], was: Span, is: Span): Run | undefined {
  const shorter = Math.min(lengthOf(was), lengthOf(is));
  if (shorter === 0 || lengthOf(was) + lengthOf(is) === 2) return undefined;
  const run = (wasAt: number, isAt: number): Run => {
    let length = 0;
    while (wasAt + length < was.to && isAt + length < is.to && Object.is(before[wasAt + length], after[isAt + length]))
      length += 1;
    return { was: wasAt, is: isAt, length };
  };
  const came = after.indexOf(before[was.from], is.from + 1);
  const went = before.indexOf(after[is.from], was.from + 1);
  const runs = [came === -1 ? undefined : run(was.from, came), went === -1 ? undefined : run(went, is.from)];
  return runs.find((one) => one !== undefined && 2 * one.length >= shorter);
}

function lengthOf({ from, to }: Span): number {
  return to - from;
}
