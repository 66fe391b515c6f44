import type { SessionRow, Store } from "../contracts/store.ts";
import { sharedThrough } from "../journal/delete.ts";
import { readEntries, rowOf } from "../journal/read.ts";
import { dropBodies } from "../journal/retention.ts";
import { sweepAway } from "../journal/sweep.ts";
import { sessionRows } from "../journal/verify.ts";
import type { BlobName, SessionId } from "../records/ids.ts";
import type { AnyPart, Part } from "../state/part.ts";
import { catalogPart, withoutSecretReason } from "./catalog-part.ts";
import { KeptSecrets } from "./kept-secrets.ts";
import type { Session } from "./session.ts";

/** What `holdfast.dropSecrets` has dropped, by sequence number. */
export interface DroppedSecrets {
  /** Records whose bodies are gone. Their headers still prove that they were there. */
  readonly dropped: readonly number[];
  /**
   * Records that hold a secret and could not be dropped, because another session shows them too or this session begins
   * there. Shared ones are dropped once you have called `dropSecrets` for every session that shows them.
   */
  readonly left: readonly number[];
  /** False when a reader was in the way: the store's files may hold traces of what was dropped until you try again. */
  readonly erased: boolean;
}

/**
 * Drops every body that holds a secret which was registered after it was written. Bodies are never edited: they would no
 * longer be what the chain proves. The state goes on without the secret; boundaries that need a dropped body are gone.
 */
export async function dropSecrets(store: Store, session: Session): Promise<DroppedSecrets> {
  await hideInState(session);
  // All that is true lies in it now: it stays, whatever names it tells.
  const { last: standing } = await session.checkpoint({ tag: "secrets dropped" }, { anew: true });
  const found = await holders(session);
  const seqs = found.map(({ seq }) => seq);
  const reason = "it held a secret that was registered later";
  const agreeing = await agreeingOn(store, session.id, seqs);
  const wanted = seqs.filter((seq) => seq !== standing);
  const { needed } = await dropBodies(store, session.journal, wanted, reason, { despite: agreeing });
  await sweepAway(store, [...new Set(found.flatMap(({ blobs }) => blobs))]);
  await countAnew(session);
  const left = await stillThere(session, seqs);
  await ask(
    store,
    session,
    left.filter((seq) => seq !== standing && !needed.includes(seq)),
  );
  // What it wrote lies in its log, too, and what grew old earlier in its free space.
  const { whole: erased } = await store.shrink();
  return { dropped: seqs.filter((seq) => !left.includes(seq)), left, erased };
}

async function hideInState({ state, journal: { redactor } }: Session): Promise<void> {
  const { truth } = state;
  const changes = [...truth.parts.values()].flatMap((part) => {
    const isCatalog = part.name === catalogPart.name;
    if (part.exact === true && !isCatalog) return [];
    const data = part.encode(truth.root.get(part.name) as never);
    const clean = isCatalog ? withoutSecretReason(data, redactor) : redactor.json(data);
    return clean === data ? [] : [{ part, value: part.decode(clean) }];
  });
  if (changes.length === 0) return;
  await truth.change((branch) => {
    for (const { part, value } of changes) branch.change(part as AnyPart & Part<unknown>, () => value);
  }, "secrets dropped");
}

interface Holder {
  readonly seq: number;
  /** Content that goes with it, when nothing else names it. */
  readonly blobs: readonly BlobName[];
}

async function holders(session: Session): Promise<readonly Holder[]> {
  const { journal, state } = session;
  const secrets = new KeptSecrets({
    redactor: journal.redactor,
    readBlob: (name) => journal.readBlob(name),
    isExact: (part) => state.truth.parts.get(part)?.exact === true,
  });
  const found: Holder[] = [];
  for await (const entry of session.read()) {
    if (entry.kind === "damaged" || entry.kind === "dropped") continue;
    const blobs = [...(await secrets.inContent(entry))].flatMap(([name, holds]) => (holds ? [name] : []));
    if (blobs.length > 0 || secrets.inRecord(entry)) found.push({ seq: entry.seq, blobs });
  }
  return found;
}

/** Records that are gone no longer count as conversation_history, neither here nor for whoever opens the session next. */
async function countAnew(session: Session): Promise<void> {
  const { length } = await session.callRecords();
  if (length !== session.journal.folded.history)
    await session.checkpoint({ tag: "secrets dropped" }, { history: length });
}

/** A record with which a session asks for others to go as far as it is concerned: it can do without them. */
const ASKED = "secrets-left";

async function ask(store: Store, session: Session, seqs: readonly number[]): Promise<void> {
  const asked = await askedIn(store, await rowOf(store, session.id));
  const wanted = seqs.filter((seq) => !asked.has(seq));
  if (wanted.length > 0) await session.append({ kind: "fault-raised", fault: ASKED, detail: { records: wanted } });
}

/** What a session has asked for. What its origin had asked for before it was forked, the origin had asked for itself. */
async function askedIn(store: Store, { id, segments }: SessionRow): Promise<ReadonlySet<unknown>> {
  const asked = new Set<unknown>();
  for await (const entry of readEntries(store, id, { from: (segments.at(-2)?.through ?? 0) + 1 })) {
    if (entry.kind !== "fault-raised" || entry.fault !== ASKED) continue;
    const { records } = Object(entry.detail) as { readonly records?: unknown };
    for (const seq of Array.isArray(records) ? records : []) asked.add(seq);
  }
  return asked;
}

/** Sessions that show some of these records, too, and have asked for all of those to go. */
async function agreeingOn(store: Store, id: SessionId, seqs: readonly number[]): Promise<readonly SessionId[]> {
  const row = await rowOf(store, id);
  const agreeing: SessionId[] = [];
  for await (const other of sessionRows(store)) {
    if ("damaged" in other || other.id === id) continue;
    const through = sharedThrough(row, other);
    const shown = seqs.filter((seq) => seq <= through && seq > other.anchor.seq);
    if (shown.length === 0) continue;
    const asked = await askedIn(store, other);
    if (shown.every((seq) => asked.has(seq))) agreeing.push(other.id);
  }
  return agreeing;
}

async function stillThere(session: Session, seqs: readonly number[]): Promise<readonly number[]> {
  const left: number[] = [];
  for (const seq of seqs)
    for await (const entry of session.read({ from: seq, to: seq })) if (entry.kind !== "dropped") left.push(seq);
  return left;
}
