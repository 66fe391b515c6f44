import { bothErrors } from "../base/errors.ts";
import type { LeaseBatch, PreviousWriter, Receipt, SessionRow, Store } from "../contracts/store.ts";
import type { OwnerId, SessionId } from "../records/ids.ts";
import { conflictError } from "./conflicts.ts";

/** A lease that was taken. */
export interface TakenLease {
  readonly row: SessionRow;
  readonly previousWriter: PreviousWriter;
  readonly mended?: string;
  /** Call this when nobody will write under it any more, whether or not it could be given back. */
  readonly letGo: () => void;
}

const HOLDERS = Symbol.for("holdfast.holders");

/** How many here hold a session as this owner, or are about to, whichever copy of this package they use. */
function holders(): Map<string, number> {
  const here = globalThis as { [HOLDERS]?: Map<string, number> };
  here[HOLDERS] ??= new Map();
  return here[HOLDERS];
}

/**
 * Takes the lease of a session. One whose holder is dead is taken at once, and so is one of our own that nobody here holds:
 * a store that failed while it was taken, or given back, would keep this process from its own session until it expires.
 */
export async function takeLease(store: Store, session: SessionId, leaseMs: number): Promise<TakenLease> {
  const { owner } = store;
  const take = (over?: number): Promise<Receipt<LeaseBatch>> =>
    store.commit({ kind: "lease", session, owner, leaseMs, ...(over === undefined ? {} : { over }) });
  const letGo = hold(owner, session);
  try {
    let receipt = await take();
    if (!receipt.ok && receipt.conflict.kind === "lease-held") {
      const { owner: holder, epoch } = receipt.conflict;
      if (store.isDead(holder) || (holder === owner && holdersOf(owner, session) === 1)) receipt = await take(epoch);
    }
    if (!receipt.ok) throw conflictError(session, receipt.conflict);
    const { row, previousWriter, mended } = receipt;
    return { row, previousWriter, ...(mended === undefined ? {} : { mended }), letGo };
  } catch (error) {
    letGo();
    throw error;
  }
}

/** Whether it is certain that nobody will write under this lease any more. */
export function isLetGo(store: Store, { id, owner }: SessionRow): boolean {
  return owner === null || store.isDead(owner) || (owner === store.owner && holdersOf(owner, id) === 0);
}

/** Gives the lease back after a failure, and answers what to throw: when that fails as well, both are told. */
export async function failedUnder(store: Store, { id, epoch }: SessionRow, failure: unknown): Promise<unknown> {
  try {
    await store.commit({ kind: "release", session: id, epoch });
    return failure;
  } catch (error) {
    return bothErrors(failure, error);
  }
}

function hold(owner: OwnerId, session: SessionId): () => void {
  add(1);
  let held = true;
  return () => {
    if (held) add(-1);
    held = false;
  };
  function add(more: number): void {
    const now = holdersOf(owner, session) + more;
    if (now > 0) holders().set(keyOf(owner, session), now);
    else holders().delete(keyOf(owner, session));
  }
}

function holdersOf(owner: OwnerId, session: SessionId): number {
  return holders().get(keyOf(owner, session)) ?? 0;
}

function keyOf(owner: OwnerId, session: SessionId): string {
  return `${owner}/${session}`;
}
