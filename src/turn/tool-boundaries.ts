import type { CallId } from "../records/ids.ts";
import type { OutputStatus } from "../records/kinds.ts";

/** A tool boundary: where the state stood before and after a call. */
export interface ToolBoundary {
  readonly callId: CallId;
  readonly tool: string;
  readonly status: OutputStatus;
  /** Sequence number of the last record before the call's end. */
  readonly before: number;
  /** Sequence number of the last record of the call and its changes. */
  readonly after: number;
  /** True when a rewind took the call back: then you can no longer go back to it. */
  readonly rewound: boolean;
}

type Boundaries = readonly ToolBoundary[];

/** Of calls that ran inside others, the outermost. */
export type Inside = ReadonlyMap<string, CallId>;

/** Those that ran inside these. Nothing has one that ran inside another for its outermost, so most need not be looked for. */
export function innerOf(calls: ReadonlySet<string>, inside: Inside): readonly string[] {
  if ([...calls].every((callId) => inside.has(callId))) return [];
  return [...inside].flatMap(([callId, outermost]) => (calls.has(outermost) ? [callId] : []));
}

/**
 * The boundaries with that of a call that has just been closed. Calls inside a call happened with it, or did not: whoever
 * returned to between their ends would find calls that succeeded, and nothing of what they changed.
 */
export function withClosed(
  boundaries: Boundaries,
  inside: Inside,
  call: Pick<ToolBoundary, "callId" | "tool" | "status">,
  seq: number,
): Boundaries {
  const { callId, tool, status } = call;
  const before = beforeClosing(boundaries, inside, callId, seq);
  const from = boundaries.findLastIndex((one) => one.before < before) + 1;
  const together = boundaries.slice(from).map((one) => ({ ...one, before, after: seq }));
  return [...boundaries.slice(0, from), ...together, { callId, tool, status, before, after: seq, rewound: false }];
}

/** Calls inside it are closed right before it: who returns to before it returns to before them. */
function beforeClosing(boundaries: Boundaries, inside: Inside, callId: CallId, seq: number): number {
  let before = seq - 1;
  for (let at = boundaries.length - 1; at >= 0; at -= 1) {
    const inner = boundaries[at] as ToolBoundary;
    if (inner.after !== before || inside.get(inner.callId) !== callId) break;
    before = inner.before;
  }
  return before;
}

/**
 * What a call changed is written right after its end: its boundary, and those of calls inside it, reach there, also when
 * nothing is left of the call itself.
 */
export function reachingTo(boundaries: Boundaries, inside: Inside, callId: CallId, seq: number): Boundaries {
  const isOf = (one: ToolBoundary) => !one.rewound && (one.callId === callId || inside.get(one.callId) === callId);
  const found = boundaries.findLast(isOf);
  if (found === undefined) return boundaries;
  return boundaries.map((one) => (one.after === found.after || isOf(one) ? { ...one, after: seq } : one));
}

/** The boundaries when a rewind has gone back to a record: what came after it is told as taken back. */
export function rewoundTo(boundaries: Boundaries, to: number): Boundaries {
  return boundaries.map((one) => (one.after > to ? { ...one, rewound: true } : one));
}
