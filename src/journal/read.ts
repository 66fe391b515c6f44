import { HoldfastError } from "../base/errors.ts";
import type { SessionRow, Store } from "../contracts/store.ts";
import type { SessionId } from "../records/ids.ts";
import { BackwardProof, ForwardProof, type JournalEntry } from "./prove.ts";

export interface ReadOptions {
  /** First sequence number wanted; default: the oldest kept. */
  readonly from?: number;
  /** Last one wanted; default: the newest. */
  readonly to?: number;
  readonly reverse?: boolean;
  readonly signal?: AbortSignal;
}

const PAGE = 256;

export async function rowOf(store: Store, session: SessionId): Promise<SessionRow> {
  const row = await store.reading((read) => read.session(session));
  if (row === undefined) throw new HoldfastError("SESSION_UNKNOWN", { session });
  return row;
}

/**
 * Every entry between two sequence numbers, as of now, proven; damage is an entry of its own. Pages are read one by one,
 * so that a slow reader holds up nobody.
 */
export async function* readEntries(
  store: Store,
  session: SessionId,
  options: ReadOptions = {},
): AsyncIterable<JournalEntry> {
  const row = await rowOf(store, session);
  const from = bound("from", options.from, row.anchor.seq + 1, row);
  const to = bound("to", options.to, row.head.seq, row);
  if (from > to) return;
  yield* options.reverse
    ? backward(store, row, from, to, options.signal)
    : forward(store, row, from, to, options.signal);
}

async function* forward(
  store: Store,
  row: SessionRow,
  from: number,
  to: number,
  signal: AbortSignal | undefined,
): AsyncIterable<JournalEntry> {
  // Started one record early where there is one, so that the first record's link is checked too.
  const early = Math.max(from - 1, row.anchor.seq + 1);
  const proof = new ForwardProof(early === row.anchor.seq + 1 ? row.anchor : { seq: early - 1, hash: undefined });
  for (let at = early; at <= to; ) {
    signal?.throwIfAborted();
    const page = await store.reading((read) => read.records(row, { from: at, to, limit: PAGE }));
    for (const entry of proof.prove(page)) if (lastOf(entry) >= from) yield entry;
    const last = page.at(-1);
    if (last === undefined) break;
    at = Math.max(at, last.seq) + 1;
  }
  yield* proof.end(to);
}

async function* backward(
  store: Store,
  row: SessionRow,
  from: number,
  to: number,
  signal: AbortSignal | undefined,
): AsyncIterable<JournalEntry> {
  const proof = new BackwardProof(to, to === row.head.seq ? row.head.hash : undefined);
  for (let at = to; at >= from; ) {
    signal?.throwIfAborted();
    const page = await store.reading((read) => read.records(row, { from, to: at, reverse: true, limit: PAGE }));
    yield* proof.prove(page);
    const last = page.at(-1);
    if (last === undefined) break;
    at = Math.min(at, last.seq) - 1;
  }
  yield* proof.end(from);
}

function lastOf(entry: JournalEntry): number {
  return entry.kind === "damaged" ? entry.through : entry.seq;
}

function bound(option: string, value: number | undefined, standard: number, row: SessionRow): number {
  if (value === undefined) return standard;
  if (!Number.isSafeInteger(value) || value < 0) throw new HoldfastError("BAD_OPTION", { option, value });
  return option === "from" ? Math.max(value, row.anchor.seq + 1) : Math.min(value, row.head.seq);
}
