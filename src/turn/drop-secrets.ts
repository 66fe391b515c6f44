import { parseJson } from "../base/json.ts";
import type { Store } from "../contracts/store.ts";
import { conflictError } from "../journal/conflicts.ts";
import type { JournalEntry } from "../journal/prove.ts";
import { dropBodies } from "../journal/retention.ts";
import { type BlobName, toBlobName } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";
import { redactDraft } from "../records/redact-record.ts";
import type { AnyPart, Part } from "../state/part.ts";
import { type KeptState, keptState } from "./fold.ts";
import type { Session } from "./session.ts";

export interface DroppedSecrets {
  /** Records whose bodies are gone. Their headers still prove that they were there. */
  readonly dropped: readonly number[];
  /** Records that hold a secret and could not be dropped: a fork shares them, or the session begins there. */
  readonly left: readonly number[];
}

/**
 * Drops every body that holds a secret which was registered after it was written. Bodies are never edited: they would no
 * longer be what the chain proves. The state goes on without the secret; boundaries that need a dropped body are gone.
 */
export async function dropSecrets(store: Store, session: Session): Promise<DroppedSecrets> {
  await hideInState(session);
  await session.checkpoint({ tag: "secrets dropped" }, { anew: true });
  const found = await holders(session);
  const seqs = found.map(({ seq }) => seq);
  await dropBodies(store, session.journal, seqs, "it held a secret that was registered later");
  await sweepAway(store, [...new Set(found.flatMap(({ blobs }) => blobs))]);
  const left = await stillThere(session, seqs);
  return { dropped: seqs.filter((seq) => !left.includes(seq)), left };
}

async function hideInState({ state, journal: { redactor } }: Session): Promise<void> {
  const { truth } = state;
  const changes = [...truth.parts.values()].flatMap((part) => {
    if (part.exact === true) return [];
    const data = part.encode(truth.root.get(part.name) as never);
    const clean = redactor.json(data);
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
  const found: Holder[] = [];
  const read = new Map<BlobName, Buffer>();
  for await (const entry of session.read()) {
    if (entry.kind === "damaged" || entry.kind === "dropped") continue;
    const blobs = await holdingBlobs(session, entry, read);
    if (blobs.length > 0 || holdsSecret(session, entry)) found.push({ seq: entry.seq, blobs });
  }
  return found;
}

function holdsSecret({ journal: { redactor } }: Session, entry: JournalEntry & RecordDraft): boolean {
  if (redactor.knows(JSON.stringify(entry)) || redactDraft(entry, redactor) !== entry) return true;
  return entry.kind === "state-changed" && redactor.json(entry.delta) !== entry.delta;
}

/** Content of a kept state that holds a secret, files apart: those are kept as they are. */
async function holdingBlobs(session: Session, entry: JournalEntry, texts: Map<BlobName, Buffer>) {
  const holding: BlobName[] = [];
  const places = Object.entries(keptState(entry)?.parts ?? {});
  for (const name of new Set(places.map(([, place]) => toBlobName(place.name)))) {
    const bytes = texts.get(name) ?? (await bytesOf(session, name));
    texts.set(name, bytes);
    const here = places.filter(([, place]) => place.name === name);
    if (holdsInside(session, bytes, here)) holding.push(name);
  }
  return holding;
}

/**
 * Looks at every part that lies in some content, and at what lies there beside them: a value that has changed since stays
 * in the content it was once written with.
 */
function holdsInside({ state, journal: { redactor } }: Session, bytes: Buffer, places: readonly PlaceIn[]): boolean {
  let rest = bytes.toString("latin1");
  for (const [part, { from = 0, to = bytes.length }] of places) {
    rest = rest.slice(0, from) + " ".repeat(to - from) + rest.slice(to);
    if (state.truth.parts.get(part)?.exact === true) continue;
    const text = bytes.subarray(from, to).toString("utf8");
    const parsed = parseJson(text);
    if (redactor.knows(text) || (parsed.ok && redactor.json(parsed.value) !== parsed.value)) return true;
  }
  return redactor.knows(Buffer.from(rest, "latin1").toString("utf8"));
}

type PlaceIn = readonly [part: string, place: KeptState["parts"][string]];

async function bytesOf({ journal }: Session, name: BlobName): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of journal.readBlob(name)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** What only dropped records named goes now, and not when somebody cleans up. */
async function sweepAway(store: Store, candidates: readonly BlobName[]): Promise<void> {
  for (let more = true; more; ) {
    const receipt = await store.commit({ kind: "sweep", limit: 256, candidates });
    if (!receipt.ok) throw conflictError(undefined, receipt.conflict);
    more = receipt.more;
  }
}

async function stillThere(session: Session, seqs: readonly number[]): Promise<readonly number[]> {
  const left: number[] = [];
  for (const seq of seqs)
    for await (const entry of session.read({ from: seq, to: seq })) if (entry.kind !== "dropped") left.push(seq);
  return left;
}
