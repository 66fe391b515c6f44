import type { Clock } from "../base/clock.ts";
import { AMOUNT, checkOptions, type OptionRules } from "../base/options.ts";
import type { DropBatch, SessionRow, Store } from "../contracts/store.ts";
import type { TokenCounter } from "../contracts/token-counter.ts";
import type { Link } from "../records/chain.ts";
import { decodeRecord } from "../records/codec.ts";
import { toSessionId } from "../records/ids.ts";
import type { BodyOf } from "../records/kinds.ts";
import { committed } from "./conflicts.ts";
import { appendReserved, type Journal } from "./journal.ts";
import { PAGE, rowOf, sealedAt } from "./read.ts";

/** Upper bounds on what a session keeps. What is left out is not bounded. */
export interface RetentionBounds {
  /** How many records. */
  readonly records?: number;
  /** Bytes of the records' bodies. */
  readonly bytes?: number;
  /** Age of the oldest record, in milliseconds. */
  readonly ageMs?: number;
  /** Tokens of the records' bodies, by `counter`: what a model would have to read to know everything that is kept. */
  readonly tokens?: number;
}

/** What retention works with. Without a counter four characters count as a token. */
export interface RetentionDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly counter?: TokenCounter;
}

/** What retention did to a session. */
export interface Retained {
  /** How many records the session no longer reaches. `sweep` frees their space. */
  readonly forgotten: number;
  /**
   * False when the bounds cannot be met: what follows the newest checkpoint stays, and so does what an open call needs.
   */
  readonly withinBounds: boolean;
  /** The open calls because of which more is kept. */
  readonly awaited?: readonly string[];
}

export const RETENTION_OPTIONS: OptionRules<RetentionBounds> = {
  records: AMOUNT,
  bytes: AMOUNT,
  ageMs: AMOUNT,
  tokens: AMOUNT,
};
/** The record that tells of a cut counts too, and comes on top of what is kept. */
const CUT: Kept = { records: 1, bytes: 256, tokens: 64 };
const CHARACTERS_PER_TOKEN = 4;

/**
 * Forgets the oldest records of a session. The cut is at a checkpoint, because opening must be able to start there. It
 * leaves an anchor that proves the records after it, and a record that says how much was cut off and why.
 */
export async function retain(deps: RetentionDeps, journal: Journal, bounds: RetentionBounds): Promise<Retained> {
  checkOptions(bounds, RETENTION_OPTIONS);
  const row = await rowOf(deps.store, journal.session);
  const cut = await chooseCut(deps, row, bounds);
  const { left } = cut;
  const forgotten = cut.anchor.seq - row.anchor.seq;
  if (forgotten > 0) {
    const reason = `retention: ${JSON.stringify(bounds)}`;
    await appendReserved(
      journal,
      { kind: "history-cut", through: cut.anchor.seq, records: forgotten, reason, left },
      { anchor: cut.anchor },
    );
  }
  return { forgotten, ...told(cut) };
}

/** What `retain` would do to a session. Changes nothing, and works while somebody writes the session. */
export async function planRetention(
  deps: { readonly store: Store; readonly clock: Clock },
  session: string,
  bounds: RetentionBounds,
): Promise<Retained> {
  checkOptions(bounds, RETENTION_OPTIONS);
  const row = await rowOf(deps.store, toSessionId(session));
  const cut = await chooseCut(deps, row, bounds);
  return { forgotten: cut.anchor.seq - row.anchor.seq, ...told(cut) };
}

function told({ withinBounds, awaited }: Cut): Omit<Retained, "forgotten"> {
  return withinBounds || awaited.size === 0 ? { withinBounds } : { withinBounds, awaited: [...awaited] };
}

/** Without these, after the newest checkpoint, a call that has ended would look open, and be closed a second time. */
const RECOVERY_NEEDS: ReadonlySet<string> = new Set(["call-opened", "call-closed"]);

/** In one transaction, which nothing interrupts: the bodies of thousands would hold up everything else in the process. */
const DROPPED_AT_ONCE = 128;

export interface DroppedBodies {
  readonly dropped: number;
  readonly bytes: number;
  /** Those that were asked for and that the session cannot do without. */
  readonly needed: readonly number[];
}

/**
 * Drops the bodies of records and leaves their headers, which still prove that the records were there. Bodies that
 * recovery needs stay: write a checkpoint first, then they can be dropped. So do those that other sessions show, except
 * `despite`.
 */
export async function dropBodies(
  store: Store,
  journal: Journal,
  wanted: readonly number[],
  reason: string,
  options: Pick<DropBatch, "despite" | "mayLinger"> = {},
): Promise<DroppedBodies> {
  const row = await rowOf(store, journal.session);
  // What a cut has left begins with a checkpoint; without its body, nobody could begin there.
  const needed = new Set<number>(row.anchor.seq > 0 ? [row.anchor.seq + 1] : []);
  for (const seq of wanted.filter((seq) => seq >= row.checkpoint)) {
    const record = await sealedAt(store, row, seq);
    if (record !== undefined && RECOVERY_NEEDS.has(record.kind)) needed.add(seq);
  }
  const seqs = wanted.filter((seq) => !needed.has(seq));
  const { session, epoch } = journal;
  let dropped = 0;
  let bytes = 0;
  for (let at = 0; at < seqs.length; at += DROPPED_AT_ONCE) {
    const some = seqs.slice(at, at + DROPPED_AT_ONCE);
    const gone = await committed(store, session, { kind: "drop", session, epoch, seqs: some, reason, ...options });
    dropped += gone.dropped;
    bytes += gone.bytes;
  }
  return { dropped, bytes, needed: [...needed] };
}

interface Cut {
  readonly anchor: Link;
  readonly withinBounds: boolean;
  /** Calls that ended, and words of the user's, that come after it. */
  readonly left: number;
  /** Calls that were open at checkpoints after it, and have not ended since. */
  readonly awaited: ReadonlySet<string>;
}

/** What conversation_history tells of: one record each. */
const TOLD: ReadonlySet<string> = new Set(["user-said", "call-closed"]);

/** Walks back from the head: the oldest checkpoint that leaves all within bounds, else the newest there is, else nothing goes. */
async function chooseCut(deps: RetentionDeps, row: SessionRow, bounds: RetentionBounds): Promise<Cut> {
  // Counting tokens takes its time, and is done only for whom they matter.
  const tokensIn = bounds.tokens === undefined ? () => 0 : (body: string) => tokensOf(deps.counter, body);
  const now = deps.clock.now();
  let fitting: Omit<Cut, "withinBounds" | "awaited"> | undefined;
  let newest: Omit<Cut, "withinBounds" | "awaited"> | undefined;
  const ended = new Set<string>();
  const awaited = new Set<string>();
  let left = 0;
  let exceeded = false;
  let kept: Kept = { records: 0, bytes: 0, tokens: 0 };
  for (let at = row.head.seq; at > row.anchor.seq; ) {
    const query = { from: row.anchor.seq + 1, to: at, reverse: true, limit: PAGE };
    const page = await deps.store.reading((read) => read.records(row, query));
    for (const record of page) {
      const ageMs = now - Date.parse(record.at);
      kept = {
        records: row.head.seq - record.seq + 1,
        bytes: kept.bytes + Buffer.byteLength(record.body ?? ""),
        tokens: kept.tokens + tokensIn(record.body ?? ""),
      };
      exceeded ||= !fits(bounds, kept, ageMs);
      const chosen = fitting ?? newest;
      if (exceeded && chosen !== undefined) return { ...chosen, awaited, withinBounds: fitting !== undefined };
      if (TOLD.has(record.kind) && record.body !== null) left += 1;
      const decoded = READ.has(record.kind) ? decodeRecord(record) : undefined;
      if (decoded?.ok !== true) continue;
      if (decoded.value.kind === "call-closed") ended.add(decoded.value.callId);
      // One without its body says neither what was open nor what was true: nobody could begin there.
      if (decoded.value.kind !== "checkpoint-kept") continue;
      const open = awaitedAt(decoded.value, ended);
      for (const callId of open) awaited.add(callId);
      if (open.length > 0) continue;
      const here = { anchor: { seq: record.seq - 1, hash: record.prev }, left };
      if (exceeded) return { ...here, awaited, withinBounds: false };
      if (fits(bounds, withCut(kept), ageMs)) fitting = here;
      else newest ??= here;
    }
    at = (page.at(-1)?.seq ?? 0) - 1;
  }
  return { anchor: row.anchor, awaited, withinBounds: !exceeded, left };
}

/** Kinds that tell whether the cut may fall at a checkpoint. */
const READ: ReadonlySet<string> = new Set(["checkpoint-kept", "call-closed"]);

/** Calls that were open there and have not ended since: their questions would be forgotten, and their answers fit nothing. */
function awaitedAt({ openCalls }: BodyOf<"checkpoint-kept">, ended: ReadonlySet<string>): readonly string[] {
  return openCalls.map(({ callId }) => callId).filter((callId) => !ended.has(callId));
}

interface Kept {
  readonly records: number;
  readonly bytes: number;
  readonly tokens: number;
}

function withCut({ records, bytes, tokens }: Kept): Kept {
  return { records: records + CUT.records, bytes: bytes + CUT.bytes, tokens: tokens + CUT.tokens };
}

function fits(bounds: RetentionBounds, kept: Kept, ageMs: number): boolean {
  const most = Number.POSITIVE_INFINITY;
  const { records = most, bytes = most, tokens = most, ageMs: oldest = most } = bounds;
  return kept.records <= records && kept.bytes <= bytes && kept.tokens <= tokens && !(ageMs > oldest); // damaged: no age
}

function tokensOf(counter: TokenCounter | undefined, body: string): number {
  return counter === undefined ? Math.ceil(body.length / CHARACTERS_PER_TOKEN) : counter.count(body);
}
