import type { Store } from "../contracts/store.ts";
import type { Journal } from "../journal/journal.ts";
import { dropBodies } from "../journal/retention.ts";
import type { SessionFold } from "./fold.ts";

/** Takes the state out of records that no kept boundary needs. They stay provable, and the conversation stays whole. */
export async function reclaim(store: Store, journal: Journal<SessionFold>): Promise<number> {
  const seqs = journal.folded.stale.flatMap(({ base, changes }) => (base > 0 ? [base, ...changes] : changes));
  if (seqs.length === 0) return 0;
  const why = "no kept checkpoint needs this state";
  const { dropped } = await dropBodies(store, journal, seqs, why, { mayLinger: true });
  return dropped;
}
