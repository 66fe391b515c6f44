import type { Link } from "../records/chain.ts";
import type { Store } from "../contracts/store.ts";
import type { Journal } from "../journal/journal.ts";
import { readEntries } from "../journal/read.ts";
import type { SessionId } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";

/**
 * What a fork has to tell of its beginning itself: its origin was cut after the point where the fork begins, so the record of
 * the cut stayed behind. Without one, boundaries would be offered whose records are gone, and nobody would hear why.
 */
export async function untoldCut(
  store: Store,
  origin: SessionId,
  fork: Pick<Journal, "read">,
  { anchor, point }: { readonly anchor: Link; readonly point: number },
): Promise<RecordDraft | undefined> {
  if (anchor.seq === 0) return undefined;
  let records = 0;
  let reason: string | undefined;
  for await (const entry of readEntries(store, origin, { from: point + 1 })) {
    if (entry.kind !== "history-cut" || entry.through > anchor.seq) continue;
    records += entry.records;
    reason = entry.reason;
  }
  if (reason === undefined) return undefined;
  let left = 0;
  for await (const { kind } of fork.read()) if (kind === "user-said" || kind === "call-closed") left += 1;
  return { kind: "history-cut", through: anchor.seq, records, reason, left };
}
