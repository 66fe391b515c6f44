import type { Store } from "../contracts/store.ts";
import type { Journal } from "../journal/journal.ts";
import { readEntries, rowOf } from "../journal/read.ts";
import { type SessionId, toSessionId } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";

/** What the first record of a fork says, in the commit that makes it, and its last one takes back when all is in place. */
export function forkMark(from: string, after: number, done: boolean): RecordDraft {
  return { kind: "forked", from: toSessionId(from), after, ...(done ? {} : { ready: false }) };
}

/**
 * Whether a fork was begun and its maker died before its mode and its files were in place. Opened like any other session it
 * would be out of plan mode, or write where its origin writes. A damaged record is no proof: then it counts as whole.
 */
export async function isUnfinishedFork(store: Store, id: SessionId): Promise<boolean> {
  const row = await store.reading((read) => read.session(id));
  const inherited = row?.segments.at(-2)?.through;
  if (row === undefined || inherited === undefined || inherited === null || row.anchor.seq > inherited) return false;
  let begun = false;
  for await (const entry of readEntries(store, id, { from: inherited + 1 })) {
    if (entry.kind === "damaged") return false;
    if (entry.kind === "forked") begun = entry.ready === false;
    if (!begun) return false;
  }
  return begun;
}

/**
 * A fork says that it is one when its mode, and whom it works for, are those of its origin. One that does not was cut off
 * in between, and what it would have inherited is not known any more. Answers what it had still to say.
 */
export async function cutOffFork(
  store: Store,
  journal: Journal,
): Promise<Extract<RecordDraft, { readonly kind: "forked" }> | undefined> {
  const { segments, anchor } = await rowOf(store, journal.session);
  const after = segments.at(-2)?.through ?? 0;
  if (after === 0 || anchor.seq > after) return undefined; // no fork, or one so old that its beginning is gone
  for await (const { kind } of journal.read({ from: after + 1 })) if (kind === "forked") return undefined;
  let from = journal.session;
  for await (const entry of journal.read({ to: 1 })) if (entry.kind === "session-created") from = entry.session;
  return { kind: "forked", from, after };
}
