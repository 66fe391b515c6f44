import { toInstant } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { unreachable } from "../base/unreachable.ts";
import type { Conflict, Receipt, Store, WriteBatch } from "../contracts/store.ts";
import type { OwnerId, SessionId } from "../records/ids.ts";

/** What a store answers to a batch that it takes. One that it refuses is thrown, as an error with a remedy. */
export async function committed<B extends WriteBatch>(
  store: Store,
  session: SessionId | undefined,
  batch: B,
): Promise<Extract<Receipt<B>, { readonly ok: true }>> {
  const receipt = await store.commit(batch);
  if (!receipt.ok) throw conflictError(session, receipt.conflict);
  return receipt;
}

/** A store's refusal as an error with a remedy. */
export function conflictError(session: SessionId | undefined, conflict: Conflict): HoldfastError {
  switch (conflict.kind) {
    case "session-unknown":
      return new HoldfastError("SESSION_UNKNOWN", { session });
    case "session-exists":
      return new HoldfastError("SESSION_EXISTS", { session });
    case "session-damaged":
      return new HoldfastError("SESSION_DAMAGED", { session, detail: conflict.detail });
    case "session-sound":
      return new HoldfastError("SESSION_SOUND", { session });
    case "store-shared":
      return new HoldfastError("STORE_SHARED", { session });
    case "lease-held":
      return busyError(session, conflict.owner, conflict.until);
    case "lease-lost":
      return new HoldfastError("LEASE_LOST", { session, epoch: conflict.epoch });
    case "head-moved":
      return new HoldfastError("HEAD_MOVED", { session, head: conflict.head.seq });
    case "link-unknown":
      return new HoldfastError("FORK_POINT_UNKNOWN", { session });
    case "blobs-missing":
      return new HoldfastError("BLOB_MISSING", { session, names: conflict.names });
    default:
      return unreachable(conflict);
  }
}

/** `until`: when the lease ends that its writer holds. A writer that lives renews it before. */
export function busyError(session: SessionId | undefined, writer: OwnerId, until: number): HoldfastError {
  return new HoldfastError("SESSION_BUSY", { session, writer, until: toInstant(until) });
}
