import type { SegmentSpan, SessionRow } from "../contracts/store.ts";

/** A run of sequence numbers in one segment, both ends included. */
export interface Run {
  readonly segment: number;
  readonly from: number;
  readonly to: number;
}

/** Where a session's records between two sequence numbers lie, oldest first. What retention cut is not there. */
export function runsOf(row: SessionRow, from = 1, to: number = row.head.seq): readonly Run[] {
  const runs: Run[] = [];
  let before = 0;
  for (const { segment, through } of row.segments) {
    const end = through ?? row.head.seq;
    const run = { segment, from: Math.max(from, before + 1, row.anchor.seq + 1), to: Math.min(to, end) };
    if (run.from <= run.to) runs.push(run);
    before = end;
  }
  return runs;
}

/** The segment that grows. */
export function growing(row: SessionRow): number {
  const last = row.segments.at(-1);
  if (last === undefined) throw new TypeError(`session ${row.id} has no segment`);
  return last.segment;
}

/** The origin's segments up to a record, closed there. */
export function sharedUpTo(row: SessionRow, seq: number): readonly SegmentSpan[] {
  const shared: SegmentSpan[] = [];
  let before = 0;
  for (const { segment, through } of row.segments) {
    if (before >= seq) break;
    const end = Math.min(through ?? row.head.seq, seq);
    if (end > before) shared.push({ segment, through: end });
    before = end;
  }
  return shared;
}

/** What no session reaches in a segment: the holes between the runs, and the open end after them. */
export function holesIn(segment: number, runs: readonly Run[], last: number): readonly Run[] {
  const kept = runs.filter((run) => run.segment === segment).sort((a, b) => a.from - b.from);
  const holes: Run[] = [];
  let next = 1;
  for (const run of kept) {
    if (run.from > next) holes.push({ segment, from: next, to: run.from - 1 });
    next = Math.max(next, run.to + 1);
  }
  if (next <= last) holes.push({ segment, from: next, to: last });
  return holes;
}
