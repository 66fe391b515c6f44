import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import type { Store } from "../contracts/store.ts";
import type { SessionId } from "../records/ids.ts";
import { conflictError } from "./conflicts.ts";

/** A lease in somebody's hand. */
export interface HeldLease {
  readonly session: SessionId;
  readonly epoch: number;
  readonly leaseMs: number;
  /** When it was last made longer, by this clock. */
  renewedAt: number;
}

/** Appends renew the lease; between them this does. A holder that cannot renew is told so before its next append. */
export async function keepLease(
  { clock, store }: { readonly clock: Clock; readonly store: Store },
  lease: HeldLease,
  stop: AbortSignal,
  lost: (error: unknown) => void,
): Promise<void> {
  const { session, epoch, leaseMs } = lease;
  for (;;) {
    try {
      await clock.sleep(leaseMs / 3, stop);
    } catch {
      return; // closed or lost: there is no lease to keep
    }
    if (clock.monotonic() - lease.renewedAt < leaseMs / 3) continue;
    try {
      const receipt = await store.commit({ kind: "renew", session, epoch, leaseMs });
      if (receipt.ok) lease.renewedAt = clock.monotonic();
      else lost(conflictError(session, receipt.conflict));
    } catch (error) {
      if (HoldfastError.is(error, "STORE_CLOSED")) lost(error);
      // Otherwise the store is in trouble now: the next append will say so, or the next renewal will succeed.
    }
  }
}
