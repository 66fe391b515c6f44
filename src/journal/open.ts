import { instantOf } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import type { JsonLimits } from "../base/json.ts";
import { BOOLEAN, checkOptions, FUNCTION, OBJECT, type OptionRules, whole } from "../base/options.ts";
import type { SessionRow, Store } from "../contracts/store.ts";
import { genesisOf } from "../records/chain.ts";
import { DEEPEST } from "../records/codec.ts";
import { type SessionId, toSessionId } from "../records/ids.ts";
import { conflictError } from "./conflicts.ts";
import { refuseImportingId } from "./importing.ts";
import { Journal, type JournalDeps } from "./journal.ts";
import { failedUnder, takeLease } from "./take-lease.ts";
import type { Fold, Sealed } from "./seal-batch.ts";
import { ForwardProof, type JournalEntry } from "./prove.ts";
import { PAGE, rowOf, sealedAt } from "./read.ts";

/** Options of `openJournal`. */
export interface OpenOptions<T = unknown> {
  /** Creates the session if there is none. Default true. */
  readonly create?: boolean;
  /** How long a silent writer keeps the session, in milliseconds. A dead one loses it at once. Default 30 000. */
  readonly leaseMs?: number;
  /** How deep and how large one record may be. Default: 128 levels, 64 Mi characters. */
  readonly limits?: JsonLimits;
  /** Carried along the chain; see `Fold`. */
  readonly fold?: Fold<T>;
  /** Called with records when they are durable, or written where they are `unsynced`. It must not throw. */
  readonly written?: (records: readonly Sealed[]) => void;
}

export const OPEN_OPTIONS: OptionRules<OpenOptions> = {
  create: BOOLEAN,
  leaseMs: whole(10, 86_400_000),
  // One of the two left out would be no limit at all.
  limits: {
    wants: "depth and characters",
    fits: (value) => OBJECT.fits(value) && "depth" in Object(value) && "characters" in Object(value),
  },
  fold: OBJECT,
  written: FUNCTION,
};
/** As far as JSON itself can be written and read back. */
const LIMITS: OptionRules<JsonLimits> = { depth: whole(1, DEEPEST), characters: whole(2, 2 ** 28) };

/**
 * Opens a journal for writing: verifies the tail, takes the lease, and verifies what was written meanwhile. A session
 * that cannot be continued honestly is refused before anything is written.
 */
export async function openJournal<T = unknown>(
  deps: JournalDeps,
  id: string,
  options: OpenOptions<T> = {},
): Promise<Journal<T>> {
  const session = toSessionId(id);
  checkOptions(options, OPEN_OPTIONS);
  if (options.limits !== undefined) checkOptions(options.limits, LIMITS);
  const leaseMs = options.leaseMs ?? 30_000;
  await ensureSession(deps, session, options.create ?? true);
  const before = await rowOf(deps.store, session);
  const verified = await verifyTail(deps.store, before);
  const { row, previousWriter, mended, letGo } = await takeLease(deps.store, session, leaseMs);
  try {
    const tail = row.head.hash === before.head.hash ? verified : await verifyTail(deps.store, row);
    const opened = { previousWriter, tail, ...(mended === undefined ? {} : { mended }) };
    return new Journal(deps, row, opened, { ...options, leaseMs, letGo });
  } catch (error) {
    const told = await failedUnder(deps.store, row, error);
    letGo();
    throw told;
  }
}

async function ensureSession(deps: JournalDeps, session: SessionId, create: boolean): Promise<void> {
  const row = await deps.store.reading((read) => read.session(session));
  if (row !== undefined) return;
  if (!create) throw new HoldfastError("SESSION_UNKNOWN", { session });
  refuseImportingId(session);
  const receipt = await deps.store.commit({
    kind: "create",
    session,
    at: instantOf(deps.clock),
    genesis: genesisOf(session),
  });
  // Another process may have been faster: then the session is there, which is all we want.
  if (!receipt.ok && receipt.conflict.kind !== "session-exists") throw conflictError(session, receipt.conflict);
}

/**
 * From the newest checkpoint to the head. Altered records are named and passed over; a missing head means that
 * acknowledged records are gone, and a damaged checkpoint that the story must be read from its beginning.
 */
export async function verifyTail(store: Store, row: SessionRow): Promise<readonly JournalEntry[]> {
  const oldest = row.anchor.seq + 1;
  const from = Math.max(row.checkpoint, oldest);
  await refuseLostOrigin(store, row);
  const tail = await proveFrom(store, row, from);
  // Whatever the checkpoint would have told is told by what came before it, also when its body was dropped.
  return from > oldest && tail[0]?.kind !== "checkpoint-kept" ? proveFrom(store, row, oldest) : tail;
}

/**
 * What a fork shares lies before its newest checkpoint, where opening does not read. The ends of every shared part are
 * looked up all the same, however long it is: an origin that was cut off or lost must not pass for a whole session.
 */
async function refuseLostOrigin(store: Store, row: SessionRow): Promise<void> {
  let first = 1;
  for (const { through } of row.segments) {
    if (through === null) return;
    for (const seq of new Set([Math.max(first, row.anchor.seq + 1), through])) {
      if (seq <= row.anchor.seq) continue; // forgotten on purpose
      if ((await sealedAt(store, row, seq)) === undefined)
        throw new HoldfastError("FORK_INCOMPLETE", { session: row.id, missing: seq });
    }
    first = through + 1;
  }
}

async function proveFrom(store: Store, row: SessionRow, from: number): Promise<readonly JournalEntry[]> {
  const after = from === row.anchor.seq + 1 ? row.anchor : { seq: from - 1, hash: undefined };
  const proof = new ForwardProof(after, row.head);
  const tail: JournalEntry[] = [];
  let newest = from - 1;
  for (let at = from; at <= row.head.seq; at = newest + 1) {
    const page = await store.reading((read) => read.records(row, { from: at, to: row.head.seq, limit: PAGE }));
    tail.push(...proof.prove(page));
    const last = page.at(-1);
    if (last === undefined) break;
    newest = last.seq;
  }
  tail.push(...proof.end(row.head.seq));
  refuseIncomplete(row, tail, newest);
  return tail;
}

function refuseIncomplete(row: SessionRow, tail: readonly JournalEntry[], newest: number): void {
  const details = { session: row.id, newestFound: newest, newestAcknowledged: row.head.seq };
  const inherited = Math.max(0, ...row.segments.map(({ through }) => through ?? 0));
  const missing = tail.find((entry) => entry.kind === "damaged" && entry.detail === "missing");
  if (missing !== undefined && missing.seq <= inherited)
    throw new HoldfastError("FORK_INCOMPLETE", { ...details, missing: missing.seq });
  if (newest < row.head.seq) throw new HoldfastError("SESSION_DAMAGED", details);
}
