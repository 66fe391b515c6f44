import { HoldfastError } from "../base/errors.ts";
import { BOOLEAN, checkOptions, OBJECT, type OptionRules, whole } from "../base/options.ts";
import type { RecordQuery, SessionRow, Store } from "../contracts/store.ts";
import type { SealedRecord } from "../records/chain.ts";
import type { SessionId } from "../records/ids.ts";
import { BackwardProof, ForwardProof, type JournalEntry } from "./prove.ts";

/** Which records to read. */
export interface ReadOptions {
  /** First sequence number. Default: the oldest kept. */
  readonly from?: number;
  /** Last sequence number, included. Default: the newest. */
  readonly to?: number;
  /** Newest first. Default false. */
  readonly reverse?: boolean;
  readonly signal?: AbortSignal;
}

/** Records of one look at the store: a slow reader holds up nobody. */
export const PAGE = 256;
const OPTIONS: OptionRules<ReadOptions> = { from: whole(0), to: whole(0), reverse: BOOLEAN, signal: OBJECT };

export async function rowOf(store: Store, session: SessionId): Promise<SessionRow> {
  const row = await store.reading((read) => read.session(session));
  if (row === undefined) throw new HoldfastError("SESSION_UNKNOWN", { session });
  return row;
}

/** One record as it is stored, proven or not. */
export async function sealedAt(store: Store, row: SessionRow, seq: number): Promise<SealedRecord | undefined> {
  const [record] = await store.reading((read) => read.records(row, { from: seq, to: seq, limit: 1 }));
  return record?.seq === seq ? record : undefined;
}

/**
 * Every entry between two sequence numbers, as of now and proven. Damage is an entry of its own. Records are read page
 * by page, so that a slow reader does not hold up others.
 */
export async function* readEntries(
  store: Store,
  session: SessionId,
  options: ReadOptions = {},
): AsyncIterable<JournalEntry> {
  checkOptions(options, OPTIONS);
  const row = await rowOf(store, session);
  const from = Math.max(options.from ?? 0, row.anchor.seq + 1);
  const to = Math.min(options.to ?? row.head.seq, row.head.seq);
  if (from > to) return;
  yield* options.reverse
    ? backward(store, row, from, to, options.signal)
    : forward(store, row, from, to, options.signal);
}

async function* forward(
  store: Store,
  first: SessionRow,
  from: number,
  to: number,
  signal: AbortSignal | undefined,
): AsyncIterable<JournalEntry> {
  // One record more than asked for, so that the first one's link is checked too.
  const start = (row: SessionRow, at: number) =>
    new ForwardProof(at === row.anchor.seq + 1 ? row.anchor : { seq: at - 1, hash: undefined }, first.head);
  let at = Math.max(from - 1, first.anchor.seq + 1);
  let proof = start(first, at);
  while (at <= to) {
    signal?.throwIfAborted();
    const { row, page } = await pageOf(store, first, { from: at, to, limit: PAGE });
    if (row.anchor.seq >= at) {
      // Retention has cut meanwhile: what it took is forgotten, not damaged.
      at = row.anchor.seq + 1;
      proof = start(row, at);
    }
    for (const entry of proof.prove(page)) if (lastOf(entry) >= from) yield within(entry, from, to);
    const last = page.at(-1);
    if (last === undefined) break;
    at = Math.max(at, last.seq) + 1;
  }
  for (const entry of proof.end(to)) yield within(entry, from, to);
}

async function* backward(
  store: Store,
  first: SessionRow,
  from: number,
  to: number,
  signal: AbortSignal | undefined,
): AsyncIterable<JournalEntry> {
  const proof = new BackwardProof(to, to === first.head.seq ? first.head.hash : undefined);
  let oldest = from;
  for (let at = to; at >= oldest; ) {
    signal?.throwIfAborted();
    const { row, page } = await pageOf(store, first, { from: oldest, to: at, reverse: true, limit: PAGE });
    oldest = Math.max(from, row.anchor.seq + 1);
    yield* proof.prove(page);
    const last = page.at(-1);
    if (last === undefined) break;
    at = Math.min(at, last.seq) - 1;
  }
  yield* proof.end(oldest);
}

/** A page and the session's row of the same moment: retention and a sweep may come between two pages. */
function pageOf(store: Store, { id }: SessionRow, query: RecordQuery) {
  return store.reading(async (read) => {
    const row = await read.session(id);
    if (row === undefined) throw new HoldfastError("SESSION_UNKNOWN", { session: id });
    return { row, page: await read.records(row, query) };
  });
}

/** A run of missing records may begin before what was asked for. */
function within(entry: JournalEntry, from: number, to: number): JournalEntry {
  if (entry.kind !== "damaged") return entry;
  return { ...entry, seq: Math.max(entry.seq, from), through: Math.min(entry.through, to) };
}

function lastOf(entry: JournalEntry): number {
  return entry.kind === "damaged" ? entry.through : entry.seq;
}
