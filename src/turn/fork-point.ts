import { HoldfastError } from "../base/errors.ts";
import type { Store } from "../contracts/store.ts";
import { type ReadOptions, readEntries } from "../journal/read.ts";
import type { JournalEntry } from "../journal/prove.ts";
import type { SessionId } from "../records/ids.ts";
import type { SessionCheckpoints } from "./checkpoints.ts";
import { type RewindTarget, targetOf } from "./rewind.ts";

/** What is needed to find where a fork begins. */
interface ForkGround {
  readonly openCalls: { has(callId: string): boolean };
  readonly checkpoints: Pick<SessionCheckpoints, "boundary">;
  readonly read: (options: ReadOptions) => AsyncIterable<JournalEntry>;
}

/** The record after which a fork from this boundary begins. `before` may name a call that is still open. */
export async function forkPoint(target: RewindTarget, { openCalls, checkpoints, read }: ForkGround): Promise<number> {
  const { callId, side } = targetOf(target);
  if (!openCalls.has(callId)) return checkpoints.boundary(callId)[side];
  if (side === "after") throw new HoldfastError("CALLS_OPEN", { calls: [callId] });
  for await (const entry of read({ reverse: true }))
    if (entry.kind === "call-opened" && entry.callId === callId) return entry.seq - 1;
  throw new HoldfastError("CHECKPOINT_UNKNOWN", { call: callId });
}

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
