import { HoldfastError } from "../base/errors.ts";
import type { Journal } from "../journal/journal.ts";
import type { JournalEntry } from "../journal/prove.ts";
import { opaquePart } from "../state/opaque.ts";
import {
  type AnyPart,
  applyRootDelta,
  type Parts,
  type Root,
  type RootDelta,
  type SlicePolicy,
} from "../state/part.ts";
import { type KeptState, keptState, type SessionFold } from "./fold.ts";
import type { PartBlobs } from "./part-blobs.ts";

export interface Rebuilt {
  readonly root: Root;
  /** Those of this process, and one for every slice that only the journal knows. */
  readonly parts: Parts;
  /** Changes that could not be applied, because something they build on is lost. */
  readonly skipped: readonly number[];
}

/** The state that opening found: the newest kept one, and every change after it. */
export async function rebuildFromTail(
  tail: readonly JournalEntry[],
  known: readonly AnyPart[],
  blobs: PartBlobs,
): Promise<Rebuilt> {
  const at = tail.findLastIndex((entry) => keptState(entry) !== undefined);
  const base = tail[at];
  return rebuild(base === undefined ? undefined : keptState(base), tail.slice(at + 1), known, blobs);
}

/** The state as it was after a record, however long ago, as long as what it is made of is kept. */
export async function stateAt(
  journal: Journal<SessionFold>,
  seq: number,
  known: readonly AnyPart[],
  blobs: PartBlobs,
): Promise<Rebuilt> {
  const epoch = journal.folded.epochs.findLast(({ base }) => base <= seq);
  if (epoch === undefined) throw gone(seq);
  const kept = epoch.base === 0 ? undefined : keptState(await entryAt(journal, epoch.base));
  if (epoch.base > 0 && kept === undefined) throw gone(seq);
  const changes: JournalEntry[] = [];
  for (const change of epoch.changes) if (change <= seq) changes.push(await entryAt(journal, change));
  const rebuilt = await rebuild(kept, changes, known, blobs);
  if (rebuilt.skipped.length > 0) throw gone(seq);
  return rebuilt;
}

async function rebuild(
  kept: KeptState | undefined,
  entries: readonly JournalEntry[],
  known: readonly AnyPart[],
  blobs: PartBlobs,
): Promise<Rebuilt> {
  const parts = withStrangers(known, kept, entries);
  let root = await blobs.load(parts, kept?.parts ?? {});
  const skipped: number[] = [];
  for (const entry of entries) {
    if (entry.kind === "dropped" && entry.was === "state-changed") skipped.push(entry.seq);
    if (entry.kind !== "state-changed") continue;
    try {
      root = applyRootDelta(parts, root, entry.delta as RootDelta);
    } catch {
      skipped.push(entry.seq);
    }
  }
  return { root: await blobs.fill(parts, root), parts, skipped };
}

/** A slice that is not registered here must not be lost when this process writes the next checkpoint. */
function withStrangers(
  known: readonly AnyPart[],
  kept: KeptState | undefined,
  entries: readonly JournalEntry[],
): Parts {
  const parts = new Map(known.map((part) => [part.name, part]));
  for (const [name, { policy }] of Object.entries(kept?.parts ?? {}))
    if (!parts.has(name)) parts.set(name, opaquePart(name, policy as SlicePolicy));
  for (const entry of entries) {
    if (entry.kind !== "state-changed") continue;
    for (const name of Object.keys(entry.delta as RootDelta))
      if (!parts.has(name)) parts.set(name, opaquePart(name, "state"));
  }
  return parts;
}

async function entryAt(journal: Journal<SessionFold>, seq: number): Promise<JournalEntry> {
  for await (const entry of journal.read({ from: seq, to: seq })) if (entry.seq === seq) return entry;
  throw gone(seq);
}

function gone(seq: number): HoldfastError {
  return new HoldfastError("CHECKPOINT_UNKNOWN", { record: seq });
}
