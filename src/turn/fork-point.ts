import { HoldfastError } from "../base/errors.ts";
import type { Store } from "../contracts/store.ts";
import { readEntries } from "../journal/read.ts";
import type { SessionId } from "../records/ids.ts";

/**
 * A call's end, the ends of those inside it and what they changed are one commit. A fork that began inside it would tell of a
 * call that succeeded, with nothing of what it did.
 */
export async function refuseInsideCommit(store: Store, session: SessionId, after: number): Promise<void> {
  let closed: string | undefined;
  for await (const entry of readEntries(store, session, { from: after })) {
    if (entry.kind === "call-closed") {
      closed ??= entry.callId;
      continue;
    }
    const { seq, kind } = entry;
    if (kind !== "state-changed" || closed === undefined || entry.callId === undefined) return;
    if (closed === entry.callId || closed.startsWith(`${entry.callId}.`))
      throw new HoldfastError("FORK_POINT_UNKNOWN", { session, after, inside: entry.callId, next: seq });
    return;
  }
}
