import { instantOf } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { ANYTHING, checkOptions } from "../base/options.ts";
import type { SessionRow } from "../contracts/store.ts";
import { flawOf, type Link, type SealedRecord, seal } from "../records/chain.ts";
import { encodeDraft } from "../records/codec.ts";
import { type SessionId, toSessionId } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";
import { RECORD_VERSION } from "../records/lift.ts";
import { conflictError } from "./conflicts.ts";
import { refuseImportingId } from "./importing.ts";
import type { JournalDeps } from "./journal.ts";
import { PAGE, rowOf, sealedAt } from "./read.ts";

export interface JournalForkOptions {
  readonly as: string;
  readonly after?: number;
  /** A record of the fork's own, there from the moment the fork is. */
  readonly note?: (after: number) => RecordDraft;
}

/** Makes a new session that shares its origin's records up to `after` (default: all). Nothing is copied. */
export async function forkSession(deps: JournalDeps, from: string, options: JournalForkOptions): Promise<SessionId> {
  return (await forkRow(deps, from, options)).id;
}

/** The same, and how the fork stands when it is made. */
export async function forkRow(deps: JournalDeps, from: string, options: JournalForkOptions): Promise<SessionRow> {
  checkOptions(options, { as: ANYTHING, after: ANYTHING, note: ANYTHING });
  const origin = await rowOf(deps.store, toSessionId(from));
  const session = toSessionId(options.as);
  refuseImportingId(session);
  const after = await linkAt(deps, origin, options.after === undefined ? origin.head.seq : options.after);
  const checkpoint = origin.checkpoint > after.seq ? await checkpointUpTo(deps, origin, after.seq) : undefined;
  const records = options.note === undefined ? [] : [sealedNote(deps, after, options.note(after.seq))];
  const receipt = await deps.store.commit({
    kind: "fork",
    from: origin.id,
    after,
    session,
    at: instantOf(deps.clock),
    ...(records.length === 0 ? {} : { records }),
    ...(checkpoint === undefined ? {} : { checkpoint }),
  });
  if (!receipt.ok)
    throw conflictError(receipt.conflict.kind === "session-exists" ? session : origin.id, receipt.conflict);
  return receipt.row;
}

/** A record outside any append, for a session that nobody has opened yet. */
export function sealedNote({ clock, random, redactor }: JournalDeps, after: Link, note: RecordDraft): SealedRecord {
  const { kind, body } = encodeDraft(note, undefined, redactor);
  return seal(after, { kind, at: instantOf(clock), version: RECORD_VERSION, salt: random.hex(8), body });
}

/** The newest one that can be begun from. Not found nearby, the fork's opening looks at everything. */
async function checkpointUpTo(deps: JournalDeps, row: SessionRow, seq: number): Promise<number | undefined> {
  for (let [at, page] = [seq, 0]; at > row.anchor.seq && page < PAGES; page += 1) {
    const query = { from: row.anchor.seq + 1, to: at, reverse: true, limit: PAGE };
    const records = await deps.store.reading((read) => read.records(row, query));
    const found = records.find(
      (record) => record.kind === "checkpoint-kept" && record.body !== null && flawOf(record) === undefined,
    );
    if (found !== undefined) return found.seq;
    at = (records.at(-1)?.seq ?? 0) - 1;
  }
  return undefined;
}

const PAGES = 8;

async function linkAt(deps: JournalDeps, row: SessionRow, seq: number): Promise<Link> {
  if (seq === row.anchor.seq) return row.anchor;
  const record = Number.isSafeInteger(seq) ? await sealedAt(deps.store, row, seq) : undefined;
  if (record !== undefined && flawOf(record) !== "header-altered") return { seq, hash: record.hash };
  const [oldest, newest] = [row.anchor.seq, row.head.seq];
  throw new HoldfastError("FORK_POINT_UNKNOWN", { session: row.id, after: String(seq), oldest, newest });
}
