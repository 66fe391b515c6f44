import { HoldfastError } from "../base/errors.ts";
import type { SessionRow, Store } from "../contracts/store.ts";
import { type SessionId, toSessionId } from "../records/ids.ts";
import { busyError, committed } from "./conflicts.ts";
import type { JournalDeps } from "./journal.ts";
import { rowOf } from "./read.ts";
import { failedUnder, isLetGo, takeLease } from "./take-lease.ts";
import { sessionRows } from "./verify.ts";

/** What a deletion removed, or would remove. */
export interface Deleted {
  readonly session: SessionId;
  /** How many records are deleted with it. `sweep` frees their space, and content that only they named. */
  readonly records: number;
  /** How many records stay, because forks share them. */
  readonly shared: number;
}

/** Long enough for one commit. Whoever dies before it leaves a session that its next writer takes at once. */
const LEASE_MS = 60_000;

/** What deleting a session would remove. Refused, like the deletion itself, while somebody writes the session. */
export async function planDeletion(
  { store, clock }: Pick<JournalDeps, "store" | "clock">,
  id: string,
): Promise<Deleted> {
  const row = await rowOf(store, toSessionId(id));
  const { owner, leaseUntil } = row;
  if (owner !== null && leaseUntil > clock.now() && !isLetGo(store, row)) throw busyError(row.id, owner, leaseUntil);
  const kept = row.head.seq - row.anchor.seq;
  const shared = await sharedOf(store, row);
  return { session: row.id, records: kept - shared, shared };
}

/** Deletes a session in one commit. Its name becomes free, and forks keep the records they share with it. */
export async function deleteSession(deps: JournalDeps, id: string): Promise<void> {
  await deleteIf(deps, id, async () => true);
}

/**
 * The same, if it still is what is meant when nobody else can change it any more: what was looked at before may have been
 * finished since, or be another session of the same name. Answers whether it is gone.
 */
export async function deleteIf(deps: JournalDeps, id: string, isMeant: () => Promise<boolean>): Promise<boolean> {
  const session = toSessionId(id);
  const { row, letGo } = await takeLease(deps.store, session, LEASE_MS);
  const { epoch } = row;
  try {
    if (!(await isMeant())) {
      await deps.store.commit({ kind: "release", session, epoch });
      return false;
    }
    await committed(deps.store, session, { kind: "delete", session, epoch });
    return true;
  } catch (error) {
    throw await failedUnder(deps.store, row, error);
  } finally {
    letGo();
  }
}

/** A damaged session that was given up, or would be. */
export interface Forgotten {
  readonly session: SessionId;
  /** What is wrong with it. */
  readonly damaged: string;
}

/** What forgetting a damaged session would give up. Refused for one that can be read. */
export async function planForgetting({ store }: Pick<JournalDeps, "store">, id: string): Promise<Forgotten> {
  const session = toSessionId(id);
  try {
    await rowOf(store, session);
  } catch (error) {
    if (!HoldfastError.is(error, "SESSION_DAMAGED")) throw error;
    const { detail } = error.details;
    return { session, damaged: typeof detail === "string" ? detail : error.message };
  }
  throw new HoldfastError("SESSION_SOUND", { session });
}

/** Gives up a damaged session that cannot be mended. Forks keep what they share with it. */
export async function forgetDamaged({ store }: Pick<JournalDeps, "store">, id: string): Promise<void> {
  const session = toSessionId(id);
  await committed(store, session, { kind: "forget", session });
}

/** Up to where the longest of the other sessions that share its segments reaches into it. */
async function sharedOf(store: Store, row: SessionRow): Promise<number> {
  let through = row.anchor.seq;
  for await (const other of sessionRows(store))
    if (!("damaged" in other) && other.id !== row.id) through = Math.max(through, sharedThrough(row, other));
  return through - row.anchor.seq;
}

/** The last record that both of two sessions show; 0 when there is none. */
export function sharedThrough(row: SessionRow, other: SessionRow): number {
  let through = 0;
  for (const [index, { segment }] of row.segments.entries()) {
    const theirs = other.segments[index];
    if (theirs?.segment !== segment) break;
    const [end, mine] = [theirs.through ?? other.head.seq, row.segments[index]?.through ?? row.head.seq];
    through = Math.min(end, mine);
  }
  return through;
}
